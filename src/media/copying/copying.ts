/**
 * `POST /v1/copy`: an asset in another scope, with bytes and a row of its own (docs/specification/media.md#copies).
 *
 * The row is drafted first and marked ready last, so that a process which dies in between leaves an unreadable row with the
 * key of the bytes: deletions of the scope and sweeps find it. On every failure the bytes are removed before the row. If a
 * deletion drops the drafted row, the copy starts again with the source as it is then.
 */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Caller } from '#platform/access/caller.ts';
import { ObjectChanged, type ObjectHead, type Objects } from '#platform/objects/objects.ts';
import { Problem } from '#platform/problem.ts';
import { retryWhileChanging, withDeadline } from '#platform/resilience.ts';
import type { Asset, CopyRequest } from '../api.ts';
import { isVideo, toAsset } from '../assets/asset.ts';
import { type AssetFacts, type AssetIdentity, dropUnready } from '../assets/assetstore.ts';
import { isImage, maxBytesOf } from '../assets/sizelimits.ts';
import { renditionKeyOf, renditionMime, storageKeyOf } from '../assets/storagekey.ts';
import type { MediaContext, ScreeningContext } from '../context.ts';
import { removeDerivatives, removeObject } from '../deletion/removal.ts';
import { strips } from '../metadata/publicity.ts';
import { planRewriting } from '../metadata/rewriting.ts';
import { mediaProblems, noSuchAsset, refusalProblem } from '../problems.ts';
import { admit, assertRoom } from '../quota/quota.ts';
import { copyIdleMs, startHashes, watching, withObject } from '../reading/unchanged.ts';
import { factsOf, screenInspected, withInspected } from '../registration/inspection.ts';
import { blockProblem, blockRow } from '../registration/publishing.ts';
import { blockAsset } from '../screening/incidentstore.ts';
import type { ExactDigests } from '../screening/messages.ts';
import type { Digests } from '../screening/screening.ts';
import { decideBy, type Verdict } from '../screening/verdicts.ts';
import type { Playback } from '../tables.ts';
import { assertMayCopy, type CopySource, findSource } from './copysource.ts';
import { draftCopy, markCopied, unwritten, withdrawCopy } from './copystore.ts';

/** What is left after `copyIdleMs`. */
const takeBackWithinMs = 1000;

interface Target {
  readonly identity: AssetIdentity;
  readonly storageKey: string;
}

/**
 * Throws 400 and 403 as `assertMayCopy`, 403 and 404 as `findSource`, 413 `asset_too_large`, `quota_exceeded`, 422 (an
 * image of the legacy backend that could not be registered either), 451 `csam_blocked`, 502 `copy_failed`, and 503. After
 * each there is neither row nor object, unless the engines fail to remove them too.
 */
export async function copyAsset(deps: MediaContext, caller: Caller, request: CopyRequest): Promise<Asset> {
  assertMayCopy(caller, request);
  return retryWhileChanging(async () => {
    const source = await findSource(deps, caller, request);
    if (source.byteSize > maxBytesOf(source.mime, deps.limits)) throw mediaProblems.asset_too_large();
    const target = targetOf(caller, request, source);
    await assertRoom(deps, target.identity.ownerId, source.byteSize);
    return tryCopying(deps, source, target, request.thumbAssetId);
  }, mediaProblems.asset_changing);
}

