/** `PUT` and `DELETE /memory/:id`, for callers and operators (docs/specification/memory.md#editing). */
import { isUniqueViolation } from '#platform/db/errors.ts';
import { isUuid } from '#platform/ids.ts';
import { problems } from '#platform/problem.ts';
import type { Actor, Edit, MemoryContent } from '../api.ts';
import type { MemoryContext, Writing } from '../context.ts';
import { embedOne } from '../embedding/embedder.ts';
import * as store from '../memories/memorystore.ts';
import { memoryProblems } from '../problems.ts';
import { hashContent } from '../text.ts';
import { contentOf } from './adding.ts';
import { hasRoom, writeEntity } from './entitywrite.ts';

/** Throws 404. */
export async function lookUpMemory(deps: MemoryContext, id: string): Promise<store.StoredMemory> {
  const memory = isUuid(id) ? await store.findMemory(deps.db, id) : undefined;
  if (memory === undefined) throw problems.not_found();
  return memory;
}

/**
 * Leaves absent fields unchanged. Throws 404, 409 `duplicate_memory` and `memory_full`, and 503 `embedder_unavailable`,
 * and then writes nothing.
 */
export async function editMemory(
  deps: MemoryContext,
  actor: Actor,
  seen: store.StoredMemory,
  edit: Edit,
): Promise<store.StoredMemory> {
  // The memory is read again under the lock. Before it, only the content to embed must be known.
  const content = edit.content ?? seen.content;
  const embedding = await embedOne(deps.embedder, content);
  await deps.indexes.warm(deps.db, seen);
  return writeEntity(deps, seen, async (writing) => {
    const before = await store.findMemory(writing.tx, seen.id);
    if (before === undefined) throw problems.not_found();
    // Only type or metadata are edited, and another request changed the content: the vector belongs to the old content.
    if (edit.content === undefined && before.content !== content) throw problems.overloaded();
    const after: MemoryContent = {
      content,
      type: edit.type ?? before.type,
      metadata: { ...(edit.metadata ?? before.metadata) },
    };
    const isSame = JSON.stringify(before.metadata) === JSON.stringify(after.metadata) && !hasNewContent(before, after);
    if (isSame) return before;
    if (!hasRoom(writing.state, { memories: 0, bytes: store.sizeOf(after) - before.bytes }))
      throw memoryProblems.memory_full();
    await store.insertRevision(writing.tx, before.id, {
      action: 'edit',
      actor,
      before: contentOf(before),
      after,
      incoming: null,
      similarity: null,
      embedder: deps.embedder.name,
    });
    const isNews = actor !== 'operator' || hasNewContent(before, after);
    return rewrite(deps, writing, before, after, embedding, isNews);
  });
}

/**
 * Replaces the content and the links of a memory. Requires the lock of the entity, and the revision to be written. Without
 * `isNews` the memory keeps its place among the others.
 */
export async function rewrite(
  deps: MemoryContext,
  { tx, version, state, recordChange }: Writing,
  before: store.StoredMemory,
  after: MemoryContent,
  embedding: Float32Array,
  isNews = true,
): Promise<store.StoredMemory> {
  const { content, type, metadata } = after;
  const rewritten = { content, type, metadata, hash: hashContent(content), embedder: deps.embedder.name, embedding };
  const isReworded = hasNewContent(before, after);
  const readLinks = async () => {
    const { findNeighbours } = await import('../merging/finding.ts');
    const index = await deps.indexes.getLocked(tx, before, state);
    return (await findNeighbours(deps, tx, before, index, { content, type, embedding, exceptId: before.id })).links;
  };
  const links = isReworded ? await readLinks() : [];
  const memory = await store
    .updateMemory(tx, deps.column, before, rewritten, { version, isNews })
    .catch((error: unknown) => {
      if (isUniqueViolation(error, 'memories_once')) throw memoryProblems.duplicate_memory({ cause: error });
      throw error;
    });
  if (isReworded) {
    await store.deleteLinks(tx, memory.id);
    await store.insertLinks(tx, memory.id, links);
  }
  recordChange(before.type, after.type);
  return memory;
}

/** Deletes a memory with its history and links, and the facts that were derived from it. Throws 404. */
export async function removeMemory(deps: MemoryContext, seen: store.StoredMemory): Promise<void> {
  await writeEntity(deps, seen, async ({ tx, recordChange }) => {
    const memory = await store.findMemory(tx, seen.id);
    if (memory === undefined) throw problems.not_found();
    await store.deleteMemory(tx, memory, memory.id);
    recordChange(memory.type);
  });
  await deps.announce(seen);
}

function hasNewContent(before: store.StoredMemory, after: MemoryContent): boolean {
  return after.content !== before.content || after.type !== before.type;
}
