/** Removes what jobs still say about a person whose data is erased. */
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../db/db.ts';
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

// Finds rows that mention a person, in texts of any form such as JSON, keys and the replies of mail servers.

/** What can stand before and after an address if it is a part of a longer one: `ann@a.com` is not in `joann@a.com`. */
const [before, after] = ['(?<![[:alnum:]._%+-])', '(?![[:alnum:]-]|[.][[:alnum:]])'];

/** A regular expression of PostgreSQL. Ids are found anywhere, because keys are composed of them. */
function patternOf(word: string): string {
  const escaped = word.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return word.includes('@') ? `${before}${escaped}${after}` : escaped;
}

/** A condition: one of `texts` mentions one of `words`, which are ids and email addresses in lower case. */
export function mentions(texts: readonly RawBuilder<unknown>[], words: readonly string[]): RawBuilder<boolean> {
  // The plain comparison rules out most texts, and is faster than the pattern.
  const found = texts.map(
    (text) => sql`case when strpos(lower(${text}), word) > 0 then lower(${text}) ~ pattern else false end`,
  );
  return sql<boolean>`exists (
    select from unnest(${words}::text[], ${words.map(patternOf)}::text[]) as sought (word, pattern)
    where ${sql.join(found, sql` or `)})`;
}
