/** Memories for operators: lists, one memory with its links, its history (docs/specification/memory.md#admin-api). */
import { invalid } from '#platform/problem.ts';
import type { EntityType } from '../api.ts';
import type { MemoryContext } from '../context.ts';
import {
  findLinks,
  findRevisions,
  listMemories,
  type StoredMemory,
  type StoredRevision,
} from '../memories/memorystore.ts';
import { toMemory } from '../memories/presenting.ts';
import type { AdminMemory, History, MemoryListing, MemoryPage, Revision } from './api.ts';

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

// Cursors of lists: the sequence number of a page's last row, in an opaque form.

type ListName = 'memories' | 'profiles';

function writeCursor(list: ListName, seq: number): string {
  return Buffer.from(`${list} ${seq}`).toString('base64url');
}

/** Throws 400 for a cursor that is not from this list. */
export function readCursor(list: ListName, cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  const [name, digits = ''] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ');
  const seq = Number(digits);
  // Each place has exactly one valid cursor.
  if (name !== list || !Number.isSafeInteger(seq) || writeCursor(list, seq) !== cursor)
    throw invalid('querystring.cursor', 'must be a next_cursor of this list');
  return seq;
}

/** Cuts rows to a page. The caller queries one row more than the page has, which shows whether another page exists. */
export function cutPage<Row extends { readonly seq: number }>(list: ListName, rows: readonly Row[], limit: number) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, nextCursor: rows.length > limit && last !== undefined ? writeCursor(list, last.seq) : null };
}
