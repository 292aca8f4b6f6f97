/** Removes what jobs still say about a person whose data is erased. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/db.ts';
import { mentions } from '../db/mentions.ts';
import type { JobTables } from './jobs.ts';

/** Ids and addresses appear in payloads, keys and lanes. */
const aboutPerson = (words: readonly string[]) => mentions([sql`payload::text`, sql`unique_key`, sql`lane`], words);

/**
 * Deletes finished jobs that mention one of `words`, and waiting ones that are `dropped`. Returns their number. `words`: the ids and
 * email addresses of the person, in lower case.
 */
export async function forgetJobs(
  db: Db<JobTables>,
  words: readonly string[],
  dropped: RawBuilder<boolean>,
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('jobs')
    .where(sql<boolean>`(status in ('done', 'dead') or (status = 'waiting' and ${dropped}))`)
    .where(aboutPerson(words))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/** Counts the jobs that mention one of `words`, as `forgetJobs` does. */
export async function countJobsAbout(db: Db<JobTables>, words: readonly string[]): Promise<number> {
  const { count } = await db
    .selectFrom('jobs')
    .select(sql<number>`count(*)::bigint`.as('count'))
    .where(aboutPerson(words))
    .executeTakeFirstOrThrow();
  return count;
}
