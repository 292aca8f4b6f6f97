/** The rows of profiles, settings, referrals and feeds. The ledger of credits has its own store. */
import { type Generated, sql } from 'kysely';
import { type Db, hasChanged, inCamelCase, type Tx, transaction } from '#platform/db/db.ts';
import { isUuid } from '#platform/ids.ts';
import type { Plan, Profile } from './api.ts';

export interface AccountTables {
  user_profiles: {
    id: string;
    email: string | null;
    language: string | null;
    plan: Generated<Plan>;
    credits: Generated<number>;
    created_at: Generated<Date>;
    updated_at: Generated<Date>;
    blocked_at: Generated<Date | null>;
  };
  user_settings: { user_id: string; is_open_notification: Generated<boolean> };
  referrals: { inviter_id: string; invitee_id: string; created_at: Generated<Date> };
  feeds: {
    id: Generated<string>;
    owner_id: string | null;
    media_type: string | null;
    flag: string[] | null;
    created_at: Generated<Date>;
    updated_at: Generated<Date>;
  };
  onboardings: { user_id: string; created_at: Generated<Date> };
  unsubscriptions: { user_id: string; address_digest: string; created_at: Generated<Date> };
  unsubscribe_keys: { id: number; secret: string };
  blocked_addresses: { address_digest: string; created_at: Generated<Date> };
}

type Handle = Db<AccountTables> | Tx<AccountTables>;

export const profileColumns = inCamelCase('id email language plan credits created_at updated_at blocked_at');

const now = sql<Date>`now()`;

export function findProfile(db: Handle, userId: string): Promise<Profile | undefined> {
  return db.selectFrom('user_profiles').select(profileColumns).where('id', '=', userId).executeTakeFirst();
}

/** Ignores case and surrounding spaces. Returns the oldest first, because an identity provider may give two users one address. */
export function findProfilesByEmail(db: Handle, email: string): Promise<readonly Profile[]> {
  return db
    .selectFrom('user_profiles')
    .select(profileColumns)
    .where(sql<boolean>`lower(email) = lower(${email.trim()})`)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

export interface NewProfile {
  readonly id: string;
  /** From the identity provider. If it is absent, the stored value is retained. */
  readonly email?: string | undefined;
  /** For a new profile. By default `free`, and the credits of `welcome`. */
  readonly plan?: Plan | undefined;
  readonly credits?: number | undefined;
}

/** For new profiles. */
export interface Welcome {
  /** STARTING_CREDITS. */
  readonly credits: number;
  /** Runs in the transaction that creates a profile. */
  readonly publish: (tx: Tx<AccountTables>, profile: Profile) => Promise<void>;
}

/** Identifies a blocked address without naming it, also after the account is deleted. `email`: an expression, or a value. */
export const blockedDigest = (email: unknown) => sql<string>`(
  select encode(sha256(convert_to(secret || ' blocked ' || lower(btrim(${email}::text)), 'UTF8')), 'hex') from unsubscribe_keys)`;

const blockOf = (email: string | undefined) =>
  sql<Date | null>`(select now() from blocked_addresses where address_digest = ${blockedDigest(email ?? null)})`;

/**
 * Reports whether the account with this address or id, or a deleted one that had the address, is blocked, or was blocked since then.
 * `name`: in lower case.
 */
export async function isBlocked(db: Handle, name: string, since = new Date()): Promise<boolean> {
  const { rows } = await sql`
    select ${blockOf(name)} where ${blockOf(name)} is not null
    union all select now() from user_profiles left join account_blocks on user_id = id
    where (lower(email) = ${name} or id = ${isUuid(name) ? name : null}::uuid)
      and (blocked_at is not null or account_blocks.created_at >= ${since})`.execute(db);
  return rows.length > 0;
}

/**
 * Returns the profile, and creates it if there is none, blocked if its address is. Concurrent calls create it once, and publish it
 * once. A blocked account keeps its address, whose digest an unblock deletes.
 */
export async function ensureProfile(db: Handle, user: NewProfile, welcome?: Welcome): Promise<Profile> {
  const { id, email } = user;
  const known = await findProfile(db, id);
  if (known !== undefined && (email === undefined || known.email === email || known.blockedAt !== null)) return known;
  if (known !== undefined || welcome === undefined) return upsertProfile(db, user);
  if (!db.isTransaction) return transaction(db as Db<AccountTables>, (tx) => createProfile(tx, user, welcome));
  return createProfile(db as Tx<AccountTables>, user, welcome);
}

async function createProfile(tx: Tx<AccountTables>, user: NewProfile, welcome: Welcome): Promise<Profile> {
  const { id, email, plan, credits = welcome.credits } = user;
  const created = await tx
    .insertInto('user_profiles')
    .values({ id, email, plan, credits, blocked_at: blockOf(email) })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning(profileColumns)
    .executeTakeFirst();
  if (created === undefined) return upsertProfile(tx, user);
  await welcome.publish(tx, created);
  return created;
}

function upsertProfile(db: Handle, { id, email, plan, credits }: NewProfile): Promise<Profile> {
  const blocked = blockOf(email);
  const blockedAt = sql<Date | null>`coalesce(user_profiles.blocked_at, ${blocked})`;
  const changes = { email, blocked_at: blockedAt, ...(email !== undefined && { updated_at: now }) };
  return db
    .insertInto('user_profiles')
    .values({ id, email, plan, credits, blocked_at: blocked })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(changes))
    .returning(profileColumns)
    .executeTakeFirstOrThrow();
}

/** Sets a language once. Returns `false` if one was set, or if there is no profile. */
export async function setFirstLanguage(db: Handle, userId: string, language: string): Promise<boolean> {
  return db
    .updateTable('user_profiles')
    .set({ language, updated_at: now })
    .where('id', '=', userId)
    .where('language', 'is', null)
    .$call(hasChanged);
}

