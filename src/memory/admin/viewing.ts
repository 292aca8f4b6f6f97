/** Memories for operators: lists, one memory with its links, its history (docs/specification/memory.md#admin-api). */
import type { EntityType } from '../api.ts';
import type { MemoryContext } from '../context.ts';
import { findLinks, findRevisions, type StoredRevision } from '../memories/historystore.ts';
import type { StoredMemory } from '../memories/memorystore.ts';
import { toMemory } from '../memories/presenting.ts';
import type { AdminMemory, History, MemoryListing, MemoryPage, Revision } from './api.ts';
import { cutPage, readCursor } from './cursors.ts';
import { listMemories } from './listingstore.ts';

export async function showMemories({ db }: MemoryContext, memories: readonly StoredMemory[]): Promise<AdminMemory[]> {
  const links = await findLinks(
    db,
    memories.map(({ id }) => id),
  );
  return memories.map((memory) => ({ ...toMemory(memory), links: links.get(memory.id) ?? [] }));
}

export async function showMemory(deps: MemoryContext, memory: StoredMemory): Promise<AdminMemory> {
  const [shown = { ...toMemory(memory), links: [] }] = await showMemories(deps, [memory]);
  return shown;
}

export async function pageOfMemories(deps: MemoryContext, listing: MemoryListing): Promise<MemoryPage> {
  const { entity_id: entityId, entity_type: entityType } = listing;
  const includeInvalid = listing.include_invalid;
  const { rows, nextCursor } = await listPage(deps, { ...listing, entityId, entityType, includeInvalid });
  return { memories: await showMemories(deps, rows), next_cursor: nextCursor };
}

export interface Listing extends Pick<MemoryListing, 'type' | 'q' | 'limit' | 'cursor'> {
  readonly entityId: string | undefined;
  readonly entityType: EntityType | undefined;
  readonly includeInvalid: boolean;
}

/** Throws 400 for a cursor of another list. */
export async function listPage({ db }: MemoryContext, listing: Listing) {
  const { entityId, entityType, type, q, includeInvalid, limit } = listing;
  const before = readCursor('memories', listing.cursor);
  const found = await listMemories(db, { entityId, entityType, type, q, includeInvalid, before, limit: limit + 1 });
  const { page: rows, nextCursor } = cutPage('memories', found, limit);
  return { rows, nextCursor };
}

export async function historyOf({ db }: MemoryContext, memory: StoredMemory): Promise<History> {
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
    reason: row.reason,
    undone: row.undoneAt !== null,
    created_at: row.createdAt.toISOString(),
  };
}
