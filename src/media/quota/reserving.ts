/**
 * Room for uploads, from their reservation on. An announced size counts at once. An upload of unknown size may use what
 * is left, which its URL enforces on files, and counts from its arrival on. Reservations of one owner are written one
 * after the other, so that together they never exceed the quota.
 */

import { mapConcurrently } from '#platform/concurrency.ts';
import { holdName, transaction } from '#platform/db/db.ts';
import { randomHex } from '#platform/ids.ts';
import { Problem } from '#platform/problem.ts';
import type { MediaStores } from '../context.ts';
import { headsAtOnce } from '../lookup/assetlookup.ts';
import { mediaProblems } from '../problems.ts';
import { expireReservations } from '../sweeping/reservations.ts';
import type { Handle } from '../tables.ts';
import * as store from './reservationstore.ts';

export interface WantedUpload {
  readonly assetId: string;
  readonly ownerId: string;
  readonly storageKey: string;
  /** `undefined`: unknown. */
  readonly byteSize: number | undefined;
  /** Of its class. */
  readonly maxSize: number;
  readonly resumable: boolean;
}

export interface Reserved {
  /** The largest object that the upload may create. */
  readonly maxSize: number;
  /** The id of the resumable upload. Empty: not resumable. */
  readonly uploadId: string;
}

/** Throws 413 `quota_exceeded`. Without a quota, an upload can be reserved while the database does not respond. */
export async function reserveRoom(deps: MediaStores, upload: WantedUpload): Promise<Reserved> {
  const wanted = { ...upload, uploadId: upload.resumable ? randomHex(16) : '' };
  const { uploadId, maxSize, ownerId, storageKey } = wanted;
  if (deps.limits.maxOwnerBytes === 0) {
    await writeRow(deps, deps.db, wanted, 0).catch(ignoreUnavailable);
    return { uploadId, maxSize };
  }
  await noteObjects(deps, ownerId);
  let most = await reserveWithin(deps, wanted);
  if (most === undefined) {
    // The bytes of earlier uploads of the same object, and of what has expired, are free as soon as they are removed.
    await store.endUploads(deps.db, storageKey);
    if ((await expireReservations(deps, ownerId)) > 0) most = await reserveWithin(deps, wanted);
  }
  if (most === undefined) throw mediaProblems.quota_exceeded();
  return { uploadId, maxSize: most };
}

/** Learns the sizes of uploads of unknown size that have arrived. Throws `engine_unavailable`. */
export async function noteObjects({ db, objects, clock }: MediaStores, ownerId: string): Promise<void> {
  const unseen = await store.findUnseen(db, ownerId, mostUnseen);
  await mapConcurrently(unseen, headsAtOnce, async (row) => {
    const head = await objects.head(row.storageKey);
    if (head !== undefined) await store.noteObject(db, row, head.size, new Date(clock.now()));
  });
}

/** Without a quota, an owner can have any number. */
const mostUnseen = 1000;

type Wanted = WantedUpload & { readonly uploadId: string };

/** Returns the largest size of the object. `undefined`: there is no room. */
function reserveWithin(deps: MediaStores, wanted: Wanted): Promise<number | undefined> {
  const { maxOwnerBytes } = deps.limits;
  const { ownerId, assetId, storageKey, byteSize, maxSize } = wanted;
  return transaction(deps.db, async (tx) => {
    await holdName(tx, store.ownerLock(ownerId));
    // Nothing more can arrive under this key.
    if (await store.isRegistered(tx, assetId, storageKey)) return maxSize;
    const { bytes, held } = await store.sumReserved(tx, ownerId, keyOf(wanted));
    const room = maxOwnerBytes - (await store.sumAssets(tx, ownerId)).bytes - bytes;
    if (byteSize !== undefined) {
      if (byteSize > Math.max(0, room)) return undefined;
      await writeRow(deps, tx, wanted, 0);
      return maxSize;
    }
    const most = Math.min(maxSize, room - held);
    if (most < 1) return undefined;
    await writeRow(deps, tx, wanted, most);
    return most;
  });
}

function writeRow({ clock, limits }: MediaStores, handle: Handle, wanted: Wanted, heldBytes: number): Promise<void> {
  const { assetId, ownerId } = wanted;
  const expiresAt = new Date(clock.now() + limits.uploadTtlS * 1000);
  return store.writeReservation(handle, { ...keyOf(wanted), assetId, ownerId, heldBytes, expiresAt });
}

const keyOf = ({ storageKey, byteSize, uploadId }: Wanted): store.ReservationKey => ({
  storageKey,
  declaredBytes: byteSize ?? 0,
  uploadId,
});

/** A sweep finds what has no row. */
function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof Problem) || error.status !== 503 || error.code === 'storage_full') throw error;
}
