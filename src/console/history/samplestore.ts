/** The rows of the history. Any process may sample at any time; all write one after the other. */
import { sql } from 'kysely';
import { type Db, holdName, json, transaction } from '#platform/db/db.ts';
import { addCounts, type Counters, type Counts, type CountsBySubject, countedSince } from './counts.ts';

export interface HistoryTables {
  console_samples: { width_s: number; starts_at: Date; counts: CountsBySubject };
  console_readings: { id: number; read_at: Date; counters: Readonly<Record<string, Counters>> };
}

/** The width of a bucket in seconds, and for how long buckets are stored. */
export const buckets = {
  hour: { widthS: 60, keptForS: 2 * 3600 },
  day: { widthS: 600, keptForS: 2 * 86_400 },
} as const;

export interface Sample {
  readonly readAt: Date;
  readonly counters: Readonly<Record<string, Counters>>;
  readonly gauges: CountsBySubject;
}

/** After a longer pause, what was counted since belongs to no bucket. */
const longestPauseMs = 120_000;

/**
 * Adds a sample to its buckets, and removes old ones. `false`: another process took one less than `leastMs` earlier, so this one is
 * dropped. Numbers are counted once, whichever process reads them, because the last reading is in the database.
 */
export function addSample(db: Db<HistoryTables>, sample: Sample, leastMs: number): Promise<boolean> {
  return transaction(db, async (tx) => {
    await holdName(tx, 'console samples');
    const last = await tx.selectFrom('console_readings').selectAll().executeTakeFirst();
    const sinceMs = last === undefined ? Infinity : sample.readAt.getTime() - last.read_at.getTime();
    if (sinceMs < leastMs) return false;
    const isContinued = last !== undefined && sinceMs <= longestPauseMs;
    const counted: Record<string, Counts> = {};
    for (const [service, later] of Object.entries(sample.counters)) {
      const counts = isContinued ? countedSince(last.counters[service], later, last.read_at.getTime()) : undefined;
      if (counts !== undefined) counted[service] = { ...counts, seconds: sinceMs / 1000 };
    }
    const added = addCounts(counted, sample.gauges);
    for (const { widthS, keptForS } of Object.values(buckets)) {
      const startsAt = new Date(Math.floor(sample.readAt.getTime() / (widthS * 1000)) * widthS * 1000);
      const bucket = await tx
        .selectFrom('console_samples')
        .select('counts')
        .where('width_s', '=', widthS)
        .where('starts_at', '=', startsAt)
        .executeTakeFirst();
      const counts = json(addCounts(bucket?.counts ?? {}, added));
      await tx
        .insertInto('console_samples')
        .values({ width_s: widthS, starts_at: startsAt, counts })
        .onConflict((conflict) => conflict.columns(['width_s', 'starts_at']).doUpdateSet({ counts }))
        .execute();
      await tx
        .deleteFrom('console_samples')
        .where('width_s', '=', widthS)
        .where('starts_at', '<', new Date(sample.readAt.getTime() - keptForS * 1000))
        .execute();
    }
    // A service that is away now keeps its last counters, so that what it counts until it is back is not lost.
    const counters = json({ ...last?.counters, ...sample.counters });
    await tx
      .insertInto('console_readings')
      .values({ id: 1, read_at: sample.readAt, counters })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ read_at: sample.readAt, counters }))
      .execute();
    return true;
  });
}

export interface Bucket {
  readonly startsAt: Date;
  readonly counts: CountsBySubject;
}

/** Oldest first. */
export function listBuckets(db: Db<HistoryTables>, widthS: number, from: Date): Promise<readonly Bucket[]> {
  return db
    .selectFrom('console_samples')
    .select(['starts_at as startsAt', sql<CountsBySubject>`counts`.as('counts')])
    .where('width_s', '=', widthS)
    .where('starts_at', '>=', from)
    .orderBy('starts_at')
    .execute();
}
