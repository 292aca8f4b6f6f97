/** `MEDIA_MAX_BYTES_PER_OWNER`: the bytes of all assets and reserved uploads of an owner. Watermark files and variants are no assets. */
import type { Caller } from '#platform/access/caller.ts';
import { holdName, type Tx, transaction } from '#platform/db/db.ts';
import { Problem } from '#platform/problem.ts';
import type { MediaUsage } from '../api.ts';
import type { StoredAsset } from '../assets/assetstore.ts';
import { ownerFor } from '../assets/ownership.ts';
import type { MediaStores } from '../context.ts';
import { publishRegistered } from '../events.ts';
import { mediaProblems } from '../problems.ts';
import { expireReservations } from '../sweeping/reservations.ts';
import type { Handle, MediaTables } from '../tables.ts';
import { ownerLock, settleReservations, sumAssets, sumReserved } from './reservationstore.ts';
import { noteObjects } from './reserving.ts';

/** For early answers to copies: `admit` decides. Throws 413 `quota_exceeded`. */
export async function assertRoom({ db, limits }: MediaStores, ownerId: string, byteSize: number): Promise<void> {
  const { maxOwnerBytes } = limits;
  if (maxOwnerBytes === 0) return;
  if ((await sumUsed(db, ownerId)) + byteSize > maxOwnerBytes) throw mediaProblems.quota_exceeded();
}

async function sumUsed(db: Handle, ownerId: string): Promise<number> {
  return (await sumAssets(db, ownerId)).bytes + (await sumReserved(db, ownerId)).bytes;
}

/**
 * Makes a row readable (`mark`) if its owner has room for it. `alongside` writes in the same transaction: it runs last,
 * and if it throws, the row stays unreadable. Resolves as `mark`. Throws 413 `quota_exceeded`.
 */
export async function admit<Row extends StoredAsset>(
  deps: MediaStores,
  ownerId: string,
  mark: (tx: Tx<MediaTables>) => Promise<Row | undefined>,
  alongside?: (tx: Tx<MediaTables>) => Promise<void>,
): Promise<Row | undefined> {
  const { db, limits } = deps;
  const { maxOwnerBytes } = limits;
  return transaction(db, async (tx) => {
    // One after the other, so that each counts what those before it have added.
    if (maxOwnerBytes > 0) await holdName(tx, ownerLock(ownerId));
    const row = await mark(tx);
    if (row === undefined) return undefined;
    await settleReservations(tx, row.storageKey);
    if (maxOwnerBytes > 0 && (await sumUsed(tx, ownerId)) > maxOwnerBytes) throw mediaProblems.quota_exceeded();
    await publishRegistered(deps, tx, row);
    await alongside?.(tx);
    return row;
  });
}

/** Throws 400 (server without `ownerId`) and 403 (another owner). */
export async function readUsage(deps: MediaStores, caller: Caller, named: string | undefined): Promise<MediaUsage> {
  const ownerId = ownerFor(caller, named, 'querystring.ownerId');
  await settle(deps, ownerId);
  const reserved = await sumReserved(deps.db, ownerId);
  const used = await sumAssets(deps.db, ownerId);
  return { ownerId, ...used, reservedBytes: reserved.bytes, limitBytes: deps.limits.maxOwnerBytes };
}

/** Without the object store, the response shows what the rows have. */
async function settle(deps: MediaStores, ownerId: string): Promise<void> {
  try {
    await expireReservations(deps, ownerId);
    await noteObjects(deps, ownerId);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}
