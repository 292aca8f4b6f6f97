/** The rows of a person in the shared records, for operators. */
import { type Generated, sql } from 'kysely';
import { type Db, inCamelCase, type Tx } from '#platform/db/db.ts';
import { createdAtUs } from '#platform/db/paging.ts';
import type { Plan } from '../api.ts';
import type { LedgerTables } from '../ledger/credits.ts';
import { blockedDigest, profileColumns } from '../store.ts';
import type { PeopleListing } from './api.ts';

export interface PeopleTables extends LedgerTables {
  credit_changes: {
    change_id: string;
    user_id: string;
    actor: string;
    reason: string;
    plan_before: Plan;
    plan_after: Plan;
    credits_before: number;
    credits_after: number;
    created_at: Generated<Date>;
  };
  account_blocks: { user_id: string; actor: string; reason: string; created_at: Generated<Date> };
}

type Handle = Db<PeopleTables> | Tx<PeopleTables>;

const columns = [
  ...profileColumns,
  createdAtUs,
  sql<Date | null>`(select max(used_at) from browser_sessions where user_id = user_profiles.id)`.as('activeAt'),
] as const;

/** The end of a page. `value`: microseconds since 1970, the precision of the database, or credits. */
export interface PersonPlace {
  readonly value: string;
  readonly id: string;
}

type Filter = Pick<PeopleListing, 'plan' | 'status'>;

const inStatus = { blocked: sql`blocked_at is not null`, active: sql`blocked_at is null` };
const matches = ({ plan, status }: Filter) => {
  const ofPlan = plan === undefined ? sql`true` : sql`plan = ${plan}`;
  return sql<boolean>`${ofPlan} and ${status === undefined ? sql`true` : inStatus[status]}`;
};

interface Listing extends Filter, Pick<PeopleListing, 'order'> {
  readonly after: PersonPlace | undefined;
}

export function listPeople(db: Handle, { order, after, ...filter }: Listing, limit: number) {
  const column = order === 'credits' ? 'credits' : 'created_at';
  const value =
    order === 'credits'
      ? sql`${after?.value}::bigint`
      : sql`timestamptz 'epoch' + ${after?.value}::bigint * interval '1 microsecond'`;
  const direction = order === 'oldest' ? 'asc' : 'desc';
  return db
    .selectFrom('user_profiles')
    .select(columns)
    .$if(after !== undefined, (query) =>
      query.where(
        sql<boolean>`(${sql.ref(column)}, id) ${sql.raw(order === 'oldest' ? '>' : '<')} (${value}, ${after?.id}::uuid)`,
      ),
    )
    .where(matches(filter))
    .orderBy(column, direction)
    .orderBy('id', direction)
    .limit(limit)
    .execute();
}

/** PostgreSQL reads their addresses in about 0.3 s. */
const searchedPeople = 100_000;

/**
 * Users whose address contains the words, which are in lower case. Those whose address begins with them come first, found by an index.
 * The others are searched for among the newest users only, so that the time has a bound.
 */
export async function findByEmail(db: Handle, words: string, limit: number, filter: Filter) {
  const starting = `${words.replace(/[\\%_]/g, '\\$&')}%`;
  const first = await db
    .selectFrom('user_profiles')
    .select(columns)
    .where(sql<boolean>`lower(email) like ${starting}`)
    .where(matches(filter))
    // The order of the index that finds the beginning, so that a common one is not sorted as a whole.
    .orderBy(sql`lower(email) using ~<~`)
    .orderBy('id')
    .limit(limit)
    .execute();
  if (first.length === limit) return first;
  const others = await db
    .selectFrom((from) =>
      from
        .selectFrom('user_profiles')
        .selectAll()
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(searchedPeople)
        .as('user_profiles'),
    )
    .select(columns)
    .where(sql<boolean>`strpos(lower(email), ${words}) > 1`)
    .where(matches(filter))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit - first.length)
    .execute();
  return [...first, ...others];
}

export const findById = (db: Handle, id: string) => findByIds(db, [id], {});

export function findByIds(db: Handle, ids: readonly string[], filter: Filter) {
  const isOne = sql<boolean>`id = any(${ids}::uuid[])`;
  return db.selectFrom('user_profiles').select(columns).where(isOne).where(matches(filter)).execute();
}

export function listEmails(db: Handle, ids: readonly string[]) {
  return db.selectFrom('user_profiles').select(['id', 'email']).where(sql<boolean>`id = any(${ids}::uuid[])`).execute();
}

export async function findSurroundings(db: Handle, id: string) {
  const { rows } = await sql<{ isOpenNotification: boolean; invitedBy: string | null; invited: number }>`
    select
      coalesce((select is_open_notification from user_settings where user_id = ${id}), true) as "isOpenNotification",
      (select inviter_id from referrals where invitee_id = ${id}) as "invitedBy",
      (select count(*) from referrals where inviter_id = ${id})::int as invited`.execute(db);
  return rows[0] ?? { isOpenNotification: true, invitedBy: null, invited: 0 };
}

export function listCreditChanges(db: Handle, userId: string, limit: number) {
  return db
    .selectFrom('credit_changes')
    .select([
      'change_id as id',
      ...inCamelCase('actor reason plan_before plan_after credits_before credits_after created_at'),
    ])
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .limit(limit)
    .execute();
}

