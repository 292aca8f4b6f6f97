/** Copies whose process died: their bytes are removed, then their rows. Any number of processes may do it at once. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '#platform/clock.ts';
import type { Db } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { type DeletableAsset, dropAssets, type MediaTables } from '../store.ts';
import { findAbandonedCopies } from './store.ts';

export interface AbandonedDeps {
  readonly db: Db<MediaTables>;
  readonly objects: Pick<Objects, 'bucket' | 'remove'>;
  readonly clock: Clock;
}

/** Far longer than any copy takes. One that is under way all the same finds its row gone, and takes its bytes back. */
const abandonedAfterMs = 24 * 3_600_000;
const rowsPerBatch = 100;
const everyMs = 3_600_000;

/** Answers how many; throws `engine_unavailable`. What is not confirmed gone keeps its row. */
export async function removeAbandonedCopies({ db, objects, clock }: AbandonedDeps): Promise<number> {
  const before = new Date(clock.now() - abandonedAfterMs);
  let removed = 0;
  for (;;) {
    const rows = await findAbandonedCopies(db, before, rowsPerBatch);
    const dropped = await dropWithBytes({ db, objects }, rows);
    removed += dropped;
    if (rows.length < rowsPerBatch || dropped === 0) return removed;
  }
}

async function dropWithBytes({ db, objects }: Pick<AbandonedDeps, 'db' | 'objects'>, rows: readonly DeletableAsset[]) {
  const reachable = rows.filter(({ bucket }) => bucket === objects.bucket);
  if (reachable.length === 0) return 0;
  const { removed } = await objects.remove(reachable.map(({ storageKey }) => storageKey));
  const gone = new Set(removed);
  return (
    await dropAssets(
      db,
      reachable.filter(({ storageKey }) => gone.has(storageKey)),
    )
  ).length;
}

/** From now on, every hour, until `signal` is aborted; never throws. */
export async function keepRemovingAbandonedCopies(
  deps: AbandonedDeps & { readonly log: Pick<Log, 'info' | 'warn'> },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const removed = await removeAbandonedCopies(deps);
      if (removed > 0) deps.log.info({ removed }, 'removed what unfinished copies left');
    } catch (error) {
      deps.log.warn({ err: error }, 'unfinished copies could not be looked for');
    }
    await delay(everyMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
