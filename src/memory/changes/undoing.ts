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
  { tx, version, recordChange }: Writing,
  replaced: store.StoredMemory,
  { incoming }: store.StoredRevision,
): Promise<store.StoredMemory> {
  const memory = await store.revalidate(tx, replaced, version);
  if (replaced.replacedBy !== null)
    await store.insertLinks(tx, memory.id, [{ id: replaced.replacedBy, kind: 'related' }]);
  if (incoming !== null)
    await store.insertDistinction(tx, memory, memory.type, [
      hashContent(incoming.content),
      hashContent(memory.content),
    ]);
  recordChange(memory.type);
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
  { tx, version, state, recordChange }: Writing,
  restored: store.StoredMemory,
  separated: store.NewMemory,
): Promise<void> {
  const equal = await store.findByHash(tx, restored, separated.type, separated.hash);
  if (equal !== undefined && equal.invalidAt === null) return;
  if (equal !== undefined) {
    // Another memory has replaced it since.
    if (equal.replacedBy !== restored.id) return;
    const memory = await store.revalidate(tx, equal, version);
    return markSeparate(tx, restored, memory, recordChange);
  }
  if (!hasRoom(state, { memories: 1, bytes: store.sizeOf(separated) })) return;
  const memory = await store.insertMemory(tx, deps.column, restored, separated, version);
  await markSeparate(tx, restored, memory, recordChange);
}

async function markSeparate(
  tx: Writing['tx'],
  restored: store.StoredMemory,
  memory: store.StoredMemory,
  recordChange: Writing['recordChange'],
): Promise<void> {
  await store.insertLinks(tx, memory.id, [{ id: restored.id, kind: 'related' }]);
  await store.insertDistinction(tx, restored, memory.type, [
    hashContent(memory.content),
    hashContent(restored.content),
  ]);
  recordChange(memory.type);
}
