/** `GET /v1/usage`: the storage that an owner's assets use (docs/specification/media.md#usage). */
import type { Caller } from '#platform/access/caller.ts';
import type { OwnerUsage } from '../api.ts';
import { ownerFor } from '../assets/ownership.ts';
import type { QuotaDeps } from './quota.ts';
import { sumAssets } from './quotastore.ts';

/** Throws 400 (server without `ownerId`) and 403 (another owner). */
export async function readUsage(
  { db, limits }: QuotaDeps,
  caller: Caller,
  named: string | undefined,
): Promise<OwnerUsage> {
  const ownerId = ownerFor(caller, named, 'querystring.ownerId');
  return { ownerId, ...(await sumAssets(db, ownerId)), limitBytes: limits.maxOwnerBytes };
}
