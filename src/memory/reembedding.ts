/**
 * After a change of the embedder, memories are embedded anew beside the requests; until its turn a memory is found by its
 * text. A memory that changes meanwhile is left alone: whoever changed it has embedded it. May run in several processes at
 * once, and die at any time: what is done is done, the rest is found again.
 */

import { z } from 'zod';
import { transaction } from '#platform/db/db.ts';
import type { Jobs, Queue } from '#platform/jobs/jobs.ts';
import type { Log } from '#platform/log.ts';
import type { Embedder } from './embedding/embedder.ts';
import { findStale, replaceEmbedding } from './embedding/store.ts';
import { lockEntity } from './store.ts';
import type { VectorColumn } from './vectors.ts';
import type { WritingDeps } from './writing.ts';

export interface ReembeddingDeps extends WritingDeps {
  readonly column: VectorColumn;
  readonly embedder: Embedder;
}

const rowsAtOnce = 32;
const firstId = '00000000-0000-0000-0000-000000000000';

/** Answers how many were embedded anew. Throws `embedder_unavailable`, and stops between two batches when told to. */
export async function reembedStale(deps: ReembeddingDeps, signal: AbortSignal): Promise<number> {
  const { db, embedder, column } = deps;
  let done = 0;
  let after = firstId;
  while (!signal.aborted) {
    const rows = await findStale(db, embedder.name, after, rowsAtOnce);
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.id;
    const vectors = await embedder.embed(rows.map(({ content }) => content));
    for (const [place, row] of rows.entries()) {
      const vector = vectors[place];
      if (vector === undefined) continue;
      await transaction(db, async (tx) => {
        const { version } = await lockEntity(tx, row);
        await replaceEmbedding(tx, column, row, embedder.name, vector, version);
      });
      done += 1;
    }
  }
  return done;
}

/** Older processes may still write with the old embedder for a while. */
const againAfterMs = 60_000;

/** One for each embedder: only a process that has it can work on it. The payload names nobody. */
export const reembeddingQueue = ({ name }: Pick<Embedder, 'name'>): Queue<Record<string, never>> => ({
  name: `memory/reembed ${name}`,
  payload: z.object({}).strict(),
  maxAttempts: 100,
});

/** Works on what is stale, once in all processes, and taken over when its worker dies. */
export async function startReembedding(deps: ReembeddingDeps, jobs: Jobs, log: Log): Promise<void> {
  const { db, embedder } = deps;
  const queue = reembeddingQueue(embedder);
  jobs.work(
    queue,
    async ({ signal }) => {
      const count = await reembedStale(deps, signal);
      signal.throwIfAborted();
      if (count === 0) return;
      log.info({ count, embedder: embedder.name }, 'memories were embedded anew');
      await jobs.enqueue(db, queue, {}, { delayMs: againAfterMs });
    },
    { concurrency: 1 },
  );
  const [stale] = await findStale(db, embedder.name, firstId, 1);
  if (stale !== undefined) await jobs.enqueue(db, queue, {}, { key: embedder.name });
}
