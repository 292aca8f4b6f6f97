/**
 * `POST /v1/assets`: an uploaded object becomes an asset (docs/specification/media.md#registration).
 *
 * An upload is read, inspected and written. The row is drafted, then the object is checked again, then the row is marked
 * ready; only ready rows are readable. Whenever the process dies, and whatever other calls do to the same id, a ready row
 * has its object, and that object is the one that was inspected and screened. A refusal is a row too until its object is
 * removed, so no other registration becomes ready on an object that is being removed. Every step can be repeated.
 */
import { chargeForAsset } from '#accounts/ledger/credits.ts';
import type { Caller } from '#platform/access/caller.ts';
import type { Tx } from '#platform/db/db.ts';
import { MovieTooComplex } from '#platform/metadata/movie.ts';
import type { ObjectHead } from '#platform/objects/objects.ts';
import { invalid, Problem } from '#platform/problem.ts';
import { retryWhileChanging } from '#platform/resilience.ts';
import type { Asset, Declaration } from '../api.ts';
import { isSameAsset, isVideo, toAsset } from '../assets/asset.ts';
import * as store from '../assets/assetstore.ts';
import { assertOwnId, ownerFor } from '../assets/ownership.ts';
import { storageKeyOf } from '../assets/storagekey.ts';
import type { MediaContext } from '../context.ts';
import { strips } from '../metadata/publicity.ts';
import { planImage, planRewriting, type Wanted, type Written } from '../metadata/rewriting.ts';
import { mediaProblems, type Refusal } from '../problems.ts';
import { admit } from '../quota/quota.ts';
import { blockAsset, refusalOf } from '../screening/incidentstore.ts';
import type { Verdict } from '../screening/verdicts.ts';
import { withInvalidation } from '../signing/signedurlcache.ts';
import type { MediaTables } from '../tables.ts';
import { frameOf } from '../video/poster.ts';
import { factsOf, type Inspection, screenInspected, unknownFacts, withInspected } from './inspection.ts';
import { blockRow, refuse, removeRefused } from './publishing.ts';

export interface Registration {
  /** `false`: it was registered before. */
  readonly created: boolean;
  readonly asset: Asset;
}

/** Refusals that the last step of a registration finds: the object and its row are removed. */
const lateRefusals = ['quota_exceeded', 'charge_closed'] as const;

/** Runs in the transaction that makes the asset readable; when it throws, the asset stays unreadable. */
type Alongside = (tx: Tx<MediaTables>) => Promise<void>;

/** The facts that the caller declares. */
export interface DeclaredUpload {
  readonly identity: store.AssetIdentity;
  readonly storageKey: string;
  readonly facts: store.AssetFacts;
}

/** An upload whose object exists. */
interface Upload extends DeclaredUpload {
  readonly head: ObjectHead;
}

/**
 * Throws 400, 403 (as `ownerFor`), 409 `asset_conflict`, `object_not_found`, `charge_closed`, 413 `asset_too_large`,
 * `quota_exceeded`, 422 `unsupported_image`, `undecodable_image`, `image_too_large`, 451 `csam_blocked` and
 * `content_blocked` (after these there is no row and no object), and 503, after which the call can be retried.
 */
export async function registerAsset(
  deps: MediaContext,
  caller: Caller,
  request: Declaration,
  alongside?: Alongside,
  deposited?: MarkedObject,
): Promise<Registration> {
  const declared = declaredBy(caller, request);
  const { assetId, ownerId } = declared.identity;
  // The credits of generated media are reserved before the upload.
  const whenReady: Alongside = async (tx) => {
    if ((await chargeForAsset(tx, assetId, ownerId)) === 'closed') throw mediaProblems.charge_closed();
    await alongside?.(tx);
  };
  /** `undefined`: the row or the object has changed; read again. */
  const attempt = async () => {
    const upload = await readUpload(deps, declared);
    if (upload === undefined || 'asset' in upload) return upload;
    if (deposited?.head.etag === upload.head.etag) return publishUpload(deps, { ...upload, ...deposited }, whenReady);
    return withInspected(deps, { ...upload, mime: request.mime }, async (inspection) => {
      if (inspection === undefined) return undefined;
      if (typeof inspection === 'string') return draftRefusal(deps, upload, unknownFacts(request.mime), inspection);
      const marked = await markUpload(deps, upload, inspection);
      return marked && publishUpload(deps, marked, whenReady);
    });
  };
  // Most objects that were stored a moment ago have no row.
  const isNew = deposited && (await publishUpload(deps, { ...declared, ...deposited }, whenReady));
  const registration = isNew ?? (await retryWhileChanging(attempt, mediaProblems.object_changing));
  // The id may have been registered before the credits were reserved.
  if (!registration.created) await chargeForAsset(deps.db, assetId, ownerId);
  return registration;
}

