/** The rows of the history of memories, and of the links between them. */
import { sql } from 'kysely';
import { json, type Tx } from '#platform/db/db.ts';
import type { Actor, Entity, LinkKind, MemoryContent, MemoryType, RevisionAction } from '../api.ts';
import type { Handle, MemoryTables } from '../tables.ts';

export interface NewRevision {
  readonly action: RevisionAction;
  readonly actor: Actor;
  readonly before: MemoryContent;
  readonly after: MemoryContent;
  readonly incoming: MemoryContent | null;
  readonly similarity: number | null;
  readonly embedder: string;
  /** The reason of the decision of the language model. */
  readonly reason?: string;
}

/** Requires the lock of the entity, under which revisions are numbered. */
export async function insertRevision(tx: Tx<MemoryTables>, memoryId: string, revision: NewRevision): Promise<void> {
  await tx
    .insertInto('memory_revisions')
    .values((eb) => ({
      memory_id: memoryId,
      number: eb
        .selectFrom('memory_revisions')
        .where('memory_id', '=', memoryId)
        .select(sql<number>`coalesce(max(number), 0) + 1`.as('number')),
      action: revision.action,
      actor: revision.actor,
      before: json(revision.before),
      after: json(revision.after),
      incoming: revision.incoming === null ? null : json(revision.incoming),
      similarity: revision.similarity,
      embedder: revision.embedder,
      reason: revision.reason ?? null,
      undone_at: null,
    }))
    .execute();
}

const revisionColumns = [
  'memory_id as memoryId',
  'number',
  'action',
  'actor',
  'before',
  'after',
  'incoming',
  'similarity',
  'embedder',
  'reason',
  'created_at as createdAt',
  'undone_at as undoneAt',
] as const;

export type StoredRevision = Awaited<ReturnType<typeof findRevisions>>[number];

/** Returns the revisions of memories, the newest first. */
export function findRevisions(db: Handle, memoryIds: readonly string[]) {
  return db
    .selectFrom('memory_revisions')
    .select(revisionColumns)
    .where(sql<boolean>`memory_id = any(${memoryIds}::uuid[])`)
    .orderBy('number', 'desc')
    .execute();
}

export function findUndoable(db: Handle, memoryId: string): Promise<StoredRevision | undefined> {
  return db
    .selectFrom('memory_revisions')
    .select(revisionColumns)
    .where('memory_id', '=', memoryId)
    .where('undone_at', 'is', null)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
}

export async function markUndone(tx: Tx<MemoryTables>, memoryId: string, number: number): Promise<void> {
  await tx
    .updateTable('memory_revisions')
    .set({ undone_at: sql<Date>`now()` })
    .where('memory_id', '=', memoryId)
    .where('number', '=', number)
    .execute();
}

/** Marks replacements as undone once the memory is valid again. */
export async function markReplacementsUndone(tx: Tx<MemoryTables>, memoryId: string): Promise<void> {
  await tx
    .updateTable('memory_revisions')
    .set({ undone_at: sql<Date>`now()` })
    .where('memory_id', '=', memoryId)
    .where('action', '=', 'replace')
    .where('undone_at', 'is', null)
    .execute();
}

export interface Link {
  readonly id: string;
  readonly kind: LinkKind;
}

export async function insertLinks(tx: Tx<MemoryTables>, memoryId: string, links: readonly Link[]): Promise<void> {
  if (links.length === 0) return;
  await tx
    .insertInto('memory_links')
    .values(links.map(({ id, kind }) => ({ memory_id: memoryId, other_id: id, kind })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Deletes the links of a memory in both directions. */
export async function deleteLinks(tx: Tx<MemoryTables>, memoryId: string): Promise<void> {
  await tx
    .deleteFrom('memory_links')
    .where((eb) => eb.or([eb('memory_id', '=', memoryId), eb('other_id', '=', memoryId)]))
    .execute();
}

/** Returns the links of each memory in both directions, by memory id, the oldest first. */
export async function findLinks(db: Handle, memoryIds: readonly string[]): Promise<ReadonlyMap<string, Link[]>> {
  const rows = await db
    .selectFrom('memory_links')
    .select(['memory_id as memoryId', 'other_id as otherId', 'kind'])
    .where(sql<boolean>`memory_id = any(${memoryIds}::uuid[]) or other_id = any(${memoryIds}::uuid[])`)
    .orderBy('created_at')
    .orderBy('other_id')
    .execute();
  const links = new Map<string, Link[]>(memoryIds.map((id) => [id, []]));
  for (const { memoryId, otherId, kind } of rows) {
    links.get(memoryId)?.push({ id: otherId, kind });
    links.get(otherId)?.push({ id: memoryId, kind });
  }
  return links;
}

// Pairs of contents that never merge, because a merge of them was undone. Requires the lock of the entity.

export async function insertDistinction(
  tx: Tx<MemoryTables>,
  { entityType, entityId }: Entity,
  type: MemoryType,
  [one, other]: readonly [Buffer, Buffer],
): Promise<void> {
  const row = { entity_type: entityType, entity_id: entityId, type };
  await tx
    .insertInto('memory_distinctions')
    .values([
      { ...row, content_hash: one, other_hash: other },
      { ...row, content_hash: other, other_hash: one },
    ])
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Returns the hashes, in hexadecimal, of the contents that differ from the one with this hash. */
export async function findDistinctions(
  tx: Handle,
  { entityType, entityId }: Entity,
  type: MemoryType,
  hash: Buffer,
): Promise<ReadonlySet<string>> {
  const rows = await tx
    .selectFrom('memory_distinctions')
    .select('other_hash as otherHash')
    .where('entity_type', '=', entityType)
    .where('entity_id', '=', entityId)
    .where('type', '=', type)
    .where('content_hash', '=', hash)
    .execute();
  return new Set(rows.map(({ otherHash }) => Buffer.from(otherHash).toString('hex')));
}
