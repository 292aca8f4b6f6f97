/** `MEDIA_MAX_BYTES_PER_OWNER`: the bytes of all assets of an owner. Watermark files and variants are no assets. */
import type { Caller } from '#platform/access/caller.ts';
import { type Db, holdName, type Tx, transaction } from '#platform/db/db.ts';
import type { OwnerUsage } from '../api.ts';
import type { MediaTables, StoredAsset } from '../assets/assetstore.ts';
import { ownerFor } from '../assets/ownership.ts';
import type { SizeLimits } from '../assets/sizelimits.ts';
import { type EventDeps, publishRegistered } from '../events.ts';
import { mediaProblems } from '../problems.ts';
import { sumAssets, sumBytes } from './quotastore.ts';

export interface QuotaDeps extends EventDeps {
  readonly db: Db<MediaTables>;
  readonly limits: Pick<SizeLimits, 'maxOwnerBytes'>;
}

/**
 * For early answers: `admit` decides. `assetId` does not count if it is registered. Throws 413 `quota_exceeded`.
 */
export async function assertRoom(
  { db, limits }: QuotaDeps,
  ownerId: string,
  byteSize: number,
  assetId?: string,
): Promise<void> {
  const { maxOwnerBytes } = limits;
  if (maxOwnerBytes === 0) return;
  if ((await sumBytes(db, ownerId, assetId)) + byteSize > maxOwnerBytes) throw mediaProblems.quota_exceeded();
}

/**
 * Makes a row readable (`mark`) if its owner has room for it. `alongside` writes in the same transaction: it runs last,
 * and if it throws, the row stays unreadable. Resolves as `mark`. Throws 413 `quota_exceeded`.
 */
export async function admit<Row extends StoredAsset>(
  deps: QuotaDeps,
  ownerId: string,
  mark: (handle: Db<MediaTables> | Tx<MediaTables>) => Promise<Row | undefined>,
  alongside?: (tx: Tx<MediaTables>) => Promise<void>,
): Promise<Row | undefined> {
  const { db, limits, webhooks } = deps;
  const { maxOwnerBytes } = limits;
  if (maxOwnerBytes === 0 && alongside === undefined && webhooks === undefined) return mark(db);
  return transaction(db, async (tx) => {
    // One after the other, so that each counts what those before it have added.
    if (maxOwnerBytes > 0) await holdName(tx, `media bytes ${ownerId}`);
    const row = await mark(tx);
    if (row === undefined) return undefined;
    if (maxOwnerBytes > 0 && (await sumBytes(tx, ownerId, undefined)) > maxOwnerBytes)
      throw mediaProblems.quota_exceeded();
    await publishRegistered(deps, tx, row);
    await alongside?.(tx);
    return row;
  });
}

/** Throws 400 (server without `ownerId`) and 403 (another owner). */
export async function readUsage(
  { db, limits }: QuotaDeps,
  caller: Caller,
  named: string | undefined,
): Promise<OwnerUsage> {
  const ownerId = ownerFor(caller, named, 'querystring.ownerId');
  return { ownerId, ...(await sumAssets(db, ownerId)), limitBytes: limits.maxOwnerBytes };
}
