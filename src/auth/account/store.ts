/** Accounts that are to be deleted. */
import { sql } from 'kysely';
import { type Db, hasChanged, inCamelCase, json, type Tx } from '#platform/db/db.ts';
import type { AuthTables, ExportFile, Stage } from '../tables.ts';

type Handle = Db<AuthTables> | Tx<AuthTables>;

const columns = inCamelCase('deletion_id user_id email language mails deletes_at stage');

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
    .where((eb) => eb.and({ user_id: userId, stage: 'mailed' }))
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
  return db
    .updateTable('account_deletions')
    .set({ stage })
    .where('deletion_id', '=', deletionId)
    .where('stage', 'in', from)
    .$call(hasChanged);
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

// Exports of accounts.

export type AccountExport = NonNullable<Awaited<ReturnType<typeof findExport>>>;

const select = (db: Handle) =>
  db
    .selectFrom('account_exports')
    .select([
      ...inCamelCase('export_id user_id requested_at ready_at expires_at is_mailed content_id files'),
      sql<boolean>`ready_at is not null and expires_at <= clock_timestamp()`.as('isExpired'),
      sql<number>`ceil(extract(epoch from expires_at - clock_timestamp()) * 1000)::float8`.as('expiresInMs'),
    ]);

export const findExport = (db: Handle, exportId: string) =>
  select(db).where('export_id', '=', exportId).executeTakeFirst();

export const findExportOf = (db: Handle, userId: string) => select(db).where('user_id', '=', userId).executeTakeFirst();

/** Removes an export of the user that is `hours` old. Returns its id. */
export async function removeOldExport(db: Handle, userId: string, hours: number): Promise<string | undefined> {
  const row = await db
    .deleteFrom('account_exports')
    .where('user_id', '=', userId)
    .where(sql<boolean>`ready_at < clock_timestamp() - ${hours} * interval '1 hour'`)
    .returning('export_id as exportId')
    .executeTakeFirst();
  return row?.exportId;
}

/** Returns the id, or `undefined` if the user has one. */
export async function addExport(db: Handle, userId: string): Promise<string | undefined> {
  const row = await db
    .insertInto('account_exports')
    .values({ user_id: userId })
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .returning('export_id as exportId')
    .executeTakeFirst();
  return row?.exportId;
}

export const removeExport = (db: Handle, exportId: string) =>
  db.deleteFrom('account_exports').where('export_id', '=', exportId).execute();

export async function addPart(db: Handle, part: AuthTables['account_export_parts']): Promise<void> {
  await db.insertInto('account_export_parts').values(part).execute();
}

export async function findPart(
  db: Handle,
  {
    exportId,
    contentId,
    file,
    number,
  }: Readonly<Record<'exportId' | 'contentId' | 'file', string>> & {
    readonly number: number;
  },
): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('account_export_parts')
    .select('bytes')
    .where((eb) => eb.and({ export_id: exportId, content_id: contentId, file, number }))
    .executeTakeFirst();
  return row && Buffer.from(row.bytes);
}

/** Keeps only the parts of `contentId`. */
export async function setReady(
  tx: Tx<AuthTables>,
  exportId: string,
  {
    contentId,
    files,
    days,
  }: { readonly contentId: string; readonly files: readonly ExportFile[]; readonly days: number },
): Promise<void> {
  const isFirst = await tx
    .updateTable('account_exports')
    .set({
      content_id: contentId,
      files: sql`${json(files)}`,
      ready_at: sql<Date>`clock_timestamp()`,
      expires_at: sql<Date>`clock_timestamp() + ${days} * interval '1 day'`,
    })
    .where('export_id', '=', exportId)
    .where('ready_at', 'is', null)
    .$call(hasChanged);
  if (isFirst) await removeOtherParts(tx, exportId, contentId);
}

export const removeOtherParts = (db: Handle, exportId: string, contentId: string) =>
  db
    .deleteFrom('account_export_parts')
    .where('export_id', '=', exportId)
    .where('content_id', '!=', contentId)
    .execute();

export const setMailed = (db: Handle, exportId: string) =>
  db.updateTable('account_exports').set({ is_mailed: true }).where('export_id', '=', exportId).execute();
