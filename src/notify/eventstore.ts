/** The rows of mail events: our own, and those of the provider. */
import { sql } from 'kysely';
import { deleteBatch } from '#platform/background/removal.ts';
import { type Db, hasChanged, type Tx } from '#platform/db/db.ts';
import type { EventType } from './emailapi.ts';
import type { NotifyTables } from './tables.ts';

type Handle = Db<NotifyTables> | Tx<NotifyTables>;

export interface OwnEvent {
  readonly type: EventType;
  readonly reason?: string;
}

export async function addEvents(db: Handle, sendId: string, events: readonly OwnEvent[]): Promise<void> {
  const rows = events.map(({ type, reason = null }) => ({ send_id: sendId, type, reason }));
  await db
    .insertInto('notify_events')
    .values(rows.map((row) => ({ ...row, provider_id: null, source_id: null })))
    .execute();
}

export interface ForeignEvent {
  readonly sourceId: string;
  readonly providerId: string;
  readonly type: EventType;
  readonly reason: string | undefined;
}

/** `false`: it exists already. */
export async function addForeignEvent(tx: Tx<NotifyTables>, event: ForeignEvent): Promise<boolean> {
  const { sourceId, providerId, type, reason = null } = event;
  return tx
    .insertInto('notify_events')
    .values({ send_id: null, provider_id: providerId, type, reason, source_id: sourceId })
    .onConflict((conflict) => conflict.column('source_id').doNothing())
    .$call(hasChanged);
}

/** Returns the newest `limit` events, the oldest of them first. */
export async function listEvents(
  db: Handle,
  { id, providerId }: { readonly id: string; readonly providerId: string | null },
  limit: number,
) {
  const rows = await db
    .selectFrom('notify_events')
    .select(['type', 'reason', 'created_at as createdAt'])
    .where((eb) =>
      eb.or([eb('send_id', '=', id), ...(providerId === null ? [] : [eb('provider_id', '=', providerId)])]),
    )
    .orderBy('event_id', 'desc')
    .limit(limit)
    .execute();
  return rows.toReversed();
}

interface Identified {
  readonly id: string;
  readonly providerId: string | null;
}

/** The events of several sends, by the id of the send, the oldest first. */
export async function listEventsOf(
  db: Handle,
  sends: readonly Identified[],
): Promise<ReadonlyMap<string, readonly EventType[]>> {
  const ids = sends.map(({ id }) => id);
  const providerIds = sends.flatMap(({ providerId }) => (providerId === null ? [] : [providerId]));
  const rows = await db
    .selectFrom('notify_events')
    .select(['type', 'send_id as sendId', 'provider_id as providerId'])
    .where((eb) =>
      eb.or([sql<boolean>`send_id = any(${ids}::uuid[])`, sql<boolean>`provider_id = any(${providerIds}::text[])`]),
    )
    .orderBy('event_id')
    .execute();
  return new Map(
    sends.map(({ id, providerId }) => [
      id,
      rows
        .filter((row) => row.sendId === id || (row.providerId !== null && row.providerId === providerId))
        .map(({ type }) => type),
    ]),
  );
}

/** Longer than sends are stored, so that no send loses its events. */
const keptForDays = 62;

/** At most `limit`. Returns how many. */
export async function dropOldEvents(db: Handle, limit: number): Promise<number> {
  const old = sql`created_at < now() - make_interval(days => ${keptForDays})`;
  return deleteBatch(db, 'notify_events', ['event_id'], sql`${old} order by created_at limit ${limit}`);
}
