/**
 * `POST /v1/assets`: an uploaded object becomes an asset (docs/specification/media.md#registration).
 *
 * The row is drafted, then the object is looked at again, then the row is marked ready; only ready rows are readable. So
 * whatever the process dies between, and whoever else works on the same id, a ready row has its object, and the object
 * is the one that was inspected, and it has passed its screening. A refusal is a row too until its object is
 * removed: no other registration can become ready on an object that is about to go. Every step may be repeated, by anybody.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Caller } from '#platform/access/caller.ts';
import type { Tx } from '#platform/db/db.ts';
import type { ObjectHead } from '#platform/objects/objects.ts';
import { Problem } from '#platform/problem.ts';
import { type ForgettingDeps, withoutAnswers } from './answers.ts';
import type { Asset, RegistrationRequest } from './api.ts';
import { factsOf, type InspectionDeps, type Seen, screenSeen, unseenFacts, withInspected } from './inspection.ts';
import { ownerFor } from './ownership.ts';
import { mediaProblems, type Refusal, refusalProblem } from './problems.ts';
import { admit } from './quota/quota.ts';
import { type RemovalDeps, removeKin, removeObject } from './removal.ts';
import type { Screening } from './screening/screening.ts';
import { condemnAsset } from './screening/store.ts';
import { storageKeyOf } from './storagekey.ts';
import {
  type AssetFacts,
  type AssetIdentity,
  type AssetPlace,
  draftAsset,
  dropUnready,
  findAsset,
  type MediaTables,
  markReady,
  type StoredAsset,
} from './store.ts';

export interface RegistrationDeps extends InspectionDeps, ForgettingDeps, Pick<RemovalDeps, 'variants'> {
  readonly objects: RemovalDeps['objects'];
  readonly screening: Screening;
}

export interface Registration {
  /** `false`: it was there already. */
  readonly created: boolean;
  readonly asset: Asset;
}

/** Written in the transaction in which the asset becomes readable; when it throws, the asset stays unreadable. */
type Alongside = (tx: Tx<MediaTables>) => Promise<void>;

/** Each try starts afresh because somebody else changed the row or the object meanwhile. */
const maxTries = 5;
const pauseMs = 50;

/**
 * Throws 400, 403 (as `ownerFor`), 409 `asset_conflict`, `object_not_found`, 413 `asset_too_large`,
 * `quota_exceeded`, 422 `unsupported_image`, `undecodable_image`, `image_too_large`, 451 `csam_blocked` (after these six
 * there is no row and no object), and 503, after which the call may be repeated.
 */
export async function registerAsset(
  deps: RegistrationDeps,
  caller: Caller,
  request: RegistrationRequest,
  alongside?: Alongside,
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
    const registration = await tryRegistering(deps, identity, request, alongside);
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
  alongside: Alongside | undefined,
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
  return withInspected(deps, { storageKey, head, mime: request.mime }, (seen) =>
    registerObject(deps, { identity, storageKey, head, seen }, request, alongside),
  );
}

/** An uploaded object, as it was seen. */
interface Upload {
  readonly identity: AssetIdentity;
  readonly storageKey: string;
  readonly head: ObjectHead;
  /** `undefined`: the object has become another one. */
  readonly seen: Seen | Refusal | undefined;
}

/** `undefined`: something changed under our hands; look again. */
async function registerObject(
  deps: RegistrationDeps,
  { identity, storageKey, head, seen }: Upload,
  request: RegistrationRequest,
  alongside: Alongside | undefined,
): Promise<Registration | undefined> {
  const { db, objects } = deps;
  const { assetId, ownerId } = identity;
  const { etag } = head;
  const place = { bucket: objects.bucket, storageKey, etag, byteSize: head.size };
  const refuse = (refusal: Refusal) => finishRefusal(deps, { ...place, assetId }, refusal, true);

  if (seen === undefined) return undefined;
  if (typeof seen === 'string')
    return (await draftAsset(db, identity, place, unseenFacts(request.mime), seen)) ? refuse(seen) : undefined;
  const facts = factsOf(toldBy(request), seen);
  if (!(await draftAsset(db, identity, place, facts))) return undefined;
  // docs/specification/media.md#screening. A draft cannot be read: a process that dies here leaves nothing to be seen.
  const match = await screenSeen(deps.screening, assetId, seen);
  if (match) {
    // Somebody else may have registered the same bytes a moment before a list was changed, and answers be kept.
    const isCondemned = await withoutAnswers(deps, [assetId], () =>
      condemnAsset(db, { assetId, etag }, { etag, digests: seen.digests, match, origin: null }),
    );
    return isCondemned ? refuse('csam_blocked') : undefined;
  }
  // A refusal that was finished before our draft took the object with it; one that comes later finds the draft.
  if ((await objects.head(storageKey))?.etag !== etag) return undefined;
  try {
    const ready = await admit(
      deps,
      ownerId,
      (handle) => markReady(handle, assetId, etag, seen.picture !== undefined),
      alongside,
    );
    return ready && { created: true, asset: toAsset(ready) };
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'quota_exceeded') throw error;
    return (await draftAsset(db, identity, place, facts, 'quota_exceeded')) ? refuse('quota_exceeded') : undefined;
  }
}

/** Metadata of videos and audio comes from the caller (docs/specification/media.md#registration). */
function toldBy(request: RegistrationRequest): AssetFacts {
  return {
    ...unseenFacts(request.mime),
    width: request.width ?? null,
    height: request.height ?? null,
    durationMs: request.durationMs ?? null,
    blurhash: request.blurhash ?? null,
    thumbAssetId: isVideo(request) ? (request.thumbAssetId ?? null) : null,
  };
}

/**
 * Removes the refused bytes, and only them, then the row. Of blocked ones everything goes that may have been made of them
 * (`/v1/ensure` needs no row). Throws the refusal to those whose registration it is.
 */
async function finishRefusal(
  deps: RegistrationDeps,
  row: Pick<AssetPlace, 'storageKey' | 'etag'> & { readonly assetId: string },
  refusal: Refusal,
  isOurs: boolean,
): Promise<undefined> {
  const { db, objects } = deps;
  const head = await objects.head(row.storageKey);
  const isReplaced = head !== undefined && head.etag !== row.etag;
  if (head !== undefined && !isReplaced) await removeObject(objects, row.storageKey);
  if (refusal === 'csam_blocked') await removeKin(deps, objects, [row.storageKey]);
  await dropUnready(db, row.assetId, row.etag);
  // Bytes that came meanwhile are judged anew.
  if (!isReplaced && isOurs) throw refusalProblem(refusal);
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
