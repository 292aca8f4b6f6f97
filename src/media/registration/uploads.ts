/** `POST /v1/uploads`: an id, a storage key and a URL for one PUT. Writes no row, and needs no engine unless there is a quota. */
import { randomUUID } from 'node:crypto';
import type { Caller } from '#platform/access/caller.ts';
import type { Clock } from '#platform/clock.ts';
import type { Objects } from '#platform/objects/objects.ts';
import type { UploadRequest, UploadReservation } from '../api.ts';
import { ownerFor } from '../assets/ownership.ts';
import { maxBytesOf, type SizeLimits } from '../assets/sizelimits.ts';
import { storageKeyOf } from '../assets/storagekey.ts';
import { mediaProblems } from '../problems.ts';
import { assertRoom, type QuotaDeps } from '../quota/quota.ts';

export interface ReservationDeps extends QuotaDeps {
  readonly objects: Pick<Objects, 'writeAddress'>;
  readonly limits: SizeLimits;
  readonly clock: Clock;
}

const addressValidS = 300;

/** Throws 400 and 403 as `ownerFor`, and 413 when the announced size is over the limit of its class or of its owner. */
export async function reserveUpload(
  deps: ReservationDeps,
  caller: Caller,
  request: UploadRequest,
): Promise<UploadReservation> {
  const { scopeKind, scopeId, mime, byteSize } = request;
  const maxSize = maxBytesOf(mime, deps.limits);
  // The form is checked before the permission (docs/specification/http.md#order-of-checks).
  if (byteSize !== undefined && byteSize > maxSize) {
    throw mediaProblems.asset_too_large({ message: `byteSize may be at most ${maxSize} for ${mime}.` });
  }
  const ownerId = ownerFor(caller, request.ownerId);
  // At least one byte will come.
  await assertRoom(deps, ownerId, byteSize ?? 1, request.assetId);
  const assetId = request.assetId ?? randomUUID();
  const storageKey = storageKeyOf({ ownerId, scopeKind, scopeId, assetId, mime });
  // URLs expire at whole seconds.
  const expiresAtS = Math.floor(deps.clock.now() / 1000) + addressValidS;
  const { url, headers } = deps.objects.writeAddress(storageKey, {
    expiresInS: addressValidS,
    contentType: mime,
    size: byteSize,
    maxSize,
  });
  return { assetId, storageKey, uploadUrl: url, headers, expiresAt: new Date(expiresAtS * 1000).toISOString() };
}
