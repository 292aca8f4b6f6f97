/** `POST /admin/memories/:id/undo`: undoes the newest change that is not undone yet (docs/specification/memory.md#admin-api). */
import { problems } from '#platform/problem.ts';
import { embedOne } from '../embedding/embedder.ts';
import { findUndoable, markUndone } from '../memories/historystore.ts';
import { findMemory, type StoredMemory } from '../memories/memorystore.ts';
import { memoryProblems } from '../problems.ts';
import type { AddingDeps } from './adding.ts';
import { rewrite } from './editing.ts';
import { writeEntity } from './entitywrite.ts';

const maxTries = 3;

/** Throws 404, 409 `nothing_to_undo`, `duplicate_memory`, 503 `embedder_unavailable`. */
export async function undoChange(deps: AddingDeps, seen: StoredMemory): Promise<StoredMemory> {
  for (let tries = 1; tries <= maxTries; tries += 1) {
    const newest = await findUndoable(deps.db, seen.id);
    if (newest === undefined) throw memoryProblems.nothing_to_undo();
    const embedding = await embedOne(deps.embedder, newest.before.content);
    const restored = await writeEntity(deps, seen, async (writing) => {
      const memory = await findMemory(writing.tx, seen.id);
      if (memory === undefined) throw problems.not_found();
      const undoable = await findUndoable(writing.tx, seen.id);
      // A concurrent change added a revision, which restores other content.
      if (undoable?.number !== newest.number) return undefined;
      await markUndone(writing.tx, seen.id, newest.number);
      return rewrite(deps, writing, memory, newest.before, embedding);
    });
    if (restored !== undefined) return restored;
  }
  throw problems.overloaded();
}
