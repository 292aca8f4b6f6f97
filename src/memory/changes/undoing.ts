/**
 * `POST /admin/memories/:id/undo`: undoes the newest change that is not undone yet (docs/specification/memory.md#admin-api).
 * Undoing a merge makes two memories of one, and they never merge again. Undoing a replacement makes the memory valid
 * again, and the judge never compares the two again.
 */
import { problems } from '#platform/problem.ts';
import type { MemoryContent } from '../api.ts';
import type { MemoryContext, Writing } from '../context.ts';
import { embedOne } from '../embedding/embedder.ts';
import * as store from '../memories/memorystore.ts';
import { memoryProblems } from '../problems.ts';
import { hashContent } from '../text.ts';
import { rewrite } from './editing.ts';
import { hasRoom, writeEntity } from './entitywrite.ts';

const maxTries = 3;

/** Throws 404, 409 `nothing_to_undo`, `duplicate_memory`, 503 `embedder_unavailable`. */
export async function undoChange(deps: MemoryContext, seen: store.StoredMemory): Promise<store.StoredMemory> {
  for (let tries = 1; tries <= maxTries; tries += 1) {
    const newest = await store.findUndoable(deps.db, seen.id);
    if (newest === undefined) throw memoryProblems.nothing_to_undo();
    const embedding = await embedOne(deps.embedder, newest.before.content);
    const separated = newest.incoming && (await embedContent(deps, newest.incoming));
    const restored = await writeEntity(deps, seen, async (writing) => {
      const memory = await store.findMemory(writing.tx, seen.id);
      if (memory === undefined) throw problems.not_found();
      const undoable = await store.findUndoable(writing.tx, seen.id);
      // A concurrent change added a revision, which restores other content.
      if (undoable?.number !== newest.number) return undefined;
      if (newest.action === 'replace') return restore(writing, memory, newest);
      await store.markUndone(writing.tx, seen.id, newest.number);
      const restored = await rewrite(deps, writing, memory, newest.before, embedding);
      if (separated) await separate(deps, writing, restored, separated);
      return restored;
    });
    if (restored !== undefined) return restored;
  }
  throw problems.overloaded();
}

/** Makes a replaced memory valid again, beside the one that had replaced it. */
async function restore(
  writing: Writing,
  replaced: store.StoredMemory,
  { incoming }: store.StoredRevision,
): Promise<store.StoredMemory> {
  const memory = await store.revalidate(writing.tx, replaced, writing.version);
  await markSeparate(writing, memory, { id: replaced.replacedBy, content: incoming?.content });
  return memory;
}

async function embedContent(
  { embedder }: MemoryContext,
  { content, type, metadata }: MemoryContent,
): Promise<store.NewMemory> {
  const embedding = await embedOne(embedder, content);
  return { type, content, metadata, hash: hashContent(content), embedder: embedder.name, embedding };
}

/**
 * Stores what was merged as a memory again, unless the entity has one with the same normalized content, or is full. The
 * history has it in any case. A memory that the language model merged is still stored, and becomes valid.
 */
async function separate(
  deps: MemoryContext,
  writing: Writing,
  restored: store.StoredMemory,
  separated: store.NewMemory,
): Promise<void> {
  const { tx, version, state } = writing;
  const equal = await store.findByHash(tx, restored, separated.type, separated.hash);
  // It is valid, or another memory has replaced it since.
  const isKnown = equal !== undefined && (equal.invalidAt === null || equal.replacedBy !== restored.id);
  const needsRoom = equal === undefined && !hasRoom(state, { memories: 1, bytes: store.sizeOf(separated) });
  if (isKnown || needsRoom) return;
  const memory =
    equal === undefined
      ? await store.insertMemory(tx, deps.column, restored, separated, version)
      : await store.revalidate(tx, equal, version);
  await markSeparate(writing, memory, restored);
}

/** Links a memory to the other one, and never merges the two again. */
async function markSeparate(
  { tx, recordChange }: Writing,
  memory: store.StoredMemory,
  other: { readonly id: string | null; readonly content: string | undefined },
): Promise<void> {
  const { id, content } = other;
  if (id !== null) await store.insertLinks(tx, memory.id, [{ id, kind: 'related' }]);
  if (content !== undefined)
    await store.insertDistinction(tx, memory, memory.type, [hashContent(memory.content), hashContent(content)]);
  recordChange(memory.type);
}
