/** Inspects the bytes of an uploaded object (docs/specification/media.md#images; docs/screening.md). */
import { EngineBusy, EngineTimeout, type ImageFacts, ImageFault } from '#image/engine/engine.ts';
import { isImageMime, sniff } from '#image/engine/formats.ts';
import { codeByReason } from '#image/engine/problems.ts';
import { ownerOfKey } from '#image/engine/sources.ts';
import type { Db } from '#platform/db/db.ts';
import type { ObjectHead } from '#platform/objects/objects.ts';
import { problems } from '#platform/problem.ts';
import type { AssetFacts } from '../assets/assetstore.ts';
import { isImage, maxBytesOf } from '../assets/sizelimits.ts';
import type { ScreeningContext } from '../context.ts';
import type { Refusal } from '../problems.ts';
import { type ReadableObjects, readBeginning, readUnchanged } from '../reading/unchanged.ts';
import type { ExactDigests } from '../screening/messages.ts';
import type { PdqHash } from '../screening/pdq.ts';
import type { Digests, Screening } from '../screening/screening.ts';
import { decideBy, type Verdict } from '../screening/verdicts.ts';
import type { MediaTables } from '../tables.ts';

/** An object and its declared mime. */
export interface Uploaded {
  readonly storageKey: string;
  readonly head: ObjectHead;
  readonly mime: string;
}

/** The facts that the bytes of an object show. */
export interface Inspection {
  readonly digests: Digests;
  /** `undefined`: it is not an image. */
  readonly image: Image | undefined;
}

/** An image in memory and the facts that its bytes show. */
interface Image {
  readonly bytes: Uint8Array;
  readonly facts: Pick<ImageFacts, 'mime' | 'width' | 'height' | 'blurhash' | 'animated'>;
}

/** Read in one piece. Digests of longer pieces would block other requests. */
const wholeBytes = 4 * 1024 * 1024;

/**
 * Reads exactly the object that `head` describes and passes the result to `work`. An object whose mime or first bytes
 * are those of an image is decoded; of anything else the digests are computed. `work` gets a refusal if the object
 * cannot be registered, and `undefined` if it is gone or was replaced. The bytes of an image stay in memory until
 * `work` ends. Throws `engine_unavailable`, `overloaded`, `digest_pending` and `screening_unavailable`.
 */
export async function withInspected<Result>(
  deps: ScreeningContext,
  uploaded: Uploaded,
  work: (inspection: Inspection | Refusal | undefined) => Promise<Result>,
): Promise<Result> {
  const { storageKey, head, mime } = uploaded;
  if (head.size > maxBytesOf(mime, deps.limits)) return work('asset_too_large');
  const shown = await classify(deps.objects, uploaded);
  if (shown === 'other') {
    const digests = await deps.digester.digestsOf(deps.objects, storageKey, head);
    return work(digests && { digests: { ...digests, pdq: null, pdqQuality: null }, image: undefined });
  }
  if (shown !== 'image') return work(shown);
  // The limit of images applies whatever the declared mime is: the object is read into memory.
  if (head.size > deps.limits.maxImageBytes) return work('asset_too_large');
  const owner = ownerOfKey(storageKey);
  const leave = await deps.images.acquire({ owner, kind: 'upload', bytes: head.size }).catch(busy);
  try {
    const whole = head.size <= wholeBytes;
    const read = await readUnchanged(deps.objects, storageKey, { ifMatch: head.etag, whole });
    if (read === undefined) return await work(undefined);
    const shown = await inspectImage(deps, read.bytes, owner);
    return await work(typeof shown === 'string' ? shown : inspectionOf(shown, read.digests));
  } finally {
    leave();
  }
}

/** `frame`: of a video, as a JPEG. Throws `screening_unavailable`. */
export async function screenInspected(
  {
    db,
    screening,
  }: { readonly db: Db<MediaTables>; readonly screening: Pick<Screening, 'screen' | 'label' | 'judgeKnown'> },
  assetId: string,
  { digests, image }: Inspection,
  frame?: Uint8Array,
): Promise<Verdict> {
  const shown = image ? { mime: image.facts.mime, bytes: image.bytes } : frame && { mime: 'image/jpeg', bytes: frame };
  if (shown === undefined) return decideBy(db, digests.sha256, await screening.judgeKnown(digests));
  const judgement = await screening.screen({ assetId, ...shown }, digests);
  return decideBy(db, digests.sha256, judgement, () => screening.label({ assetId, ...shown }));
}

/** For an image, the bytes decide, whatever its mime is. Other files keep their declared facts. */
export function factsOf(declared: AssetFacts, { digests, image }: Inspection): AssetFacts {
  return image === undefined
    ? { ...declared, ...digests }
    : { ...declared, ...digests, ...image.facts, durationMs: null, thumbAssetId: null };
}

/** The facts of bytes that were not read. */
export function unknownFacts(mime: string): AssetFacts {
  return {
    mime,
    sha256: null,
    md5: null,
    pdq: null,
    pdqQuality: null,
    width: null,
    height: null,
    durationMs: null,
    blurhash: null,
    animated: null,
    thumbAssetId: null,
    prompt: null,
    model: null,
    generated: null,
    name: null,
  };
}

/** An image in memory, with its perceptual hash. */
export interface InspectedImage extends Image {
  readonly perceptual: PdqHash;
}

/** Throws `overloaded` and `screening_unavailable`. */
export async function inspectImage(
  deps: ScreeningContext,
  bytes: Uint8Array,
  owner: string,
): Promise<InspectedImage | Refusal> {
  try {
    const hashing = Promise.withResolvers<PdqHash>();
    hashing.promise.catch(() => undefined);
    // Computed in a thread of its own while the engine reads the rest.
    const { rendition, ...facts } = await deps.engine.inspect(bytes, owner, (decoded) =>
      hashing.resolve(deps.screening.hash(decoded)),
    );
    return { bytes, facts, perceptual: await hashing.promise };
  } catch (error) {
    if (error instanceof ImageFault) return codeByReason[error.reason];
    return busy(error);
  }
}

export function inspectionOf({ perceptual, ...image }: InspectedImage, digests: ExactDigests): Inspection {
  return { digests: { ...digests, pdq: perceptual.hex, pdqQuality: perceptual.quality }, image };
}

/** Browsers show images by their bytes, whatever their mime is. `undefined`: the object was replaced. Throws `engine_unavailable`. */
async function classify(
  objects: ReadableObjects,
  { storageKey, head, mime }: Uploaded,
): Promise<'image' | 'unsupported_image' | 'other' | undefined> {
  if (isImage(mime)) return 'image';
  if (head.size === 0) return 'other';
  const beginning = await readBeginning(objects, storageKey, head.etag);
  if (beginning === undefined) return undefined;
  const shown = await sniff(beginning);
  if (shown === undefined) return 'other';
  return isImageMime(shown) ? 'image' : 'unsupported_image';
}

/** An image that takes too long now may be fast on an idle machine: the object stays, and the call can be retried. */
export function busy(error: unknown): never {
  throw error instanceof EngineBusy || error instanceof EngineTimeout ? problems.overloaded({ cause: error }) : error;
}
