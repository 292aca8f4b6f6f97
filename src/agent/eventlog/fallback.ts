/**
 * The event log in Redis, and in the database for runs whose batches Redis refuses to write. A run moves once: the
 * process that appends copies what Redis has into the database, and writes there until the run ends. Rows in the
 * database therefore mean that the database has the whole log.
 */
import { startInterval } from '#platform/background/interval.ts';
import { createLru } from '#platform/cache/cache.ts';
import type { Log } from '#platform/log.ts';
import { isWriteRefused } from '#platform/redis/writability.ts';
import type { Appended, Batch, EventLog, FencedKey, LogKey } from './eventlog.ts';

export interface FallbackOptions {
  readonly redisLog: EventLog;
  readonly databaseLog: EventLog;
  /** Those that have events in the database. */
  readonly findMoved: (taskIds: readonly string[]) => Promise<ReadonlySet<string>>;
  readonly log: Log;
  /** How soon a follower in another process learns that a run has moved. */
  readonly lookEveryMs?: number;
}

const runsKnown = 10_000;

interface Follower {
  readonly run: LogKey;
  afterSeq: number;
  readonly onBatch: (batch: Batch) => void;
  isInDatabase: boolean;
  unfollow: () => void;
}

export function openFallbackLog(deps: FallbackOptions): EventLog {
  const { redisLog, databaseLog, findMoved, log, lookEveryMs = 1_000 } = deps;
  /** Where this process last appended, and the logs that it has found in the database. */
  const places = createLru<string, 'redis' | 'database'>(runsKnown);
  const followers = new Set<Follower>();
  const looking = startInterval(lookEveryMs, look, (error) =>
    log.warn({ err: error }, 'could not search for moved event logs'),
  );

  async function isMoved(taskId: string): Promise<boolean> {
    if (places.get(taskId) === 'database') return true;
    return (await findMoved([taskId])).has(taskId);
  }

  /** Copies what Redis has. `vanished`: not everything before `batch` is there. */
  async function move(run: FencedKey, batch: Batch): Promise<Appended> {
    let lastSeq = 0;
    // Redis may refuse reads as well; before the first batch there is nothing to read.
    while (lastSeq < batch.firstSeq - 1) {
      const found = await redisLog.read(run, lastSeq);
      if (found.length === 0) return 'vanished';
      for (const next of found) {
        if (lastSeq === batch.firstSeq - 1) break;
        if (next.firstSeq !== lastSeq + 1) return 'vanished';
        const outcome = await databaseLog.append(run, next);
        if (outcome !== 'appended') return outcome;
        lastSeq = next.lastSeq;
      }
    }
    places.set(run.taskId, 'database');
    return 'appended';
  }

  async function look(): Promise<void> {
    const inRedis = [...followers].filter(({ isInDatabase }) => !isInDatabase);
    if (inRedis.length === 0) return;
    const moved = await findMoved([...new Set(inRedis.map(({ run }) => run.taskId))]);
    for (const follower of inRedis) if (moved.has(follower.run.taskId)) followDatabase(follower);
  }

  function followDatabase(follower: Follower): void {
    follower.unfollow();
    if (!followers.has(follower)) return;
    follower.isInDatabase = true;
    follower.unfollow = databaseLog.follow(follower.run, follower.afterSeq, (batch) => deliver(follower, batch));
  }

  /** A batch may be in both places: Redis may have written what it seemed to refuse. */
  function deliver(follower: Follower, batch: Batch): void {
    if (batch.lastSeq <= follower.afterSeq) return;
    follower.afterSeq = batch.lastSeq;
    follower.onBatch(batch);
  }

  return {
    async append(run, batch) {
      const isKnown = places.has(run.taskId) || batch.firstSeq === 1;
      if (isKnown ? places.get(run.taskId) === 'database' : await isMoved(run.taskId))
        return databaseLog.append(run, batch);
      try {
        const outcome = await redisLog.append(run, batch);
        if (outcome === 'appended') places.set(run.taskId, 'redis');
        return outcome;
      } catch (error) {
        if (!isWriteRefused(error)) throw error;
        const outcome = await move(run, batch);
        return outcome === 'appended' ? databaseLog.append(run, batch) : outcome;
      }
    },
    async claim(run) {
      // The database compares the fence of the run's row, which has been raised already.
      await redisLog.claim(run).catch(unlessRefused);
    },
    // Redis has the beginning of a log that has moved. Its readers ask the database only where Redis ends.
    async read(run, afterSeq) {
      if (places.get(run.taskId) === 'database') return databaseLog.read(run, afterSeq);
      const found = await redisLog.read(run, afterSeq).catch((error: unknown) => ({ error }));
      if ('length' in found && found.length > 0) return found;
      if (await isMoved(run.taskId)) {
        places.set(run.taskId, 'database');
        return databaseLog.read(run, afterSeq);
      }
      if ('error' in found) unlessRefused(found.error);
      return [];
    },
    follow(run, afterSeq, onBatch) {
      const follower: Follower = { run, afterSeq, onBatch, isInDatabase: false, unfollow: () => undefined };
      followers.add(follower);
      if (places.get(run.taskId) === 'database') followDatabase(follower);
      else follower.unfollow = redisLog.follow(run, afterSeq, (batch) => deliver(follower, batch));
      return () => {
        followers.delete(follower);
        follower.unfollow();
      };
    },
    async remove(taskIds) {
      await databaseLog.remove(taskIds);
      // What Redis does not remove expires.
      await redisLog.remove(taskIds).catch(unlessRefused);
    },
    async close() {
      followers.clear();
      await looking.stop();
      await Promise.all([redisLog.close(), databaseLog.close()]);
    },
  };
}

function unlessRefused(error: unknown): void {
  if (!isWriteRefused(error)) throw error;
}
