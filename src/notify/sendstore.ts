/** The rows of sends, with their results. */
import { type RawBuilder, sql } from 'kysely';
import type { z } from 'zod';
import { deleteBatch, findOverdueS, removeAll } from '#platform/background/removal.ts';
import { type Db, hasChanged, inCamelCase, json, type Tx } from '#platform/db/db.ts';
import { isUuid } from '#platform/ids.ts';
import type { JobInsertion } from '#platform/jobs/jobs.ts';
import type { SkipReason } from './api.ts';
import type { emailListing } from './emailapi.ts';
import { addEvents } from './eventstore.ts';
import { addressOf, type Mail } from './mail.ts';
import type { Delivered } from './outcomes.ts';
import { blocking } from './suppressionstore.ts';
import type { Endpoint, NotifyTables, SendStatus } from './tables.ts';

type Handle = Db<NotifyTables> | Tx<NotifyTables>;

/** How long a repeated key returns the first response (docs/specification/notify.md#idempotency). */
const keptForHours = 24;
const triedForHours = 24;
/** How long the status of a mail can be read. */
const shownForDays = 30;

/** Omits the mail, because a waiting caller reads this several times a second. */
const columns = inCamelCase('id body_digest status provider_id skip_reason failure suppressed scheduled_at');

export type StoredSend = NonNullable<Awaited<ReturnType<typeof findSend>>>;

const isRetained = sql<boolean>`created_at > clock_timestamp() - make_interval(hours => ${keptForHours})`;

/** In the order of the keys. */
export function findByKeys(db: Handle, endpoint: Endpoint, keys: readonly string[]) {
  return db
    .selectFrom('notify_sends')
    .select(columns)
    .where('endpoint', '=', endpoint)
    .where(sql<boolean>`idempotency_key = any(${keys}::text[])`)
    .where(isRetained)
    .orderBy(sql`array_position(${keys}::text[], idempotency_key)`)
    .execute();
}

export function findSend(db: Handle, id: string) {
  return db.selectFrom('notify_sends').select(columns).where('id', '=', id).executeTakeFirst();
}

export interface NewSend {
  readonly id: string;
  readonly endpoint: Endpoint;
  readonly key: string | undefined;
  readonly bodyDigest: string;
  readonly content: { readonly mail: Mail } | { readonly skipReason: SkipReason };
  readonly scheduledAt?: Date | undefined;
}

/** `false`: another request took the key, or an expired row has it (`releaseKeys`). */
export async function insertSend(db: Handle, send: NewSend): Promise<boolean> {
  const { numAffectedRows } = await insertion(send, 'pending').execute(db);
  return numAffectedRows === 1n;
}

/** A send whose first attempt begins. */
export interface BegunSend {
  /** As every attempt reads it: jsonb has an order of its own for the names of headers. */
  readonly mail: Mail;
  /** Those of its recipients that are suppressed. */
  readonly suppressed: readonly string[];
  /** Those that a server accepted in earlier attempts. */
  readonly accepted: readonly string[];
}

/** Inserts a send with its job. `undefined`: as the `false` of `insertSend`. */
export async function insertSendWithJob(
  db: Db<NotifyTables>,
  send: NewSend,
  { isClaimed, statement }: JobInsertion,
): Promise<BegunSend | undefined> {
  const status = isClaimed ? 'sending' : 'pending';
  const reach = 'mail' in send.content ? blocking(send.content.mail) : [];
  const { rows } = await sql<BegunSend>`
    with send as (${insertion(send, status)} returning mail, addresses, accepted), job as (${statement('send')})
    select mail, accepted, array(
      select address from suppressed_addresses where address = any(addresses) and blocks = any(${reach}::text[])
    ) as suppressed
    from send`.execute(db);
  return rows[0];
}

function insertion(send: NewSend, status: 'pending' | 'sending') {
  const { id, endpoint, key, bodyDigest, content, scheduledAt } = send;
  const mail = 'mail' in content ? content.mail : undefined;
  const skipReason = 'skipReason' in content ? content.skipReason : null;
  const text = (value: object | undefined) => (value === undefined ? null : JSON.stringify(value));
  return sql`
    insert into notify_sends (id, endpoint, idempotency_key, body_digest, status, mail, subject, addresses, recipients, tags,
      scheduled_at, skip_reason)
    values (${id}, ${endpoint}, ${key ?? null}, ${bodyDigest}, ${mail === undefined ? 'skipped' : status},
      ${text(mail)}::jsonb, ${mail?.subject ?? null}, ${mail === undefined ? [] : addressesOf(mail)}::text[],
      ${text(mail?.to)}::jsonb, ${text(mail?.tags)}::jsonb, ${scheduledAt ?? null}, ${skipReason})
    on conflict (endpoint, idempotency_key) where idempotency_key is not null do nothing`;
}

const addressesOf = ({ to, cc, bcc }: Mail) => [...to, ...cc, ...bcc].flatMap((one) => addressOf(one) ?? []);

