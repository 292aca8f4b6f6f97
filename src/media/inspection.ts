/** Looking at the bytes of an uploaded picture (document 000, POST /v1/assets step 2). */
import { createHash } from 'node:crypto';
import { type Engine, EngineBusy, EngineTimeout, type ImageFacts, PictureFault } from '#image/engine/engine.ts';
import type { Permits } from '#image/engine/permits.ts';
import { sniff } from '#image/engine/sniffing.ts';
import { ownerOfKey } from '#image/engine/sources.ts';
import {
  type ObjectBody,
  ObjectChanged,
  type ObjectHead,
  type Objects,
  type ReadOptions,
} from '#platform/objects/objects.ts';
import { Problem, problems } from '#platform/problem.ts';
import { type IdleDeadline, startIdleDeadline } from '#platform/resilience/deadline.ts';
import { isImage, type SizeLimits } from './limits.ts';
import type { Refusal } from './problems.ts';
import type { PictureDigests, Screening } from './screening/screening.ts';
import type { AssetFacts } from './store.ts';

export interface InspectionDeps {
  readonly objects: Pick<Objects, 'get'>;
  readonly engine: Pick<Engine, 'inspect'>;
  /** Bounds how many pictures are held in memory at once: they are read whole before the engine takes its turn. */
  readonly pictures: Permits;
  readonly screening: Pick<Screening, 'hash'>;
}

/** A picture in memory, and what it says of itself. */
export interface Picture {
  readonly bytes: Uint8Array;
  readonly facts: Pick<ImageFacts, 'mime' | 'width' | 'height' | 'blurhash'>;
  readonly digests: PictureDigests;
}

/** A read may take long as long as it moves. */
const readIdleMs = 5000;
/** More than any signature that `sniff` knows. */
const beginningBytes = 256;

const refusalByFault: Readonly<Record<PictureFault['reason'], Refusal>> = {
  unsupported: 'unsupported_image',
  undecodable: 'undecodable_image',
  too_large: 'image_too_large',
};

/** A place in memory for the picture under a key, to be given back. Throws `overloaded`. */
export async function placeForPicture(
  { pictures }: Pick<InspectionDeps, 'pictures'>,
  storageKey: string,
): Promise<() => void> {
  return pictures.acquire({ owner: ownerOfKey(storageKey), kind: 'upload' }).catch(busy);
}

/**
 * Reads exactly the object that `head` describes. A refusal when the picture is at fault; `undefined` when the object is
 * gone or has become another one. Throws `engine_unavailable`, `overloaded` and `screening_unavailable`. To be called with a
 * place (`placeForPicture`), which is needed as long as the bytes are.
 */
export async function inspectImage(
  deps: Pick<InspectionDeps, 'objects' | 'engine' | 'screening'>,
  storageKey: string,
  head: ObjectHead,
): Promise<Picture | Refusal | undefined> {
  const read = await readUnchanged(deps.objects, storageKey, { ifMatch: head.etag });
  return read && inspectBytes(deps, read, ownerOfKey(storageKey));
}

/** As `inspectImage`, of bytes that are in memory already. */
export async function inspectBytes(
  deps: Pick<InspectionDeps, 'engine' | 'screening'>,
  { bytes, sha256, md5 }: ReadObject,
  owner: string,
): Promise<Picture | Refusal> {
  try {
    const { rendition, ...facts } = await deps.engine.inspect(bytes, owner);
    const { hex, quality } = await deps.screening.hash(rendition);
    return { bytes, facts, digests: { sha256, md5, pdq: hex, pdqQuality: quality } };
  } catch (error) {
    if (error instanceof PictureFault) return refusalByFault[error.reason];
    return busy(error);
  }
}

/**
 * As `inspectImage`, of a picture under whatever name. Under that of something else it may be no larger than a picture:
 * it is read into memory.
 */
export async function inspectPicture(
  deps: Pick<InspectionDeps, 'objects' | 'engine' | 'screening'> & { readonly limits: SizeLimits },
  storageKey: string,
  head: ObjectHead,
): Promise<Picture | Refusal | undefined> {
  return head.size > deps.limits.maxImageBytes ? 'asset_too_large' : inspectImage(deps, storageKey, head);
}

/** What is called a picture speaks for itself; what is not keeps what is `told` of it, and gains its digests. */
export function factsOf(told: AssetFacts, { digests, facts }: Picture): AssetFacts {
  return isImage(told.mime)
    ? { ...told, ...digests, ...facts, durationMs: null, thumbAssetId: null }
    : { ...told, ...digests };
}

/** Of bytes that nobody has looked at. */
export function unseenFacts(mime: string): AssetFacts {
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
    thumbAssetId: null,
  };
}

/**
 * What is called a picture (`mime`), and what would be shown as one whatever it is called: browsers go by the bytes.
 * `undefined`: the object has become another one. Throws `engine_unavailable`.
 */
export async function isPicture(
  objects: InspectionDeps['objects'],
  storageKey: string,
  head: ObjectHead,
  mime: string,
): Promise<boolean | undefined> {
  if (isImage(mime)) return true;
  if (head.size === 0) return false;
  const options = { ifMatch: head.etag, range: { start: 0, end: beginningBytes - 1 } };
  const beginning = await readUnchanged(objects, storageKey, options);
  return beginning && sniff(beginning.bytes) !== undefined;
}

/** A picture that takes too long now may be quick on an idle machine: the object stays, the call may be repeated. */
function busy(error: unknown): never {
  throw error instanceof EngineBusy || error instanceof EngineTimeout ? problems.overloaded({ cause: error }) : error;
}

/** Digests are hex. */
export interface ReadObject {
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly md5: string;
}

/** `undefined`: the object is gone, or is not the one of `ifMatch`. Throws `engine_unavailable`. */
export async function readUnchanged(
  objects: InspectionDeps['objects'],
  storageKey: string,
  options: ReadOptions,
): Promise<ReadObject | undefined> {
  const deadline = startIdleDeadline(readIdleMs);
  try {
    const body = await objects.get(storageKey, { ...options, signal: deadline.signal });
    return body && (await deadline.race(readWhole(body, deadline)));
  } catch (error) {
    if (error instanceof ObjectChanged) return undefined;
    throw error instanceof Problem ? error : problems.engine_unavailable({ cause: error });
  } finally {
    deadline.stop();
  }
}

/** Digests are taken on the way in, a chunk at a time, so that a large picture does not hold the event loop. */
async function readWhole(body: ObjectBody, deadline: IdleDeadline): Promise<ReadObject> {
  const sha256 = createHash('sha256');
  const md5 = createHash('md5');
  const size = body.end - body.start + 1;
  const bytes = Buffer.allocUnsafe(size);
  let length = 0;
  for await (const chunk of body.stream as AsyncIterable<Buffer>) {
    deadline.touch();
    sha256.update(chunk);
    md5.update(chunk);
    chunk.copy(bytes, length);
    length += chunk.length;
  }
  if (length !== size) throw new Error(`the object ended after ${length} of ${size} bytes`);
  return { bytes, sha256: sha256.digest('hex'), md5: md5.digest('hex') };
}
