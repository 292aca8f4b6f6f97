/**
 * `POST /v1/assets`: an uploaded object becomes an asset (document 000; CONTRACT §4).
 *
 * The row is drafted, then the object is looked at again, then the row is marked ready; only ready rows are readable. So
 * whatever the process dies between, and whoever else works on the same id, a ready row has its object, and the object
 * is the one that was inspected. A refusal is a row too until its object is removed: no other registration can become
 * ready on an object that is about to go. Every step may be repeated, by anybody.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Caller } from '#platform/access/caller.ts';
import type { Db } from '#platform/db/db.ts';
import type { ObjectHead, Objects } from '#platform/objects/objects.ts';
import { problems } from '#platform/problem.ts';
import type { Asset, RegistrationRequest } from './api.ts';
import { type InspectionDeps, inspectImage } from './inspection.ts';
import { isImage, maxBytesOf, type SizeLimits } from './limits.ts';
import { ownerFor } from './ownership.ts';
import { mediaProblems, type Refusal } from './problems.ts';
import { storageKeyOf } from './storagekey.ts';
import {
  type AssetFacts,
  type AssetIdentity,
  draftAsset,
  dropUnready,
  findAsset,
  type MediaTables,
  markReady,
  type StoredAsset,
} from './store.ts';

export interface RegistrationDeps extends InspectionDeps {
  readonly db: Db<MediaTables>;
  readonly objects: Pick<Objects, 'bucket' | 'head' | 'get' | 'remove'>;
  readonly limits: SizeLimits;
}

export interface Registration {
  /** `false`: it was there already. */
  readonly created: boolean;
  readonly asset: Asset;
}

/** Each try starts afresh because somebody else changed the row or the object meanwhile. */
const maxTries = 5;
const pauseMs = 50;

/**
 * Throws 400, 403 (as `ownerFor`), 409 `asset_conflict`, `object_not_found`, 413 `asset_too_large`, 422
 * `unsupported_image`, `undecodable_image`, `image_too_large` (after these four there is no row and no object), and 503,
 * after which the call may be repeated.
 */
export async function registerAsset(
  deps: RegistrationDeps,
  caller: Caller,
  request: RegistrationRequest,
): Promise<Registration> {
  const identity: AssetIdentity = {
    assetId: request.assetId,
    ownerId: ownerFor(caller, request.ownerId),
    scopeKind: request.scopeKind,
    scopeId: request.scopeId,
    kind: request.kind,
    requestedMime: request.mime,
  };
  for (let tries = 1; tries <= maxTries; tries++) {
    const registration = await tryRegistering(deps, identity, request);
    if (registration !== undefined) return registration;
    await delay(pauseMs * tries * Math.random());
  }
  throw mediaProblems.object_changing();
}

/** `undefined`: something changed under our hands; look again. */
async function tryRegistering(
  deps: RegistrationDeps,
  identity: AssetIdentity,
  request: RegistrationRequest,
): Promise<Registration | undefined> {
  const { db, objects } = deps;
  const { assetId } = identity;
  const known = await findAsset(db, assetId);
  if (known?.refusal) return finishRefusal(deps, known, known.refusal, isSame(known, identity));
  if (known !== undefined && !isSame(known, identity)) throw mediaProblems.asset_conflict();
  if (known?.readyAt) return { created: false, asset: toAsset(known) };

  const storageKey = storageKeyOf({ ...identity, mime: identity.requestedMime });
  const head = await objects.head(storageKey);
  if (head === undefined) {
    // What an earlier try drafted must not stand for an object that is gone.
    if (known !== undefined) await dropUnready(db, assetId, known.etag);
    throw mediaProblems.object_not_found();
  }
  const place = { bucket: objects.bucket, storageKey, etag: head.etag, byteSize: head.size };
  const found = await learnFacts(deps, storageKey, head, request);
  if (found === undefined) return undefined;
  if (typeof found === 'string') {
    const isDrafted = await draftAsset(db, identity, place, unknownFacts(request), found);
    return isDrafted ? finishRefusal(deps, { ...place, assetId }, found, true) : undefined;
  }
  if (!(await draftAsset(db, identity, place, found))) return undefined;
  // Drafted rows are never readable, so what still has to be decided about the bytes (screening) has its place here.
  // A refusal that was finished before our draft took the object with it; one that comes later finds the draft.
  if ((await objects.head(storageKey))?.etag !== head.etag) return undefined;
  const ready = await markReady(db, assetId, head.etag);
  return ready && { created: true, asset: toAsset(ready) };
}

/** Document 000, step 2: images speak for themselves, for anything else the caller does. */
async function learnFacts(
  deps: RegistrationDeps,
  storageKey: string,
  head: ObjectHead,
  request: RegistrationRequest,
): Promise<AssetFacts | Refusal | undefined> {
  if (head.size > maxBytesOf(request.mime, deps.limits)) return 'asset_too_large';
  if (!isImage(request.mime)) {
    return {
      ...unknownFacts(request),
      width: request.width ?? null,
      height: request.height ?? null,
      durationMs: request.durationMs ?? null,
      blurhash: request.blurhash ?? null,
      thumbAssetId: isVideo(request) ? (request.thumbAssetId ?? null) : null,
    };
  }
  const findings = await inspectImage(deps, storageKey, head);
  return typeof findings === 'object' ? { ...unknownFacts(request), ...findings } : findings;
}

/** Removes the refused bytes, and only them, then the row. Throws the refusal to those whose registration it is. */
async function finishRefusal(
  deps: RegistrationDeps,
  row: { readonly assetId: string; readonly storageKey: string; readonly etag: string },
  refusal: Refusal,
  isOurs: boolean,
): Promise<undefined> {
  const { db, objects } = deps;
  const head = await objects.head(row.storageKey);
  const isReplaced = head !== undefined && head.etag !== row.etag;
  if (head !== undefined && !isReplaced) {
    const { failed } = await objects.remove([row.storageKey]);
    if (failed.length > 0) throw problems.engine_unavailable({ cause: new Error(failed[0]?.reason) });
  }
  await dropUnready(db, row.assetId, row.etag);
  // Bytes that came meanwhile are judged anew.
  if (!isReplaced && isOurs) throw mediaProblems[refusal]();
}

export function isSame(known: StoredAsset, identity: AssetIdentity): boolean {
  return (
    known.ownerId === identity.ownerId &&
    known.scopeKind === identity.scopeKind &&
    known.scopeId === identity.scopeId &&
    known.kind === identity.kind &&
    known.requestedMime === identity.requestedMime
  );
}

function unknownFacts(request: RegistrationRequest): AssetFacts {
  return {
    mime: request.mime,
    sha256: null,
    md5: null,
    width: null,
    height: null,
    durationMs: null,
    blurhash: null,
    thumbAssetId: null,
  };
}

export function isVideo(request: Pick<RegistrationRequest, 'kind' | 'mime'>): boolean {
  return request.kind === 'video' || request.mime.startsWith('video/');
}

export function toAsset(row: StoredAsset): Asset {
  return {
    assetId: row.assetId,
    ownerId: row.ownerId,
    scopeKind: row.scopeKind,
    scopeId: row.scopeId,
    kind: row.kind,
    mime: row.mime,
    byteSize: row.byteSize,
    width: row.width,
    height: row.height,
    durationMs: row.durationMs,
    blurhash: row.blurhash,
    thumbAssetId: row.thumbAssetId,
    storageKey: row.storageKey,
    createdAt: row.createdAt.toISOString(),
  };
}
