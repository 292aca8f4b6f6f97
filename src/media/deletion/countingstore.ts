/**
 * Rows that decide which of several concurrent deletions counts a legacy file. Each statement locks its rows in the order of their
 * paths, so that no two wait for each other.
 */
import { sql } from 'kysely';
import type { Db } from '#platform/db/db.ts';
import type { MediaTables } from '../tables.ts';

/** Far longer than a deletion takes. The claim of a process that died expires. */
const outdatedAfterS = 120;

/** Returns those of `paths` that no other call is deleting. `holder` counts them until it releases them. */
export async function claimFiles(
  db: Db<MediaTables>,
  bucket: string,
  paths: readonly string[],
  holder: string,
): Promise<readonly string[]> {
  const { rows } = await sql<{ path: string }>`
    insert into legacy_removals (bucket, path, holder)
    select ${bucket}::text, path, ${holder}::uuid from unnest(${paths}::text[]) as path order by path
    on conflict (bucket, path) do update set holder = excluded.holder, claimed_at = now()
      where legacy_removals.claimed_at < now() - make_interval(secs => ${outdatedAfterS})
    returning path`.execute(db);
  return rows.map(({ path }) => path);
}

/** Called before the files are removed, so that the calls that count them need not see them. */
export async function markSeen(db: Db<MediaTables>, bucket: string, paths: readonly string[]): Promise<void> {
  await sql`
    with seen as materialized (
      select path from legacy_removals where bucket = ${bucket}::text and path = any(${paths}::text[])
      order by path for update
    )
    update legacy_removals set seen = true from seen
    where legacy_removals.bucket = ${bucket}::text and legacy_removals.path = seen.path`.execute(db);
}

/** Releases the files of `holder`. Resolves with those that another call saw. */
export async function releaseFiles(
  db: Db<MediaTables>,
  bucket: string,
  paths: readonly string[],
  holder: string,
): Promise<readonly string[]> {
  const { rows } = await sql<{ path: string; seen: boolean }>`
    with held as materialized (
      select path from legacy_removals
      where bucket = ${bucket}::text and path = any(${paths}::text[]) and holder = ${holder}::uuid
      order by path for update
    )
    delete from legacy_removals using held
    where legacy_removals.bucket = ${bucket}::text and legacy_removals.path = held.path
    returning legacy_removals.path, legacy_removals.seen`.execute(db);
  return rows.filter(({ seen }) => seen).map(({ path }) => path);
}