const mostChanges = 200;
const newestPeople = 100;

/**
 * The users whose hash is one of these subjects of actions until then, by subject: of the id or of the address. Each hash has its own salt, so only users are
 * tried whom operators changed last, and the newest ones.
 */
export async function findTargets(db: Handle, targets: readonly string[], until: string, also?: string) {
  const { rows } = await sql<{ target: string; userId: string }>`
    with candidates as (
      select user_id from (
        select user_id from credit_changes where created_at <= ${until}::timestamptz + interval '1 minute'
        order by created_at desc limit ${mostChanges}) as changed
      union select user_id from (
        select user_id from account_blocks order by created_at desc limit ${mostChanges}) as blocked
      union select id from (select id from user_profiles order by created_at desc limit ${newestPeople}) as newest
      union select id from user_profiles where id = ${also ?? null}::uuid
    )
    select target, id as "userId" from unnest(${targets}::text[]) as target, candidates
      join user_profiles on id = user_id, unnest(array[id::text, lower(email)]) as one
    where split_part(target, ' ', 3)
      = encode(sha256(convert_to(split_part(target, ' ', 2) || ' ' || one, 'UTF8')), 'hex')`.execute(db);
  return new Map(rows.map(({ target, userId }) => [target, userId]));
}

/** Whose change this is, if it was made before. */
export async function findChangeOwner(tx: Tx<PeopleTables>, changeId: string): Promise<string | undefined> {
  const row = await tx
    .selectFrom('credit_changes')
    .select('user_id as userId')
    .where('change_id', '=', changeId)
    .executeTakeFirst();
  return row?.userId;
}

/** Locks the profile until the transaction ends. */
export function lockAccount(tx: Tx<PeopleTables>, id: string) {
  return tx
    .selectFrom('user_profiles')
    .select(['plan', 'credits', 'email', 'blocked_at as blockedAt'])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

/** Blocks the address of the account too. */
export async function setBlocked(tx: Tx<PeopleTables>, id: string, isBlocked: boolean): Promise<void> {
  const digest = sql`select ${blockedDigest(sql.ref('email'))} from user_profiles where id = ${id} and email is not null`;
  const change = isBlocked
    ? sql`insert into blocked_addresses (address_digest) ${digest} on conflict do nothing`
    : sql`delete from blocked_addresses where address_digest in (${digest})`;
  await change.execute(tx);
  await tx
    .updateTable('user_profiles')
    .set({ blocked_at: isBlocked ? sql<Date>`now()` : null })
    .where('id', '=', id)
    .execute();
}

export async function insertBlock(tx: Tx<PeopleTables>, userId: string, actor: string, reason: string): Promise<void> {
  await tx.insertInto('account_blocks').values({ user_id: userId, actor, reason }).execute();
}

/** Newest first. */
export function listBlocks(db: Handle, userId: string, limit: number) {
  return db
    .selectFrom('account_blocks')
    .select(['actor', 'reason', 'created_at as createdAt'])
    .where('user_id', '=', userId)
    .orderBy('created_at', 'desc')
    .limit(limit)
    .execute();
}

export interface AccountState {
  readonly plan: Plan;
  readonly credits: number;
}

export async function writeCreditChange(
  tx: Tx<PeopleTables>,
  change: {
    readonly changeId: string;
    readonly userId: string;
    readonly actor: string;
    readonly reason: string;
    readonly before: AccountState;
    readonly after: AccountState;
  },
): Promise<void> {
  const { changeId, userId, actor, reason, before, after } = change;
  await tx
    .updateTable('user_profiles')
    .set({ ...after, updated_at: sql<Date>`now()` })
    .where('id', '=', userId)
    .execute();
  await tx
    .insertInto('credit_changes')
    .values({
      change_id: changeId,
      user_id: userId,
      actor,
      reason,
      plan_before: before.plan,
      plan_after: after.plan,
      credits_before: before.credits,
      credits_after: after.credits,
    })
    .execute();
}

const owned = {
  credit_changes: 'user_id',
  credit_ledger: 'user_id',
  user_settings: 'user_id',
  unsubscriptions: 'user_id',
  onboardings: 'user_id',
  feeds: 'owner_id',
  account_exports: 'user_id',
  browser_sessions: 'user_id',
} as const;

/** Deletes every row of the person. Returns how many of each table. */
export async function deletePerson(tx: Tx<PeopleTables>, userId: string): Promise<Record<string, number>> {
  const removed: Record<string, number> = {};
  const count = ({ numAffectedRows }: { readonly numAffectedRows?: bigint }) => Number(numAffectedRows ?? 0);
  for (const [table, column] of Object.entries(owned))
    removed[table] = count(await sql`delete from ${sql.table(table)} where ${sql.ref(column)} = ${userId}`.execute(tx));
  removed.referrals = count(
    await sql`delete from referrals where inviter_id = ${userId} or invitee_id = ${userId}`.execute(tx),
  );
  removed.profiles = count(await sql`delete from user_profiles where id = ${userId}`.execute(tx));
  // Last: a block holds the lock of the profile until its row can be seen.
  removed.account_blocks = count(await sql`delete from account_blocks where user_id = ${userId}`.execute(tx));
  return removed;
}
