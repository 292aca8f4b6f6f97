/** The sends and the addresses that are written to no more: the only SQL of the notification service. */
import { type Generated, sql } from 'kysely';
import { type Db, json } from '#platform/db/db.ts';
import type { SkipReason } from './api.ts';
import type { Mail } from './mail.ts';

export type Endpoint = 'notify' | 'emails';
type Status = 'pending' | 'sent' | 'skipped' | 'failed';

export interface NotifyTables {
  notify_sends: {
    id: string;
    endpoint: Endpoint;
    idempotency_key: string | null;
    body_digest: string;
    status: Status;
    mail: Mail | null;
    provider_id: string | null;
    skip_reason: SkipReason | null;
    suppressed: Generated<readonly string[] | null>;
    attempt: Generated<number>;
    claimed_until: Date;
    created_at: Generated<Date>;
  };
  suppressed_addresses: { address: string; reason: string; created_at: Generated<Date> };
}

type Handle = Db<NotifyTables>;

/** How long a repeat of a key is answered from its row (docs/specification/notify.md#idempotency). */
const keptForHours = 24;

const columns = [
  'id',
  'body_digest as bodyDigest',
  'status',
  'mail',
  'provider_id as providerId',
  'skip_reason as skipReason',
  'suppressed',
  'attempt',
  'created_at as createdAt',
  sql<boolean>`claimed_until > clock_timestamp()`.as('isClaimed'),
] as const;

export type StoredSend = NonNullable<Awaited<ReturnType<typeof findSend>>>;

const isKept = sql<boolean>`created_at > clock_timestamp() - make_interval(hours => ${keptForHours})`;
const after = (ms: number) => sql<Date>`clock_timestamp() + make_interval(secs => ${ms / 1000})`;

export function findSend(db: Handle, endpoint: Endpoint, key: string) {
  return db
    .selectFrom('notify_sends')
    .select(columns)
    .where('endpoint', '=', endpoint)
    .where('idempotency_key', '=', key)
    .where(isKept)
    .executeTakeFirst();
}

export interface NewSend {
  readonly id: string;
  readonly endpoint: Endpoint;
  readonly key: string | undefined;
  readonly bodyDigest: string;
  readonly content: { readonly mail: Mail } | { readonly skipReason: SkipReason };
}

