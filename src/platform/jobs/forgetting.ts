/** Removes what jobs still say about a person whose data is erased. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/db.ts';
import type { JobTables } from './jobs.ts';

/** `words`: in lower case. Ids and addresses appear in payloads, keys and lanes. */
const mentions = (words: readonly string[]): RawBuilder<boolean> => sql<boolean>`exists (
  select from unnest(${words}::text[]) as word
  where strpos(lower(payload::text), word) > 0 or strpos(lower(coalesce(unique_key, '')), word) > 0
    or strpos(lower(lane), word) > 0)`;

/** Deletes finished jobs that mention one of `words`, and waiting ones of `queues`. Returns their number. */
export async function forgetJobs(
  db: Db<JobTables>,
  words: readonly string[],
  queues: readonly string[],
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('jobs')
    .where(sql<boolean>`(status in ('done', 'dead') or (status = 'waiting' and queue = any(${queues}::text[])))`)
    .where(mentions(words))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Counts the jobs that mention one of `words`. */
export async function countJobsAbout(db: Db<JobTables>, words: readonly string[]): Promise<number> {
  const { count } = await db
    .selectFrom('jobs')
    .select(sql<number>`count(*)::bigint`.as('count'))
    .where(mentions(words))
    .executeTakeFirstOrThrow();
  return count;
}
