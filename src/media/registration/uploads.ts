/**
 * `POST /v1/uploads`: an id, a storage key, a URL for one PUT and, on request, one for a resumable upload. The row of
 * the reservation counts toward the quota, and lets the upload be removed in time.
 */
import { randomUUID } from 'node:crypto';
import type { Caller } from '#platform/access/caller.ts';
import type { ResumeTerms } from '#platform/objects/addresses.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { PendingObject, PendingRequest, UploadRequest, UploadReservation } from '../api.ts';
import { assertOwnId, ownerFor } from '../assets/ownership.ts';
import { maxBytesOf } from '../assets/sizelimits.ts';
import { storageKeyOf } from '../assets/storagekey.ts';
import type { MediaContext } from '../context.ts';
import { mediaProblems } from '../problems.ts';
import { reserveRoom } from '../quota/reserving.ts';

const addressValidS = 300;
const resumableValidS = 86_400;

/** Throws 400 and 403 as `ownerFor`, and 413 when the announced size is over the limit of its class or of its owner. */
export async function reserveUpload(
  deps: MediaContext,
  caller: Caller,
  request: UploadRequest,
): Promise<UploadReservation> {
  const { scopeKind, scopeId, mime, byteSize } = request;
  assertOwnId(caller, request.assetId);
  const maxSize = maxBytesOf(mime, deps.limits);
  // The form is checked before the permission (docs/specification/http.md#order-of-checks).
  if (byteSize !== undefined && byteSize > maxSize) {
    throw mediaProblems.asset_too_large({ message: `byteSize must be at most ${maxSize} for ${mime}.` });
  }
  const ownerId = ownerFor(caller, request.ownerId);
  if (request.resumable && deps.signUpload === undefined)
    throw invalid('body.resumable', 'is not available: set EDGE_URL and start the edge');
  const assetId = request.assetId ?? randomUUID();
  const storageKey = storageKeyOf({ ownerId, scopeKind, scopeId, assetId, mime });
  const isResumable = request.resumable === true && byteSize !== undefined;
  const room = await reserveRoom(deps, { assetId, ownerId, storageKey, byteSize, maxSize, resumable: isResumable });
  // The URL must not outlive the reservation. URLs expire at whole seconds.
  const expiresInS = Math.min(addressValidS, deps.limits.uploadTtlS);
  const expiresAtS = Math.floor(deps.clock.now() / 1000) + expiresInS;
  const { url, headers } = deps.objects.writeAddress(storageKey, {
    expiresInS,
    contentType: mime,
    size: byteSize,
    maxSize: room.maxSize,
  });
  const expiresAt = timeOf(expiresAtS);
  const resumable =
    isResumable && signResumable(deps, { key: storageKey, contentType: mime, size: byteSize, upload: room.uploadId });
  return { assetId, storageKey, uploadUrl: url, headers, expiresAt, ...(resumable && { resumable }) };
}

function signResumable(
  { objects, signUpload, clock }: MediaContext,
  terms: Pick<ResumeTerms, 'key' | 'contentType' | 'size' | 'upload'>,
) {
  const expires = Math.floor(clock.now() / 1000) + resumableValidS;
  const url = signUpload?.({ ...terms, bucket: objects.bucket, expires });
  return url && ({ protocol: 'tus', url, expiresAt: timeOf(expires) } as const);
}

const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString();

// `POST /v1/uploads/sign-pending`: reads an upload that is not registered yet
// (docs/specification/media.md#pending-uploads). Needs the store and no database.

/** Throws 404 when there is no object under the storage key of the request. */
export async function signPending(deps: MediaContext, request: PendingRequest): Promise<PendingObject> {
  const { mime, expiresIn } = request;
  const storageKey = storageKeyOf(request);
  const head = await deps.objects.head(storageKey);
  if (head === undefined) throw problems.not_found({ message: 'There is no uploaded object.' });
  const url = deps.objects.readAddress(storageKey, { expiresInS: expiresIn, contentType: mime });
  return { url, byteSize: head.size };
}