/** Releases the keys of expired rows. */
export async function releaseKeys(db: Handle, endpoint: Endpoint, keys: readonly string[]): Promise<void> {
  await db
    .updateTable('notify_sends')
    .set({ idempotency_key: null })
    .where('endpoint', '=', endpoint)
    .where(sql<boolean>`idempotency_key = any(${keys}::text[])`)
    .where(sql<boolean>`not (${isRetained})`)
    .execute();
}

/** A mail is tried for a day from when it was due. */
const isTimely = sql<boolean>`
  coalesce(scheduled_at, created_at) > clock_timestamp() - make_interval(hours => ${triedForHours})`;

/** Marks the start of an attempt. `undefined`: the send has ended, or was deleted. */
export function beginTry(db: Handle, id: string) {
  return db
    .updateTable('notify_sends')
    .set({ status: 'sending', failure: null })
    .where('id', '=', id)
    .where('status', 'in', unfinished)
    .returning(['mail', 'accepted', isTimely.as('isTimely')])
    .executeTakeFirst();
}

const unfinished: readonly SendStatus[] = ['pending', 'sending'];

/** `failure` is empty during an attempt. */
const hasFailed = sql<boolean>`(failure is not null or exists (
  select from notify_events where send_id = notify_sends.id and type = 'delivery_delayed'))`;

/** Changes a send that has not ended; `false`: it has. */
async function change(db: Handle, id: string, values: object): Promise<boolean> {
  return db
    .updateTable('notify_sends')
    .set(values)
    .where('id', '=', id)
    .where('status', 'in', unfinished)
    .$call(hasChanged);
}

/** Deletes the email after it was sent. `completion`: as in `Job.completeBy`. */
export async function markSent(
  db: Handle,
  id: string,
  { providerId, suppressed }: Delivered,
  completion: RawBuilder<unknown>,
): Promise<boolean> {
  const list = suppressed.length === 0 ? null : JSON.stringify(suppressed);
  const types = list === null ? ['sent'] : ['sent', 'suppressed'];
  const { rows } = await sql`
    with job as (${completion}), send as (
      update notify_sends set status = 'sent', provider_id = ${providerId}, suppressed = ${list}::jsonb, failure = null, mail = null
      where id = ${id} and exists (select from job)
    ), events as (
      insert into notify_events (send_id, type, reason)
      select ${id}::uuid, type, case type when 'suppressed' then ${suppressed.join(', ')}::text end
      from job, unnest(${types}::text[]) as type
    )
    select from job`.execute(db);
  return rows.length === 1;
}

/** Records a failed attempt. Unless a caller ends the send, its job tries it again. */
export async function noteFailure(
  tx: Tx<NotifyTables>,
  id: string,
  failure: string,
  accepted: readonly string[],
): Promise<void> {
  if (await change(tx, id, { status: 'pending', failure, accepted: sql`accepted || ${accepted}::text[]` }))
    await addEvents(tx, id, [{ type: 'delivery_delayed', reason: failure }]);
}

export interface Failure {
  readonly failure: string;
  /** Every recipient, if all of them are suppressed. */
  readonly suppressed?: readonly string[];
}

/** Ends a send that was not sent. `false`: it had ended before. */
export async function markFailed(tx: Tx<NotifyTables>, id: string, end: Failure): Promise<boolean> {
  const { failure, suppressed } = end;
  // A notification without a recipient is skipped, and its key returns the same later.
  const skipReason = sql`case endpoint when 'notify' then 'suppressed' end`;
  const list = suppressed === undefined ? {} : { suppressed: json(suppressed), skip_reason: skipReason };
  const isChanged = await change(tx, id, { status: 'failed', failure, ...list });
  if (isChanged) await addEvents(tx, id, [{ type: 'failed', reason: failure }]);
  return isChanged;
}

/** Ends a mail that no caller waits for, unless an attempt has begun. */
export async function cancelWaiting(tx: Tx<NotifyTables>, id: string): Promise<boolean> {
  const isCanceled = await tx
    .updateTable('notify_sends')
    .set({ status: 'canceled', mail: null })
    .where((eb) => eb.and({ id, status: 'pending' }))
    .where((eb) => eb.or([eb('scheduled_at', 'is not', null), eb('endpoint', '=', 'batch')]))
    .$call(hasChanged);
  if (isCanceled) await addEvents(tx, id, [{ type: 'canceled' }]);
  return isCanceled;
}

const suppressedNow = sql<readonly string[]>`array(select address from suppressed_addresses
  where address = any(addresses) and (blocks = 'all' or mail->>'audience' is distinct from 'account'))`;

/** By our id or the provider's. `undefined`: unknown, or a notification that was skipped. */
export function findEmail(db: Handle, id: string) {
  return db
    .selectFrom('notify_sends')
    .select([
      ...inCamelCase('id status provider_id subject recipients tags scheduled_at created_at mail failure accepted'),
      'idempotency_key as key',
      isTimely.as('isTimely'),
      suppressedNow.as('suppressed'),
    ])
    .where((eb) => eb.or([eb('provider_id', '=', id), ...(isUuid(id) ? [eb('id', '=', id)] : [])]))
    .where('status', '<>', 'skipped')
    .executeTakeFirst();
}

