/**
 * After a change of the embedder, a job embeds existing memories again. Until then, only their text is searched. A
 * memory that changes in the meantime is skipped, because that write embeds it. The job may run in several processes at
 * once and may be killed at any time: it continues with the rest.
 */

import { z } from 'zod';
import { transaction } from '#platform/db/db.ts';
import type { Queue } from '#platform/jobs/jobs.ts';
import type { MemoryContext } from '../context.ts';
import { lockExistingEntity } from '../memories/entitystore.ts';
import type { Embedder } from './embedder.ts';
import { findStale, replaceEmbedding } from './embeddingstore.ts';

const rowsAtOnce = 32;
const firstId = '00000000-0000-0000-0000-000000000000';

/** Returns the number of memories that were embedded. Throws `embedder_unavailable`. If `signal` aborts, stops after the current batch. */
async function reembedStale({ db, embedder, column }: MemoryContext, signal: AbortSignal): Promise<number> {
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
        // The entity may have been erased since, and its row must not come back.
        const locked = await lockExistingEntity(tx, row);
        if (locked !== undefined) await replaceEmbedding(tx, column, row, embedder.name, vector, locked.version);
      });
      done += 1;
    }
  }
  return done;
}

/** Older processes may still write with the old embedder for a while. */
const againAfterMs = 60_000;

/** One queue for each embedder, so that only processes with this embedder work on it. The payload is empty. */
export const reembeddingQueue = ({ name }: Pick<Embedder, 'name'>): Queue<Record<string, never>> => ({
  name: `memory/reembed ${name}`,
  payload: z.object({}).strict(),
  maxAttempts: 100,
});

/** Starts the worker. One process works at a time. If it dies, another one continues. */
export async function startReembedding(context: MemoryContext): Promise<void> {
  const { db, embedder, jobs, log } = context;
  const queue = reembeddingQueue(embedder);
  jobs.work(
    queue,
    async ({ signal }) => {
      const count = await reembedStale(context, signal);
      signal.throwIfAborted();
      if (count === 0) return;
      log.info({ count, embedder: embedder.name }, 'embedded memories again after a change of the embedder');
      await jobs.enqueue(db, queue, {}, { delayMs: againAfterMs });
    },
    { concurrency: 1 },
  );
  const [stale] = await findStale(db, embedder.name, firstId, 1);
  if (stale !== undefined) await jobs.enqueue(db, queue, {}, { key: embedder.name });
}
