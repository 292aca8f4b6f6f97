/** Memories for operators: lists, one memory with its links, its history (docs/specification/memory.md#admin-api). */
import { invalid, problems } from '#platform/problem.ts';
import { type Entity, fieldsOf } from '../api.ts';
import { writeEntity } from '../changes/entitywrite.ts';
import type { MemoryContext } from '../context.ts';
import { findEntity, pauseOf } from '../memories/entitystore.ts';
import {
  findLinks,
  findRevisions,
  listMemories,
  type MemoryFilter,
  type StoredMemory,
  type StoredRevision,
} from '../memories/memorystore.ts';
import { toMemory, toProfile } from '../memories/presenting.ts';
import { deleteProfile, findProfile, listProfiles, type StoredProfile, saveLocked } from '../profiles/profilestore.ts';
import type * as api from './api.ts';

async function showMemories({ db }: MemoryContext, memories: readonly StoredMemory[]): Promise<api.AdminMemory[]> {
  const links = await findLinks(
    db,
    memories.map(({ id }) => id),
  );
  return memories.map((memory) => ({ ...toMemory(memory), links: links.get(memory.id) ?? [] }));
}

export async function showMemory(deps: MemoryContext, memory: StoredMemory): Promise<api.AdminMemory> {
  const [shown = { ...toMemory(memory), links: [] }] = await showMemories(deps, [memory]);
  return shown;
}

export async function pageOfMemories(deps: MemoryContext, listing: api.MemoryListing): Promise<api.MemoryPage> {
  const { entity_id: entityId, entity_type: entityType, include_invalid: includeInvalid, cursor, ...filter } = listing;
  const { rows, nextCursor } = await listPage(deps, { ...filter, entityId, entityType, includeInvalid }, cursor);
  return { memories: await showMemories(deps, rows), next_cursor: nextCursor };
}

/** Throws 400 for a cursor of another list. */
export function listPage({ db }: MemoryContext, filter: Omit<MemoryFilter, 'before'>, cursor: string | undefined) {
  return readPage('memories', { limit: filter.limit, cursor }, (range) => listMemories(db, { ...filter, ...range }));
}

export async function historyOf({ db }: MemoryContext, memory: StoredMemory): Promise<api.MemoryHistory> {
  return { history: (await findRevisions(db, [memory.id])).map(toRevision) };
}

function toRevision({ memoryId: _, undoneAt, createdAt, ...row }: StoredRevision): api.Revision {
  return { ...row, undone: undoneAt !== null, created_at: createdAt.toISOString() };
}

// Cursors of lists: the sequence number of a page's last row, in an opaque form.

type ListName = 'memories' | 'profiles';

function writeCursor(list: ListName, seq: number): string {
  return Buffer.from(`${list} ${seq}`).toString('base64url');
}

/** Throws 400 for a cursor that is not from this list. */
function readCursor(list: ListName, cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  const [name, digits = ''] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ');
  const seq = Number(digits);
  // Each place has exactly one valid cursor.
  if (name !== list || !Number.isSafeInteger(seq) || writeCursor(list, seq) !== cursor)
    throw invalid('querystring.cursor', 'must be a next_cursor of this list');
  return seq;
}

/** Reads one row more than the page has, which shows whether another page exists. Throws 400 for a cursor of another list. */
async function readPage<Row extends { readonly seq: number }>(
  list: ListName,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  read: (range: { readonly before: number | undefined; readonly limit: number }) => Promise<readonly Row[]>,
) {
  const found = await read({ before: readCursor(list, cursor), limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, nextCursor: found.length > limit && last !== undefined ? writeCursor(list, last.seq) : null };
}

// Profiles for operators (docs/specification/memory.md#admin-api). Derived facts do not replace what operators write.

function toAdminProfile(row: StoredProfile): api.AdminProfile {
  return { ...toProfile(row), locked: Object.keys(row.facts), derived: { ...row.derived } };
}

/** Throws 404. */
export async function showProfile({ db }: MemoryContext, entity: Entity): Promise<api.AdminProfile> {
  const profile = await findProfile(db, entity);
  if (profile === undefined) throw problems.not_found();
  return toAdminProfile(profile);
}

export async function pageOfProfiles({ db }: MemoryContext, listing: api.ProfileListing): Promise<api.ProfilePage> {
  const { q, ...place } = listing;
  const { rows, nextCursor } = await readPage('profiles', place, (range) => listProfiles(db, { q, ...range }));
  return { profiles: rows.map(toAdminProfile), next_cursor: nextCursor };
}

/** Leaves absent fields unchanged and removes `null` ones. `facts` replaces all locked facts. */
export async function writeProfile(
  deps: MemoryContext,
  entity: Entity,
  edit: api.ProfileEdit,
): Promise<api.AdminProfile> {
  const { summary, facts, language } = edit;
  return writeEntity(deps, entity, async ({ tx }) => {
    const before = await findProfile(tx, entity);
    const saved = await saveLocked(tx, entity, {
      summary: summary === undefined ? (before?.summary ?? null) : summary,
      language: language === undefined ? (before?.language ?? null) : language,
      facts: facts === undefined ? (before?.facts ?? {}) : (facts ?? {}),
    });
    return toAdminProfile(saved);
  });
}

/** Deletes a profile. The next change of a memory derives its facts again, unless the memories are deleted too. Throws 404. */
export async function removeProfile(deps: MemoryContext, entity: Entity): Promise<void> {
  await writeEntity(deps, entity, async ({ tx }) => {
    if (!(await deleteProfile(tx, entity))) throw problems.not_found();
  });
}

// Exports everything that is stored about an entity (docs/specification/memory.md#admin-api).

const pageSize = 200;

/** Returns one document, read from the database in pages. Throws 404. */
export async function exportEntity(deps: MemoryContext, entity: Entity, nowMs: number): Promise<api.EntityExport> {
  const { db } = deps;
  const state = await findEntity(db, entity);
  if (state === undefined) throw problems.not_found();
  const profile = await findProfile(db, entity);
  const memories: api.EntityExport['memories'] = [];
  let before: number | undefined;
  for (;;) {
    const page: readonly StoredMemory[] = await listMemories(db, {
      ...entity,
      includeInvalid: true,
      before,
      limit: pageSize,
    });
    const shown = await showMemories(deps, page);
    const ids = page.map(({ id }) => id);
    const revisions = Map.groupBy(await findRevisions(db, ids), ({ memoryId }) => memoryId);
    for (const memory of shown) memories.push({ ...memory, history: (revisions.get(memory.id) ?? []).map(toRevision) });
    before = page.at(-1)?.seq;
    if (page.length < pageSize) break;
  }
  return {
    ...fieldsOf(entity),
    exported_at: new Date(nowMs).toISOString(),
    paused_at: pauseOf(state)?.toISOString() ?? null,
    profile: profile === undefined ? null : toAdminProfile(profile),
    memories,
  };
}
