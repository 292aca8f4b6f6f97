/** Memories for operators: lists, one memory with its links, its history (docs/specification/memory.md#admin-api). */
import type { Db } from '#platform/db/db.ts';
import { findLinks, findRevisions, type StoredRevision } from '../memories/historystore.ts';
import type { StoredMemory } from '../memories/memorystore.ts';
import { toMemory } from '../memories/presenting.ts';
import type { MemoryTables } from '../tables.ts';
import type { AdminMemory, History, MemoryListing, MemoryPage, Revision } from './api.ts';
import { cutPage, readCursor } from './cursors.ts';
import { listMemories } from './listingstore.ts';

export interface ViewingDeps {
  readonly db: Db<MemoryTables>;
}

export async function showMemories({ db }: ViewingDeps, memories: readonly StoredMemory[]): Promise<AdminMemory[]> {
  const links = await findLinks(
    db,
    memories.map(({ id }) => id),
  );
  return memories.map((memory) => ({ ...toMemory(memory), links: links.get(memory.id) ?? [] }));
}

export async function showMemory(deps: ViewingDeps, memory: StoredMemory): Promise<AdminMemory> {
  const [shown = { ...toMemory(memory), links: [] }] = await showMemories(deps, [memory]);
  return shown;
}

export async function pageOfMemories(deps: ViewingDeps, listing: MemoryListing): Promise<MemoryPage> {
  const { limit, type, q } = listing;
  const before = readCursor('memories', listing.cursor);
  const rows = await listMemories(deps.db, {
    entityId: listing.entity_id,
    entityType: listing.entity_type,
    type,
    q,
    before,
    limit: limit + 1,
  });
  const { page, nextCursor } = cutPage('memories', rows, limit);
  return { memories: await showMemories(deps, page), next_cursor: nextCursor };
}

export async function historyOf({ db }: ViewingDeps, memory: StoredMemory): Promise<History> {
  return { history: (await findRevisions(db, [memory.id])).map(toRevision) };
}

export function toRevision(row: StoredRevision): Revision {
  return {
    number: row.number,
    action: row.action,
    actor: row.actor,
    before: row.before,
    after: row.after,
    incoming: row.incoming,
    similarity: row.similarity,
    embedder: row.embedder,
    undone: row.undoneAt !== null,
    created_at: row.createdAt.toISOString(),
  };
}