/** The outbox has no ids of its own. A mail server that accepted some recipients before others were suppressed has none either. */
const isInOutbox = sql<boolean>`coalesce(status = 'sent' and provider_id = id::text and accepted = '{}', false)`;

/** By the waiting job of the service that requested it, whose key is the id or key of the email, or in it. */
const isRequestedAgain = sql<boolean>`exists (select from jobs where jobs.status = 'waiting' and unique_key = any(
  array[notify_sends.id::text, idempotency_key] || (string_to_array(idempotency_key, ' '))[2:]))`;

/** Searches the jobs for each mail that failed. */
const isDelayed = sql<boolean>`case notify_sends.status when 'failed' then ${isRequestedAgain}
  else notify_sends.status in ('pending', 'sending') and ${hasFailed} end`;

type Listing = Partial<Omit<z.output<typeof emailListing>, 'limit'>> & {
  /** Bare, in lower case. */
  readonly address?: string;
};

/** Newest first. Skipped notifications are left out. */
export function listSends(db: Handle, { after, q = '', status, address }: Listing, limit: number) {
  const words = q.trim();
  const pattern = `%${words.replace(/[\\%_]/g, '\\$&')}%`;
  // An array: the planner would otherwise search the mails of everyone by age, because it expects many matches.
  const toAddress = sql`array(select id from notify_sends where addresses @> array[${address}]::text[])`;
  const previous = sql`(select created_at, id from notify_sends where id = ${after ?? null})`;
  return db
    .selectFrom('notify_sends')
    .select(inCamelCase('id status provider_id subject recipients failure scheduled_at created_at'))
    .select([isInOutbox.as('inOutbox'), 'idempotency_key as key'])
    .$if(address !== undefined, (query) => query.select(isDelayed.as('isDelayed')))
    .where('status', '<>', 'skipped')
    .$if(status === 'failed', (query) =>
      query.where('status', '=', 'failed').where(sql<boolean>`not ${isRequestedAgain}`),
    )
    .$if(status === 'delayed', (query) => query.where(isDelayed))
    .$if(address !== undefined, (query) => query.where(sql<boolean>`id = any(${toAddress})`))
    .$if(after !== undefined, (query) => query.where(sql<boolean>`(created_at, id) < ${previous}`))
    .$if(words !== '', (query) => query.where(sql<boolean>`concat_ws(' ', subject, recipients::text) ilike ${pattern}`))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
}

/** Restarts a send that ended with a failure. `false`: another request has done so. */
export async function reopen(db: Handle, id: string): Promise<boolean> {
  return db
    .updateTable('notify_sends')
    .set({ status: 'pending', failure: null, suppressed: null })
    .where((eb) => eb.and({ id, status: 'failed' }))
    .$call(hasChanged);
}

/** Restarts a send that waits after a failure which no caller has seen. `false`: another request has done so. */
export async function claimFailed(db: Handle, id: string): Promise<boolean> {
  return db
    .updateTable('notify_sends')
    .set({ failure: null })
    .where((eb) => eb.and({ id, status: 'pending' }))
    .where('failure', 'is not', null)
    .$call(hasChanged);
}

/** Releases the key of a send that ended, because 4xx responses are not stored. */
export async function freeKey(db: Handle, id: string): Promise<void> {
  await db.updateTable('notify_sends').set({ idempotency_key: null }).where('id', '=', id).execute();
}

/** Mails that were not sent are stored as long as their keys, and the status of a mail longer. */
export async function dropOld(db: Db<NotifyTables>, stopped: AbortSignal): Promise<void> {
  await removeAll(droppedAtOnce, (limit) => dropMails(db, limit), stopped);
  await removeAll(droppedAtOnce, (limit) => dropSends(db, limit), stopped);
}

const droppedAtOnce = 500;
/** Both conditions have their own index. */
const dueAt = sql`coalesce(scheduled_at, created_at)`;

async function dropMails(db: Handle, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    with old as materialized (
      select id from notify_sends
      where mail is not null and status not in ('pending', 'sending')
        and ${dueAt} < now() - make_interval(hours => ${triedForHours})
      order by ${dueAt} limit ${limit} for update skip locked
    )
    update notify_sends set mail = null from old where notify_sends.id = old.id`.execute(db);
  return Number(numAffectedRows);
}

async function dropSends(db: Handle, limit: number): Promise<number> {
  const old = sql`status not in ('pending', 'sending') and ${dueAt} < now() - make_interval(days => ${shownForDays})`;
  return deleteBatch(db, 'notify_sends', ['id'], sql`${old} order by ${dueAt} limit ${limit}`);
}

export const findOverdueSendsS = (db: Db<NotifyTables>) =>
  findOverdueS(db, dueAt, sql`notify_sends where status not in ('pending', 'sending')`, shownForDays * 86_400);
