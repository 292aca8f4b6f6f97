/** Accounts that are to be deleted. */
import { type Generated, sql } from 'kysely';
import type { Db, Tx } from '#platform/db/db.ts';

export interface DeletionTables {
  account_deletions: {
    deletion_id: Generated<string>;
    user_id: string;
    email: string | null;
    language: string | null;
    mails: boolean;
    deletes_at: Date;
    stage: Stage;
  };
}

/**
 * `requested`: the mail about the date was not sent yet. `announced`: it was. `erasing`: the deletion can no longer be taken
 * back. `erased`: the last mail is missing. `mailed`: jobs that mention the person have to end.
 */
export type Stage = 'requested' | 'announced' | 'erasing' | 'erased' | 'mailed';

type Handle = Db<DeletionTables> | Tx<DeletionTables>;

const columns = [
  'deletion_id as deletionId',
  'user_id as userId',
  'email',
  'language',
  'mails',
  'deletes_at as deletesAt',
  'stage',
] as const;

export type Deletion = NonNullable<Awaited<ReturnType<typeof findDeletion>>>;

export const findDeletion = (db: Handle, deletionId: string) =>
  db
    .selectFrom('account_deletions')
    .select([
      ...columns,
      sql<number>`ceil(extract(epoch from deletes_at - clock_timestamp()) * 1000)::float8`.as('dueInMs'),
    ])
    .where('deletion_id', '=', deletionId)
    .executeTakeFirst();

/** One that is not over for the person. */
export const findDeletionOf = (db: Handle, userId: string) =>
  db
    .selectFrom('account_deletions')
    .select(columns)
    .where('user_id', '=', userId)
    .where('stage', '!=', 'mailed')
    .executeTakeFirst();

/** For a new account with the same id. */
export async function removeEnded(db: Handle, userId: string): Promise<string | undefined> {
  const row = await db
    .deleteFrom('account_deletions')
    .where('user_id', '=', userId)
    .where('stage', '=', 'mailed')
    .returning('deletion_id as deletionId')
    .executeTakeFirst();
  return row?.deletionId;
}

export interface NewDeletion {
  readonly userId: string;
  readonly email: string | null;
  readonly language: string | null;
  readonly mails: boolean;
  readonly days: number;
}

/** Returns `undefined` if the user has one: its date stays. */
export const addDeletion = (db: Handle, { days, userId, ...person }: NewDeletion) =>
  db
    .insertInto('account_deletions')
    .values({
      ...person,
      user_id: userId,
      deletes_at: sql<Date>`date_trunc('milliseconds', clock_timestamp()) + ${days} * interval '1 day'`,
      stage: days === 0 ? 'announced' : 'requested',
    })
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .returning(columns)
    .executeTakeFirst();

export async function setStage(db: Handle, deletionId: string, from: readonly Stage[], stage: Stage): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('account_deletions')
    .set({ stage })
    .where('deletion_id', '=', deletionId)
    .where('stage', 'in', from)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** Returns the id of the deletion that ended, if it had not begun. */
export async function takeBack(db: Handle, userId: string): Promise<string | undefined> {
  const row = await db
    .deleteFrom('account_deletions')
    .where('user_id', '=', userId)
    .where('stage', 'in', ['requested', 'announced'])
    .returning('deletion_id as deletionId')
    .executeTakeFirst();
  return row?.deletionId;
}

export const removeDeletion = (db: Handle, deletionId: string) =>
  db.deleteFrom('account_deletions').where('deletion_id', '=', deletionId).execute();
