/**
 * After a change of the embedder, memories are embedded anew beside the requests; until its turn a memory is found by its
 * text. A memory that changes meanwhile is left alone: whoever changed it has embedded it. May run in several processes at
 * once, and die at any time: what is done is done, the rest is found again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { transaction } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import type { Embedder } from './embedding/embedder.ts';
import { findStale, lockEntity, replaceEmbedding } from './store.ts';
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
        const version = await lockEntity(tx, row);
        await replaceEmbedding(tx, column, row, embedder.name, vector, version);
      });
      done += 1;
    }
  }
  return done;
}

/** Soon after the start, and again until nothing is stale: other processes may still write with the old embedder. */
const everyMs = 60_000;

export function startReembedding(deps: ReembeddingDeps, log: Log): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const working = (async () => {
    while (!stopping.signal.aborted) {
      try {
        const count = await reembedStale(deps, stopping.signal);
        if (count > 0) log.info({ count, embedder: deps.embedder.name }, 'memories were embedded anew');
      } catch (error) {
        log.warn({ err: error }, 'memories could not be embedded anew; it is tried again');
      }
      await delay(everyMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await working;
    },
  };
}
