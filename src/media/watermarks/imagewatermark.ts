/** `POST /v1/watermark`: an image with the brand's watermark, for downloads (docs/specification/media.md#watermarks). */
import { brandIdOf } from '#image/engine/brand.ts';
import { EngineTimeout } from '#image/engine/engine.ts';
import { asImageProblem } from '#image/engine/problems.ts';
import { objectSource, ownerOfKey, SourceFault } from '#image/engine/sources.ts';
import type { Caller } from '#platform/access/caller.ts';
import { isSafeKey, ObjectExists } from '#platform/objects/objects.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { WatermarkedImage, WatermarkRequest } from '../api.ts';
import { watermarkKeyOf } from '../assets/storagekey.ts';
import type { ImageWatermarker, MediaContext, WatermarkSource } from '../context.ts';
import { removeObject } from '../deletion/removal.ts';
import { type ResolvedAsset, resolveRefs } from '../lookup/assetlookup.ts';
import { mediaProblems, noSuchAsset } from '../problems.ts';
import { signOneWithCache } from '../signing/signedurlcache.ts';
import { originalAddress } from '../signing/signing.ts';
import { isReplaced, isWatermarkCurrent, recordWatermark } from './watermarkstore.ts';

/** The JSON of WatermarkedImage. Throws 404 if `resolveRefs` omits it, 400 if it is not an image, and as `ImageWatermarker` does. */
export function watermarkImage(deps: MediaContext, caller: Caller, request: WatermarkRequest): Promise<string> {
  return signOneWithCache(deps, caller, 'watermark', request, async () => {
    const resolved = await resolveSource(deps, caller, request, 'image');
    const storageKey = await deps.watermarks.ensure(resolved);
    // No upload URL is ever signed for its key, so the object was made here, from bytes that passed their screening.
    const made = { objects: resolved.objects, storageKey, mime: 'image/jpeg', etag: undefined };
    const response: WatermarkedImage = { url: originalAddress(deps, made, request.download) };
    return { resolved, response };
  });
}

/** Throws 404 and 400. */
export async function resolveSource(
  deps: MediaContext,
  caller: Caller,
  { ref, legacyBucket }: WatermarkRequest,
  type: 'image' | 'video',
): Promise<ResolvedAsset> {
  const source = (await resolveRefs(deps, caller, [ref], legacyBucket)).get(ref);
  if (source === undefined || isReplaced(source)) throw noSuchAsset();
  if (!source.mime.startsWith(`${type}/`))
    throw invalid('body.ref', `must be ${type === 'image' ? 'an' : 'a'} ${type}`);
  // The longest names of the legacy backend leave no room for the suffix.
  if (!isSafeKey(watermarkKeyOf(type, source.storageKey, brandIdOf(deps.brand))))
    throw invalid('body.ref', 'has a name that is too long to add a watermark file');
  return source;
}

// Makes the watermarked image next to its source, once for all concurrent calls: within a process they share one promise;
// of several processes the first to write wins, or the last if the source is a legacy file, which can be replaced. After
// writing, the source is checked again and the file removed if the source is gone: a deletion removes the source first and
// then lists its derivatives, so one of the two finds the file.

/** What making one uses. */
type Maker = Pick<MediaContext, 'db' | 'engine' | 'images'>;

export function createImageWatermarker(deps: Maker): ImageWatermarker {
  /** By bucket, key and version. */
  const making = new Map<string, Promise<void>>();
  return {
    ensure: async (source) => {
      const key = watermarkKeyOf('image', source.storageKey, deps.engine.brandId);
      const name = JSON.stringify([source.objects.bucket, key, source.version]);
      const flight = making.get(name) ?? ensureFile(deps, source, key).finally(() => making.delete(name));
      making.set(name, flight);
      await flight;
      return key;
    },
  };
}

async function ensureFile(deps: Maker, source: WatermarkSource, key: string): Promise<void> {
  if (await isWatermarkCurrent(deps.db, source, key)) return;
  try {
    await make(deps, source, key);
  } catch (error) {
    if (await isPathReplaced(error, source)) throw mediaProblems.asset_changing({ cause: error });
    if (error instanceof SourceFault && error.reason === 'absent') throw noSuchAsset(error);
    if (error instanceof SourceFault) throw problems.engine_unavailable({ cause: error });
    // As in a registration: it may be fast on an idle machine.
    if (error instanceof EngineTimeout) throw problems.overloaded({ cause: error });
    throw asImageProblem(error);
  }
}

/** A legacy path means its current bytes. The next call finds the new ones. */
async function isPathReplaced(error: unknown, { objects, storageKey, etag }: WatermarkSource): Promise<boolean> {
  const isAbsent = error instanceof SourceFault && error.reason === 'absent';
  return isAbsent && etag === undefined && (await objects.head(storageKey)) !== undefined;
}

async function make(deps: Maker, source: WatermarkSource, key: string): Promise<void> {
  const { engine, images } = deps;
  const { objects, storageKey, etag, version } = source;
  const owner = ownerOfKey(storageKey);
  const { size: bytes = 0 } = (await objects.head(storageKey)) ?? {};
  const release = await images.acquire({ owner, bytes });
  try {
    const read = await objectSource(objects, storageKey, etag ?? version).read();
    const jpeg = await engine.watermark(read.bytes, owner);
    await put(deps, source, key, jpeg);
    await takeBackUnless(read.stillStands, source, key);
  } finally {
    release();
  }
}

async function put({ db }: Maker, source: WatermarkSource, key: string, jpeg: Uint8Array): Promise<void> {
  const options = { contentType: 'image/jpeg', size: jpeg.length, createOnly: source.version === undefined };
  try {
    await recordWatermark(db, source, key, await source.objects.put(key, jpeg, options));
  } catch (error) {
    // Another process was first, with the same image.
    if (!(error instanceof ObjectExists)) throw error;
  }
}

async function takeBackUnless(
  stillStands: () => Promise<boolean>,
  { objects }: WatermarkSource,
  key: string,
): Promise<void> {
  try {
    if (!(await stillStands())) throw new SourceFault('absent', 'the source was removed while it was watermarked');
  } catch (error) {
    await removeObject(objects, key);
    throw error;
  }
}