export function declaredBy(caller: Caller, request: Declaration): DeclaredUpload {
  const { assetId, scopeKind, scopeId, kind, mime } = request;
  assertOwnId(caller, assetId);
  if (request.generated !== undefined && caller.kind === 'user' && !caller.isOnBehalf)
    throw invalid('body.generated', 'is for servers only: the mark of an upload is read from its bytes');
  if (request.generation !== undefined && caller.kind === 'user' && !caller.isOnBehalf)
    throw invalid('body.generation', 'is for servers only');
  const ownerId = ownerFor(caller, request.ownerId);
  return {
    identity: { assetId, ownerId, scopeKind, scopeId, kind, requestedMime: mime },
    storageKey: storageKeyOf({ assetId, ownerId, scopeKind, scopeId, mime }),
    // All but the prompt, the model and the name only for files that are not images (docs/specification/media.md#registration).
    facts: {
      ...unknownFacts(mime),
      width: request.width ?? null,
      height: request.height ?? null,
      durationMs: request.durationMs ?? null,
      blurhash: request.blurhash ?? null,
      thumbAssetId: isVideo(request) ? (request.thumbAssetId ?? null) : null,
      prompt: request.prompt ?? null,
      model: request.model ?? null,
      generated: request.generated ?? null,
      name: request.name ?? null,
      generation: request.generation ?? null,
    },
  };
}

/** The asset, if it is registered already. `undefined`: a refusal of another registration was completed; read again. */
async function readUpload(deps: MediaContext, declared: DeclaredUpload): Promise<Upload | Registration | undefined> {
  const { db, objects } = deps;
  const { identity, storageKey } = declared;
  const row = await store.findAsset(db, identity.assetId);
  const isSame = row !== undefined && isSameAsset(row, identity);
  if (row?.refusal) {
    const refused = { ...row, refusal: row.refusal };
    if (isSame) return refuse(deps, refused);
    await removeRefused(deps, refused);
    return undefined;
  }
  if (row !== undefined && !isSame) throw mediaProblems.asset_conflict();
  if (row?.readyAt) return { created: false, asset: toAsset(row) };

  const head = await objects.head(storageKey);
  if (head !== undefined) return { ...declared, head };
  // The draft of an earlier attempt must not outlive its object.
  if (row !== undefined) await store.dropUnready(db, row.assetId, row.etag);
  throw mediaProblems.object_not_found();
}

/** For bytes as they will stay. `undefined`: the row or the object has changed; read again. */
async function publishUpload(
  deps: MediaContext,
  upload: MarkedUpload,
  alongside: Alongside,
): Promise<Registration | undefined> {
  const { db, objects } = deps;
  const { identity, storageKey, head, inspection, generated } = upload;
  const { assetId, ownerId } = identity;
  const { etag } = head;
  const facts = { ...factsOf(upload.facts, inspection), generated };
  if (!(await store.draftAsset(db, identity, placeOf(deps, upload), facts))) return undefined;
  try {
    const verdict = upload.verdict ?? (await screenUpload(deps, upload, inspection));
    const { match } = verdict;
    if (match !== undefined) {
      const finding = { etag, digests: inspection.digests, match, origin: null };
      const isBlocked = await blockRow(deps, blockAsset, { assetId, etag }, finding, storageKey);
      return isBlocked ? refuse(deps, { assetId, storageKey, etag, refusal: refusalOf(match) }) : undefined;
    }
    // From here on no resumable upload of the same key can replace what was screened.
    await objects.resumable.seal(storageKey);
    // A refusal that finished before the draft was written has removed the object; a later one finds the draft.
    if ((await objects.head(storageKey))?.etag !== etag) return undefined;
    const screened = { ...verdict, isScreened: inspection.image !== undefined };
    const mark = (tx: Tx<MediaTables>) => store.markReady(tx, assetId, etag, screened);
    const published = await admit(deps, ownerId, mark, alongside);
    return published && { created: true, asset: toAsset(published) };
  } catch (error) {
    const refusal = lateRefusals.find((code) => error instanceof Problem && error.code === code);
    if (refusal === undefined) throw error;
    return draftRefusal(deps, upload, facts, refusal);
  }
}