export interface Recipient {
  readonly id: string;
  readonly email: string | null;
  readonly language: string | null;
  readonly plan: Plan;
  /** Users without settings accept mail (docs/specification/notify.md#skip-reasons). */
  readonly isOpenNotification: boolean;
}

/** Returns the recipient of a notification, and what decides whether it is sent, in one query. */
export function findRecipient(db: Handle, userId: string): Promise<Recipient | undefined> {
  return db
    .selectFrom('user_profiles')
    .leftJoin('user_settings', 'user_settings.user_id', 'user_profiles.id')
    .select(['id', 'email', 'language', 'plan'])
    .select((eb) => eb.fn.coalesce('is_open_notification', sql<boolean>`true`).as('isOpenNotification'))
    .where('id', '=', userId)
    .executeTakeFirst();
}

export async function setOpenNotification(db: Handle, userId: string, isOpen: boolean): Promise<void> {
  await db
    .insertInto('user_settings')
    .values({ user_id: userId, is_open_notification: isOpen })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ is_open_notification: isOpen }))
    .execute();
}

/** Turns off product mails to the account, and to the address of the link. */
export async function unsubscribe(
  db: Db<AccountTables>,
  { userId, addressDigest }: { readonly userId: string; readonly addressDigest: string | undefined },
): Promise<void> {
  await transaction(db, async (tx) => {
    await setOpenNotification(tx, userId, false);
    await tx
      .insertInto('unsubscriptions')
      .values({ user_id: userId, address_digest: addressDigest ?? '' })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  });
}

/**
 * Whether the user, or the reader of the address, used a link to unsubscribe. A user who has turned product mails on again since has
 * ended both.
 */
export async function isUnsubscribed(db: Handle, userId: string, addressDigest: string): Promise<boolean> {
  const found = await db
    .selectFrom('unsubscriptions')
    .innerJoin('user_settings', 'user_settings.user_id', 'unsubscriptions.user_id')
    .select('unsubscriptions.user_id')
    .where('is_open_notification', '=', false)
    .where((eb) => eb.or([eb('unsubscriptions.user_id', '=', userId), eb('address_digest', '=', addressDigest)]))
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Returns `true` for exactly one call per user, in the transaction of the work that depends on it. */
export async function beginOnboarding(db: Handle, userId: string): Promise<boolean> {
  return db
    .insertInto('onboardings')
    .values({ user_id: userId })
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .$call(hasChanged);
}

/** Stores nothing and returns `false` if the inviter is unknown or is the user, or if the user was invited before. */
export async function recordReferral(db: Handle, inviterId: string, inviteeId: string): Promise<boolean> {
  if (inviterId === inviteeId) return false;
  return db
    .insertInto('referrals')
    .columns(['inviter_id', 'invitee_id'])
    .expression((eb) =>
      eb
        .selectFrom('user_profiles')
        .select(['id', sql<string>`${inviteeId}::uuid`.as('invitee_id')])
        .where('id', '=', inviterId),
    )
    .onConflict((conflict) => conflict.column('invitee_id').doNothing())
    .$call(hasChanged);
}

export interface Listed {
  readonly id: string;
  readonly updatedAt: Date;
}

interface Page {
  readonly limit: number;
  /** The id of the last row of the previous page. An id that no longer exists returns no rows. */
  readonly after?: string | undefined;
}

const visible = {
  user_profiles: sql<boolean>`true`,
  feeds: sql<boolean>`(media_type is null or media_type in ('image', 'video')) and coalesce(cardinality(flag), 0) = 0`,
};

/** Lists users, or public feeds: no media type, `image` or `video`, and no flag (docs/specification/content.md#sitemaps). */
export function visibleRows(db: Handle, table: keyof typeof visible) {
  const from = sql.table(table);
  return {
    /** Oldest first. */
    async list({ limit, after }: Page): Promise<readonly Listed[]> {
      const isAfter = sql`(created_at, id) > (select seen.created_at, seen.id from ${from} as seen where seen.id = ${after})`;
      const { rows } = await sql<Listed>`
        select id, updated_at as "updatedAt" from ${from}
        where ${visible[table]} and ${after === undefined ? sql`true` : isAfter}
        order by created_at, id limit ${limit}`.execute(db);
      return rows;
    },
    /** Returns the last id of each page that is followed by another page. */
    async listPageEnds(size: number): Promise<readonly string[]> {
      const { rows } = await sql<{ id: string }>`
        select id from (
          select id, row_number() over (order by created_at, id) as place, count(*) over () as total
          from ${from} where ${visible[table]}
        ) as placed where place % ${size}::bigint = 0 and place < total order by place`.execute(db);
      return rows.map(({ id }) => id);
    },
  };
}

export interface Feed {
  readonly id: string;
  readonly ownerId: string;
  readonly mediaType?: string | undefined;
  readonly flag?: readonly string[] | undefined;
}

/** Inserts or replaces a feed. */
export async function putFeed(db: Handle, { id, ownerId, mediaType, flag }: Feed): Promise<void> {
  const row = { owner_id: ownerId, media_type: mediaType ?? null, flag: flag === undefined ? null : [...flag] };
  await db
    .insertInto('feeds')
    .values({ id, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ ...row, updated_at: now }))
    .execute();
}

/** The key that signs unsubscribe links. A migration creates it. */
export async function readUnsubscribeSecret(db: Handle): Promise<string> {
  const { secret } = await db.selectFrom('unsubscribe_keys').select('secret').executeTakeFirstOrThrow();
  return secret;
}
