/** The rows of uploads that were reserved and are not registered yet. Their bytes count toward the quota. */
import { sql } from 'kysely';
import { inCamelCase } from '#platform/db/db.ts';
import type { Handle } from '../tables.ts';

/** Each resumable upload of a key has a row, because each has partial bytes of its own. */
export interface ReservationKey {
  readonly storageKey: string;
  /** 0: unknown. */
  readonly declaredBytes: number;
  /** Empty: not resumable. */
  readonly uploadId: string;
}

export interface NewReservation extends ReservationKey {
  readonly assetId: string;
  readonly ownerId: string;
  readonly heldBytes: number;
  readonly expiresAt: Date;
}

const columns = inCamelCase('storage_key declared_bytes asset_id owner_id byte_size upload_id seen_at expires_at');

export type StoredReservation = Awaited<ReturnType<typeof findExpired>>[number];

/**
 * Writes the row, or makes an existing one last longer. The size of an object that was seen stays. Writes nothing if the
 * key is that of an asset, because nothing more can be uploaded to it.
 */
export async function writeReservation(db: Handle, reservation: NewReservation): Promise<void> {
  const { storageKey, declaredBytes, assetId, ownerId, heldBytes, uploadId, expiresAt } = reservation;
  await sql`
    insert into upload_reservations
      (storage_key, declared_bytes, asset_id, owner_id, byte_size, held_bytes, upload_id, expires_at)
    select ${storageKey}::text, ${declaredBytes}::bigint, ${assetId}::uuid, ${ownerId}::uuid, ${declaredBytes}::bigint,
      ${heldBytes}::bigint, ${uploadId}::text, ${expiresAt}::timestamptz
    where not exists (
      select from assets where asset_id = ${assetId}::uuid and storage_key = ${storageKey}::text and ready_at is not null
    )
    on conflict (storage_key, declared_bytes, upload_id) do update set
      byte_size = greatest(upload_reservations.byte_size, excluded.byte_size),
      held_bytes = case when upload_reservations.seen_at is null then excluded.held_bytes else 0 end,
      expires_at = greatest(upload_reservations.expires_at, excluded.expires_at)`.execute(db);
}

/** Whether a readable asset has this storage key, so that nothing more can be uploaded to it. */
export async function isRegistered(db: Handle, assetId: string, storageKey: string): Promise<boolean> {
  const { rows } = await sql`select from assets
    where asset_id = ${assetId} and storage_key = ${storageKey} and ready_at is not null`.execute(db);
  return rows.length > 0;
}

export interface ReservedBytes {
  readonly bytes: number;
  /** Bytes that uploads of unknown size may use. */
  readonly held: number;
}

/** The sums of an owner without `except`, from an index alone. */
export function sumReserved(db: Handle, ownerId: string, except?: ReservationKey): Promise<ReservedBytes> {
  return db
    .selectFrom('upload_reservations')
    .select([
      sql<number>`coalesce(sum(byte_size), 0)::bigint`.as('bytes'),
      sql<number>`coalesce(sum(held_bytes), 0)::bigint`.as('held'),
    ])
    .where('owner_id', '=', ownerId)
    .$if(except !== undefined, (query) =>
      query.where(
        sql<boolean>`(storage_key, declared_bytes, upload_id)
          <> (${except?.storageKey}, ${except?.declaredBytes}::bigint, ${except?.uploadId})`,
      ),
    )
    .executeTakeFirstOrThrow();
}

/** Reservations of unknown size whose object was not seen yet. */
export function findUnseen(db: Handle, ownerId: string, limit: number) {
  return db
    .selectFrom('upload_reservations')
    .select(columns)
    .where((eb) => eb.and({ owner_id: ownerId, declared_bytes: 0 }))
    .where('seen_at', 'is', null)
    .limit(limit)
    .execute();
}

/** The size of an announced upload stays: its parts can have as many bytes beside the object. */
export async function noteObject(
  db: Handle,
  { storageKey, declaredBytes, uploadId }: ReservationKey,
  byteSize: number,
  seenAt: Date,
): Promise<void> {
  await db
    .updateTable('upload_reservations')
    .set({ byte_size: sql<number>`greatest(byte_size, ${byteSize}::bigint)`, held_bytes: 0, seen_at: seenAt })
    .where((eb) => eb.and({ storage_key: storageKey, declared_bytes: declaredBytes, upload_id: uploadId }))
    .where('seen_at', 'is', null)
    .execute();
}

export function findExpired(db: Handle, before: Date, ownerId: string | undefined, limit: number) {
  return db
    .selectFrom('upload_reservations')
    .select(columns)
    .where('expires_at', '<=', before)
    .$if(ownerId !== undefined, (query) => query.where('owner_id', '=', String(ownerId)))
    .orderBy('expires_at')
    .limit(limit)
    .execute();
}

const unchanged = ({ storageKey, declaredBytes, uploadId, expiresAt }: StoredReservation) => sql`
  storage_key = ${storageKey} and declared_bytes = ${declaredBytes} and upload_id = ${uploadId}
  and expires_at = ${expiresAt}`;

/** Does nothing if the row was renewed since it was read. */
export async function postponeReservation(db: Handle, seen: StoredReservation, expiresAt: Date): Promise<void> {
  await sql`update upload_reservations set expires_at = ${expiresAt} where ${unchanged(seen)}`.execute(db);
}

/** Does nothing if the row was renewed since it was read. */
export async function dropReservation(db: Handle, seen: StoredReservation): Promise<void> {
  await sql`delete from upload_reservations where ${unchanged(seen)}`.execute(db);
}

/**
 * The object became an asset, or was refused and removed. The partial bytes of a resumable upload can still exist, so
 * its row expires at once, and the upload is ended with it.
 */
export async function settleReservations(db: Handle, storageKey: string): Promise<void> {
  await sql`
    with single as (delete from upload_reservations where storage_key = ${storageKey} and upload_id = '')
    ${endOfUploads(storageKey)}`.execute(db);
}

/** Gives back the bytes of the resumable uploads of a key. They expire at once. */
export async function endUploads(db: Handle, storageKey: string): Promise<void> {
  await endOfUploads(storageKey).execute(db);
}

const endOfUploads = (storageKey: string) => sql`
  update upload_reservations set ${settled} where storage_key = ${storageKey} and upload_id <> ''`;

/** Of all uploads of an owner. */
export async function settleReservationsOf(db: Handle, ownerId: string): Promise<void> {
  await sql`update upload_reservations set ${settled} where owner_id = ${ownerId}`.execute(db);
}

const settled = sql`byte_size = 0, held_bytes = 0, expires_at = to_timestamp(0)`;

// The bytes of an owner's assets.

/** The name that every change of the bytes of an owner holds. */
export const ownerLock = (ownerId: string) => `media bytes ${ownerId}`;

/** Returns the number of an owner's readable assets and their bytes, from an index alone. */
export function sumAssets(db: Handle, ownerId: string): Promise<{ readonly assets: number; readonly bytes: number }> {
  return db
    .selectFrom('assets')
    .select([sql<number>`count(*)::bigint`.as('assets'), sql<number>`coalesce(sum(byte_size), 0)::bigint`.as('bytes')])
    .where('owner_id', '=', ownerId)
    .where('ready_at', 'is not', null)
    .executeTakeFirstOrThrow();
}