/** An object whose bytes have their mark, and no metadata that they must not have. */
export interface MarkedObject {
  readonly head: ObjectHead;
  readonly inspection: Inspection;
  readonly generated: store.AssetFacts['generated'];
  /** About the bytes that were uploaded, which have the same pixels. `undefined`: they are screened after the draft. */
  readonly verdict: Verdict | undefined;
}

interface MarkedUpload extends DeclaredUpload, MarkedObject {}

/** The mark and the metadata that the object is to have. */
export function wantedOf(
  { limits, publicScopes }: MediaContext,
  { identity: { assetId, scopeKind }, facts: { generated } }: DeclaredUpload,
): Wanted {
  return {
    strips: strips(limits.stripMetadata, publicScopes, scopeKind),
    mark: generated ?? undefined,
    // Only a generation names its mark. That of an upload is read from its bytes.
    claim: generated ? { assetId, generated } : undefined,
  };
}

/**
 * Writes the object with its mark, or without metadata, before it has a row. The bytes that were uploaded are screened
 * first, because lists name their digests. `undefined`: the object has changed; read again.
 */
async function markUpload(
  deps: MediaContext,
  upload: Upload,
  inspection: Inspection,
): Promise<MarkedUpload | undefined> {
  const { objects, credentials } = deps;
  const { identity, storageKey, head, facts } = upload;
  const { assetId, requestedMime } = identity;
  const wanted = wantedOf(deps, upload);
  const plan = inspection.image
    ? await planImage(inspection.image.bytes, wanted, credentials)
    : await planRewriting(objects, storageKey, head, wanted).catch(refuseComplex);
  if (plan === undefined) return undefined;
  const { generated } = plan;
  const same = { ...upload, inspection, generated: generated ?? facts.generated };
  if (plan.write === undefined) return { ...same, verdict: undefined };
  const verdict = await screenUpload(deps, upload, inspection);
  // What is blocked is not written again.
  if (verdict.match !== undefined) return { ...same, verdict };
  const written = await plan.write(objects, storageKey, requestedMime);
  await adoptRewritten(deps, assetId, written);
  const digests = { ...inspection.digests, ...written.digests };
  return { ...same, head: written.head, inspection: { ...inspection, digests }, verdict };
}

/** A generated video becomes readable, and is paid for, only after one of its frames has passed the classifier. */
async function screenUpload(
  deps: MediaContext,
  { identity, facts, storageKey, head }: Upload,
  inspection: Inspection,
): Promise<Verdict> {
  const { objects, screening, ffmpeg } = deps;
  const hasFrame =
    screening.classifies && facts.generated !== null && isVideo({ kind: identity.kind, mime: facts.mime });
  const frame = hasFrame && ffmpeg ? await frameOf({ objects, ffmpeg }, storageKey, head) : undefined;
  return screenInspected(deps, identity.assetId, inspection, frame);
}

function refuseComplex(error: unknown): never {
  throw error instanceof MovieTooComplex ? mediaProblems.undecodable_video({ cause: error }) : error;
}

/** Another call may have registered the same bytes a moment ago: its row gets the ETag of the object that is there now. */
async function adoptRewritten(
  deps: MediaContext,
  assetId: string,
  { head: { etag }, digests: { sha256 } }: Written,
): Promise<void> {
  const row = await store.findAsset(deps.db, assetId);
  if (!row?.readyAt || row.etag === etag || row.sha256 !== sha256) return;
  await withInvalidation(deps, [assetId], () => store.renewEtag(deps.db, assetId, sha256, etag));
}

/** `undefined`: the row or the object has changed; read again. Throws the refusal. */
async function draftRefusal(
  deps: MediaContext,
  upload: Upload,
  facts: store.AssetFacts,
  refusal: Refusal,
): Promise<undefined> {
  const { identity, storageKey, head } = upload;
  if (!(await store.draftAsset(deps.db, identity, placeOf(deps, upload), facts, refusal))) return undefined;
  return refuse(deps, { assetId: identity.assetId, storageKey, etag: head.etag, refusal });
}

function placeOf({ objects }: MediaContext, { storageKey, head }: Upload) {
  return { bucket: objects.bucket, storageKey, etag: head.etag, byteSize: head.size };
}
