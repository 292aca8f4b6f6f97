/**
 * `POST /v1/copy`: an asset in another scope, with bytes and a row of its own (document 000; CONTRACT §4).
 *
 * The row is drafted first and marked ready last, so that a process which dies in between leaves a row that nobody can read
 * and that tells where bytes may lie: deletions of the scope find it, and copies/abandoned.ts does. Whatever fails, the bytes
 * go before the row. A deletion that takes the drafted row away is obeyed: all starts afresh, with the source as it is then.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Caller } from '#platform/access/caller.ts';
import type { Log } from '#platform/log.ts';
import type { ObjectHead } from '#platform/objects/objects.ts';
import type { Asset, CopyRequest } from './api.ts';
import { assertMayCopy, type CopySource, findSource, noSuchSource } from './copies/sources.ts';
import { draftCopy, dropCopy, markCopied, withdrawCopy } from './copies/store.ts';
import { transfer } from './copies/transfer.ts';
import { type InspectionDeps, inspectImage } from './inspection.ts';
import { maxBytesOf, type SizeLimits } from './limits.ts';
import type { LocatingDeps } from './locating.ts';
import { mediaProblems } from './problems.ts';
import { isVideo, toAsset } from './registration.ts';
import { storageKeyOf } from './storagekey.ts';
import type { AssetFacts, AssetIdentity } from './store.ts';

export interface CopyDeps extends LocatingDeps, Omit<InspectionDeps, 'objects'> {
  readonly limits: SizeLimits;
  readonly log: Pick<Log, 'warn'>;
}

interface Target {
  readonly identity: AssetIdentity;
  readonly storageKey: string;
}

/** Each try starts afresh because somebody else changed the source, or dropped the copy, meanwhile. */
const maxTries = 5;
const pauseMs = 50;

/**
 * Throws 400 and 403 as `assertMayCopy`, 403 and 404 as `findSource`, 413 `asset_too_large`, 422 (a picture of the legacy
 * backend that could not be registered either), 502 `copy_failed`, and 503. After each there is neither row nor object,
 * unless the engines fail at taking them back too.
 */
export async function copyAsset(deps: CopyDeps, caller: Caller, request: CopyRequest): Promise<Asset> {
  assertMayCopy(caller, request);
  for (let tries = 1; tries <= maxTries; tries++) {
    const source = await findSource(deps, caller, request);
    if (source.byteSize > maxBytesOf(source.mime, deps.limits)) throw mediaProblems.asset_too_large();
    const copied = await tryCopying(deps, source, targetOf(caller, request, source), request.thumbAssetId);
    if (copied !== undefined) return copied;
    await delay(pauseMs * tries * Math.random());
  }
  throw mediaProblems.asset_changing();
}

function targetOf(caller: Caller, request: CopyRequest, source: CopySource): Target {
  const ownerId = caller.kind === 'user' ? caller.userId : (request.toOwnerId ?? source.ownerId);
  if (ownerId === undefined) throw new Error('a copy without an owner was let through');
  const identity: AssetIdentity = {
    assetId: randomUUID(),
    ownerId,
    scopeKind: request.toScopeKind,
    scopeId: request.toScopeId,
    kind: source.kind,
    requestedMime: source.mime,
  };
  return { identity, storageKey: storageKeyOf({ ...identity, mime: source.mime }) };
}

/** `undefined`: something changed under our hands; look again. */
async function tryCopying(
  deps: CopyDeps,
  source: CopySource,
  target: Target,
  thumbAssetId: string | undefined,
): Promise<Asset | undefined> {
  const { db, objects } = deps;
  const { identity, storageKey } = target;
  const place = { bucket: objects.bucket, storageKey, byteSize: source.byteSize };
  try {
    if (!(await draftCopy(db, source.assetId, identity, place))) return undefined;
    const copied = await writeBytes(deps, source, target);
    if (copied !== undefined) {
      const thumb = isVideo({ kind: source.kind, mime: copied.facts.mime }) ? (thumbAssetId ?? null) : null;
      // The draft is not readable yet: what still has to be decided by the digests (screening) has its place here.
      const ready = await markCopied(db, identity.assetId, copied.place, { ...copied.facts, thumbAssetId: thumb });
      if (ready !== undefined) return toAsset(ready);
    }
  } catch (error) {
    await takeBack(deps, target);
    throw error;
  }
  await takeBack(deps, target);
  return undefined;
}

/** `undefined`: the source is not what it was. Throws 413 and 422 too. */
async function writeBytes(deps: CopyDeps, source: CopySource, { storageKey }: Target) {
  const { objects, limits } = deps;
  const head = await transfer(source, objects, storageKey, maxBytesOf(source.mime, limits));
  if (head === 'changed') return undefined;
  // Removed meanwhile, or about to lose its row too.
  if (head === 'gone') throw noSuchSource();
  if (head === 'too_large') throw mediaProblems.asset_too_large();
  const facts = source.facts ?? (await learnFacts(deps, storageKey, head));
  return facts && { place: { etag: head.etag, byteSize: head.size }, facts };
}

/** As at a registration, a picture speaks for itself. */
async function learnFacts(deps: CopyDeps, storageKey: string, head: ObjectHead): Promise<AssetFacts | undefined> {
  const findings = await inspectImage(deps, storageKey, head);
  if (typeof findings === 'string') throw mediaProblems[findings]();
  return findings && { ...findings, durationMs: null, thumbAssetId: null };
}

/**
 * Bytes first. What cannot be taken back keeps its row, and is found by it later. The row may be ready already, when only
 * the answer of the database was lost.
 */
async function takeBack({ db, objects, log }: CopyDeps, { identity, storageKey }: Target): Promise<void> {
  try {
    await withdrawCopy(db, identity.assetId);
    const { failed } = await objects.remove([storageKey]);
    if (failed.length === 0) await dropCopy(db, identity.assetId);
    else log.warn({ failed }, 'an unfinished copy could not be removed');
  } catch (error) {
    log.warn({ err: error, assetId: identity.assetId }, 'an unfinished copy could not be removed');
  }
}