function targetOf(caller: Caller, request: CopyRequest, source: CopySource): Target {
  const ownerId = caller.kind === 'user' ? caller.userId : (request.toOwnerId ?? source.ownerId);
  if (ownerId === undefined) throw new Error('a copy has no owner');
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

/** `undefined`: the source or the row has changed; start again. */
async function tryCopying(
  deps: MediaContext,
  source: CopySource,
  target: Target,
  thumbAssetId: string | undefined,
): Promise<Asset | undefined> {
  const { db, objects } = deps;
  const { identity, storageKey } = target;
  const place = { bucket: objects.bucket, storageKey, byteSize: source.byteSize };
  try {
    if (!(await draftCopy(db, source.assetId, identity, place))) return undefined;
    const head = await writeBytes(deps, source, target);
    const copied = head && (await showCopy(deps, source, { ...target, head }, thumbAssetId));
    if (copied !== undefined) return copied;
  } catch (error) {
    // The transfer may have used up the time of the response. The removal continues after it.
    await withDeadline(takeBackWithinMs, () => takeBack(deps, target)).catch(() => undefined);
    throw error;
  }
  await takeBack(deps, target);
  return undefined;
}

/** `undefined`: the source has changed. Throws 404 and 413 too. */
async function writeBytes(
  deps: MediaContext,
  source: CopySource,
  { identity, storageKey }: Target,
): Promise<CopiedObject | undefined> {
  const isOthers = source.ownerId !== undefined && source.ownerId !== identity.ownerId;
  const isStripped = strips(deps.limits.stripMetadata, deps.publicScopes, identity.scopeKind, isOthers);
  const head = await (isStripped ? transferStripped : transfer)(deps, source, storageKey);
  if (head === 'changed') return undefined;
  // Removed during the copy, or about to lose its row.
  if (head === 'gone') throw noSuchAsset();
  if (head === 'too_large') throw mediaProblems.asset_too_large();
  return head;
}

/** Marks it ready, if it can be shown. `undefined`: it has changed, or its row was deleted. Throws 451 and 503 too. */
async function showCopy(
  deps: MediaContext,
  source: CopySource,
  copy: WrittenCopy,
  thumbAssetId: string | undefined,
): Promise<Asset | undefined> {
  const { identity, storageKey, head } = copy;
  const { assetId, ownerId } = identity;
  const { etag, size: byteSize } = head;
  const judgement = await screenCopy(deps, source, copy);
  if (judgement === undefined) return undefined;
  const { digests, verdict, isImage: isScreened } = judgement;
  const { match } = verdict;
  if (match !== undefined) {
    const finding = { etag, digests, match, origin: originOf(source) };
    if (await blockRow(deps, blockAsset, { assetId, etag: unwritten }, finding, storageKey)) throw blockProblem(match);
    return undefined;
  }
  const thumb = isVideo({ kind: source.kind, mime: judgement.facts.mime }) ? (thumbAssetId ?? null) : null;
  // The words of one user are not handed to another.
  const origin = source.ownerId === ownerId ? {} : { prompt: null, model: null, name: null, generation: null };
  const facts = { ...judgement.facts, thumbAssetId: thumb, ...origin };
  const playback = await copyRendition(source, deps.objects, storageKey);
  // Nothing else writes to the key of a copy, so its object has not changed.
  const copied = await admit(deps, ownerId, (tx) =>
    markCopied(tx, assetId, { etag, byteSize }, { ...facts, playback }, { ...verdict, isScreened }),
  );
  return copied && toAsset(copied);
}

/**
 * Removes the bytes first. If they cannot be removed, they keep their row, by which they are found later. The row can
 * be ready already, if only the response of the database was lost; so derivatives can exist.
 */
async function takeBack(deps: MediaContext, { identity, storageKey }: Target): Promise<void> {
  const { db, objects, log } = deps;
  try {
    await withdrawCopy(db, identity.assetId);
    await removeObject(objects, storageKey);
    await removeDerivatives(deps, { backend: 'objects', objects }, [storageKey]);
    await dropUnready(db, identity.assetId, unwritten);
  } catch (error) {
    log.warn({ err: error, assetId: identity.assetId }, 'an unfinished copy could not be removed');
  }
}

/** For the incident: where the copied bytes remain. */
function originOf({ assetId, objects, storageKey }: CopySource): string {
  return assetId ?? `${objects.bucket}/${storageKey}`;
}

// Decides whether a copy can be shown (docs/specification/media.md#copies). A screened source in the object store is
// matched by its stored digests, without reading its bytes. Other sources are read and screened as in a registration.

/** A copy whose bytes exist. */
interface WrittenCopy extends Target {
  readonly head: CopiedObject;
}

interface CopyScreening {
  readonly facts: AssetFacts;
  readonly digests: Digests;
  readonly isImage: boolean;
  readonly verdict: Verdict;
}

/**
 * `undefined`: the bytes have changed. Throws 413 and 422 as a registration does, `overloaded`, `engine_unavailable`,
 * `digest_pending` and `screening_unavailable`.
 */
async function screenCopy(
  deps: ScreeningContext,
  source: CopySource,
  { identity: { assetId }, storageKey, head }: WrittenCopy,
): Promise<CopyScreening | undefined> {
  const { facts: known, isScreened, mime } = source;
  if (isScreened) {
    const screened = await judgeStored(deps, source);
    // The copy's own bytes: the lists were asked for those of its source.
    const { digests: own } = head;
    return { ...screened, facts: { ...screened.facts, ...own }, digests: { ...screened.digests, ...own } };
  }
  if (head.digests === undefined && source.backend === 'objects' && source.etag !== undefined && !isImage(mime)) {
    // The same bytes, under a key that another attempt of the call reads too.
    const digests = await deps.digester.digestsOf(source.objects, source.storageKey, { ...head, etag: source.etag });
    if (digests === undefined) return undefined;
    deps.digester.add(deps.objects, storageKey, head.etag, digests);
  }
  return withInspected(deps, { storageKey, head, mime }, async (inspection) => {
    if (inspection === undefined) return undefined;
    if (typeof inspection === 'string') throw refusalProblem(inspection);
    const verdict = await screenInspected(deps, assetId, inspection);
    return {
      facts: factsOf(known, inspection),
      digests: inspection.digests,
      isImage: inspection.image !== undefined,
      verdict,
    };
  });
}

async function judgeStored({ db, screening }: ScreeningContext, { facts, labels }: CopySource): Promise<CopyScreening> {
  const { sha256, md5, pdq, pdqQuality } = facts;
  if (sha256 === null || md5 === null) throw new Error('a screened asset has no digests');
  const digests = { sha256, md5, pdq, pdqQuality };
  const verdict = await decideBy(db, sha256, await screening.judgeKnown(digests, labels));
  return { facts, digests, isImage: pdq !== null, verdict };
}

// Transfers the bytes of a copy to the object store (docs/specification/media.md#copies).

/** `digests`: its bytes differ from the source's. */
interface CopiedObject extends ObjectHead {
  readonly digests?: ExactDigests;
}

/** `gone`: there are no bytes; `changed`: the ETag of the source differs; `too_large`: there are more bytes than the lookup found. */
type Transferred = CopiedObject | 'gone' | 'changed' | 'too_large';

/** Copies inside the store if the source is in it, else through this process. Throws `copy_failed`. */
async function transfer(deps: MediaContext, source: CopySource, targetKey: string): Promise<Transferred> {
  const { backend, storageKey, etag, mime } = source;
  try {
    if (backend === 'legacy') return await stream(deps, source, targetKey);
    return (await deps.objects.copy(storageKey, targetKey, { contentType: mime, ifMatch: etag })) ?? 'gone';
  } catch (error) {
    if (error instanceof ObjectChanged) return 'changed';
    throw mediaProblems.copy_failed({ cause: error });
  }
}

/** As `transfer`, without the metadata of the file. A file that has none is copied inside the store. */
async function transferStripped(deps: MediaContext, source: CopySource, targetKey: string): Promise<Transferred> {
  const { objects, storageKey, mime } = source;
  const { objects: target, digester } = deps;
  try {
    const head = await objects.head(storageKey);
    if (head === undefined) return 'gone';
    if (source.etag !== undefined && head.etag !== source.etag) return 'changed';
    if (head.size > maxBytesOf(mime, deps.limits)) return 'too_large';
    const plan = await planRewriting(objects, storageKey, head, { strips: true });
    if (plan === undefined) return 'changed';
    if (plan.write === undefined) return await transfer(deps, source, targetKey);
    const written = await plan.write(target, targetKey, mime);
    digester.add(target, targetKey, written.head.etag, written.digests);
    return { ...written.head, digests: written.digests };
  } catch (error) {
    if (error instanceof ObjectChanged) return 'changed';
    throw error instanceof Problem ? error : mediaProblems.copy_failed({ cause: error });
  }
}

/** Resolves with the playback of the copy, which gets a rendition of its own. Throws `copy_failed`. */
async function copyRendition(
  { storageKey, playback }: Pick<CopySource, 'storageKey' | 'playback'>,
  target: Objects,
  targetKey: string,
): Promise<Playback | null> {
  if (playback !== 'rendition') return playback;
  try {
    const options = { contentType: renditionMime };
    const copied = await target.copy(renditionKeyOf(storageKey), renditionKeyOf(targetKey), options);
    return copied === undefined ? null : playback;
  } catch (error) {
    throw mediaProblems.copy_failed({ cause: error });
  }
}

async function stream(
  { objects: target, limits, digester }: MediaContext,
  { objects, storageKey, etag, mime }: CopySource,
  targetKey: string,
): Promise<Transferred> {
  const hashes = startHashes();
  const moved = await withObject(objects, storageKey, { ifMatch: etag }, copyIdleMs, async ({ size }, chunks) => {
    if (size > maxBytesOf(mime, limits)) return 'too_large';
    const moving = Readable.from(watching(chunks, hashes.update), { objectMode: false });
    return target.put(targetKey, moving, { contentType: mime, size });
  });
  if (moved === undefined) return 'gone';
  if (moved !== 'too_large') digester.add(target, targetKey, moved.etag, hashes.digests());
  return moved;
}
