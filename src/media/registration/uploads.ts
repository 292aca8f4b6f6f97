/**
 * `POST /v1/uploads`: an id, a storage key, a URL for one PUT and, on request, one for a resumable upload. Writes no
 * row, and needs no engine unless there is a quota.
 */
import { randomUUID } from 'node:crypto';
import type { Caller } from '#platform/access/caller.ts';
import type { Clock } from '#platform/clock.ts';
import type { UploadSigner } from '#platform/objects/addresses.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { invalid } from '#platform/problem.ts';
import type { UploadRequest, UploadReservation } from '../api.ts';
import { ownerFor } from '../assets/ownership.ts';
import { maxBytesOf, type SizeLimits } from '../assets/sizelimits.ts';
import { storageKeyOf } from '../assets/storagekey.ts';
import { mediaProblems } from '../problems.ts';
import { assertRoom, type QuotaDeps } from '../quota/quota.ts';

export interface ReservationDeps extends QuotaDeps {
  readonly objects: Pick<Objects, 'bucket' | 'writeAddress'>;
  /** `undefined`: no edge receives resumable uploads. */
  readonly signUpload: UploadSigner | undefined;
  readonly limits: SizeLimits;
  readonly clock: Clock;
}

const addressValidS = 300;
const resumableValidS = 86_400;

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
    throw mediaProblems.asset_too_large({ message: `byteSize must be at most ${maxSize} for ${mime}.` });
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
  const expiresAt = timeOf(expiresAtS);
  const resumable = request.resumable && byteSize !== undefined && signResumable(deps, storageKey, mime, byteSize);
  return { assetId, storageKey, uploadUrl: url, headers, expiresAt, ...(resumable && { resumable }) };
}

function signResumable(
  { objects, signUpload, clock }: ReservationDeps,
  key: string,
  contentType: string,
  size: number,
) {
  if (signUpload === undefined) throw invalid('body.resumable', 'is not available: set EDGE_URL and start the edge');
  const expires = Math.floor(clock.now() / 1000) + resumableValidS;
  const url = signUpload({ bucket: objects.bucket, key, expires, contentType, size });
  return { protocol: 'tus', url, expiresAt: timeOf(expires) } as const;
}

const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString();
