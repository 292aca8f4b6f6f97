/** `PUT` and `DELETE /memory/:id`, for callers and operators (docs/specification/memory.md#editing). */
import { isUniqueViolation } from '#platform/db/errors.ts';
import { isUuid } from '#platform/ids.ts';
import { problems } from '#platform/problem.ts';
import { type AddingDeps, wordingOf } from './adding.ts';
import type { Wording } from './admin/api.ts';
import type { Edit } from './api.ts';
import { embedOne } from './embedding/embedder.ts';
import { type Actor, dropLinks, insertLinks, insertRevision } from './history/store.ts';
import { findNeighbours } from './merging/finding.ts';
import { hashContent } from './merging/normalising.ts';
import { memoryProblems } from './problems.ts';
import { deleteMemory, findMemory, type StoredMemory, sizeOf, updateMemory } from './store.ts';
import { hasRoom, type Writing, type WritingDeps, writeEntity } from './writing.ts';

/** Throws 404. */
export async function lookUpMemory(deps: Pick<WritingDeps, 'db'>, id: string): Promise<StoredMemory> {
  const memory = isUuid(id) ? await findMemory(deps.db, id) : undefined;
  if (memory === undefined) throw problems.not_found();
  return memory;
}

/**
 * What is absent stays. Throws 404, 409 `duplicate_memory` and `memory_full`, and 503 `embedder_unavailable`, after which
 * nothing is written.
 */
export async function editMemory(
  deps: AddingDeps,
  actor: Actor,
  seen: StoredMemory,
  edit: Edit,
): Promise<StoredMemory> {
  // Read again under the lock: until then only the content to be embedded has to be known.
  const content = edit.content ?? seen.content;
  const embedding = await embedOne(deps.embedder, content);
  await deps.indexes.warm(deps.db, seen);
  return writeEntity(deps, seen, async (writing) => {
    const before = await findMemory(writing.tx, seen.id);
    if (before === undefined) throw problems.not_found();
    // Only type or metadata are edited, and the content changed meanwhile: the vector would be of another one.
    if (edit.content === undefined && before.content !== content) throw problems.overloaded();
    const after: Wording = {
      content,
      type: edit.type ?? before.type,
      metadata: { ...(edit.metadata ?? before.metadata) },
    };
    if (isSame(before, after)) return before;
    if (!hasRoom(writing.held, { memories: 0, bytes: sizeOf(after) - before.bytes }))
      throw memoryProblems.memory_full();
    await insertRevision(writing.tx, before.id, {
      action: 'edit',
      actor,
      before: wordingOf(before),
      after,
      incoming: null,
      similarity: null,
      embedder: deps.embedder.name,
    });
    return rewrite(deps, writing, before, after, embedding);
  });
}

/** Gives a memory another wording, with its links. The entity is locked, the revision written. */
export async function rewrite(
  deps: AddingDeps,
  { tx, version, changed }: Writing,
  before: StoredMemory,
  after: Wording,
  embedding: Float32Array,
): Promise<StoredMemory> {
  const { content, type, metadata } = after;
  const inscription = { content, type, metadata, hash: hashContent(content), embedder: deps.embedder.name, embedding };
  const isReworded = content !== before.content || type !== before.type;
  const links = isReworded
    ? (await findNeighbours(deps, tx, before, version, { content, type, embedding, exceptId: before.id })).links
    : [];
  const memory = await updateMemory(tx, deps.column, before, inscription, version).catch((error: unknown) => {
    if (isUniqueViolation(error, 'memories_once')) throw memoryProblems.duplicate_memory({ cause: error });
    throw error;
  });
  if (isReworded) {
    await dropLinks(tx, memory.id);
    await insertLinks(tx, memory.id, links);
  }
  changed(before.type, after.type);
  return memory;
}

/** Hard: its history and links go with it, and what its entity's profile had from it. Throws 404. */
export async function removeMemory(deps: WritingDeps, seen: StoredMemory): Promise<void> {
  await writeEntity(deps, seen, async ({ tx, changed }) => {
    const memory = await findMemory(tx, seen.id);
    if (memory === undefined) throw problems.not_found();
    await deleteMemory(tx, memory, memory.id);
    changed(memory.type);
  });
}

function isSame(before: StoredMemory, after: Wording): boolean {
  return (
    before.content === after.content &&
    before.type === after.type &&
    JSON.stringify(before.metadata) === JSON.stringify(after.metadata)
  );
}