/** `false`: the key was taken meanwhile. A row that is past its time gives way. */
export async function insertSend(db: Handle, send: NewSend, claimMs: number): Promise<boolean> {
  const { id, endpoint, key, content } = send;
  const skipReason = 'skipReason' in content ? content.skipReason : null;
  const row = {
    id,
    body_digest: send.bodyDigest,
    status: skipReason === null ? ('pending' as const) : ('skipped' as const),
    mail: 'mail' in content ? json(content.mail) : null,
    provider_id: null,
    skip_reason: skipReason,
    suppressed: null,
    claimed_until: after(claimMs),
  };
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('notify_sends')
    .values({ ...row, endpoint, idempotency_key: key ?? null })
    .onConflict((conflict) =>
      conflict
        .columns(['endpoint', 'idempotency_key'])
        .where('idempotency_key', 'is not', null)
        .doUpdateSet({ ...row, attempt: 1, created_at: sql<Date>`clock_timestamp()` })
        .where(sql<boolean>`notify_sends.created_at <= clock_timestamp() - make_interval(hours => ${keptForHours})`),
    )
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** Takes a send over that nobody is at: its caller was told that it failed, or died. The new attempt, or `undefined`. */
export async function claimSend(db: Handle, seen: Claim, claimMs: number): Promise<number | undefined> {
  const row = await db
    .updateTable('notify_sends')
    .set((eb) => ({ status: 'pending', attempt: eb('attempt', '+', 1), claimed_until: after(claimMs) }))
    .where('id', '=', seen.id)
    .where('attempt', '=', seen.attempt)
    .where((eb) => eb.or([eb('status', '=', 'failed'), eb.and([eb('status', '=', 'pending'), lapsed])]))
    .returning('attempt')
    .executeTakeFirst();
  return row?.attempt;
}

const lapsed = sql<boolean>`claimed_until <= clock_timestamp()`;

/** Sends whose processes died, each for one caller of this alone. */
export async function claimLapsed(db: Handle, limit: number, claimMs: number) {
  return db
    .updateTable('notify_sends')
    .set((eb) => ({ attempt: eb('attempt', '+', 1), claimed_until: after(claimMs) }))
    .where(
      'id',
      'in',
      db
        .selectFrom('notify_sends')
        .select('id')
        .where('status', '=', 'pending')
        .where(lapsed)
        .orderBy('claimed_until')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning(['id', 'mail', 'attempt', isKept.as('isKept')])
    .execute();
}

/** At the start of the one process of an embedded database: whoever was at something is dead. */
export async function releaseAll(db: Handle): Promise<void> {
  await db
    .updateTable('notify_sends')
    .set({ claimed_until: sql<Date>`clock_timestamp()` })
    .where('status', '=', 'pending')
    .execute();
}

export interface Claim {
  readonly id: string;
  readonly attempt: number;
}

/** How it went; `false`: somebody else has taken it over. What was sent is no longer kept. */
export function markSent(
  db: Handle,
  claim: Claim,
  { providerId, suppressed }: { readonly providerId: string; readonly suppressed: readonly string[] },
): Promise<boolean> {
  const list = suppressed.length === 0 ? null : json(suppressed);
  return settle(db, claim, { status: 'sent', provider_id: providerId, suppressed: list, mail: null });
}

export function markFailed(db: Handle, claim: Claim): Promise<boolean> {
  return settle(db, claim, { status: 'failed' });
}

/** Its key is free again: what is refused with a 4xx is not kept. */
export async function dropSend(db: Handle, { id, attempt }: Claim): Promise<void> {
  await db
    .deleteFrom('notify_sends')
    .where('id', '=', id)
    .where('attempt', '=', attempt)
    .where('status', '=', 'pending')
    .execute();
}

/** Nobody waits for it: it is tried again by itself. */
export function postpone(db: Handle, claim: Claim, forMs: number): Promise<boolean> {
  return settle(db, claim, { claimed_until: after(forMs) });
}

async function settle(db: Handle, { id, attempt }: Claim, change: object): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('notify_sends')
    .set(change)
    .where('id', '=', id)
    .where('attempt', '=', attempt)
    .where('status', '=', 'pending')
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Sends are kept as long as their keys. */
export async function dropOld(db: Handle): Promise<void> {
  await db.deleteFrom('notify_sends').where(sql<boolean>`not (${isKept})`).where('status', '<>', 'pending').execute();
}

export async function findSuppressed(db: Handle, addresses: readonly string[]): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('suppressed_addresses')
    .select('address')
    .where(sql<boolean>`address = any(${addresses}::text[])`)
    .execute();
  return rows.map(({ address }) => address);
}

export async function suppress(
  db: Handle,
  refused: readonly { readonly address: string; readonly reason: string }[],
): Promise<void> {
  if (refused.length === 0) return;
  await db
    .insertInto('suppressed_addresses')
    .values(refused.map(({ address, reason }) => ({ address, reason })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** In the order of the addresses, those beyond `after`. */
export function listSuppressions(db: Handle, after: string | undefined, limit: number) {
  return db
    .selectFrom('suppressed_addresses')
    .select(['address', 'reason', 'created_at as since'])
    .$if(after !== undefined, (query) => query.where('address', '>', after ?? ''))
    .orderBy('address')
    .limit(limit)
    .execute();
}

/** Whether the address was suppressed. */
export async function liftSuppression(db: Handle, address: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('suppressed_addresses')
    .where('address', '=', address)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}
