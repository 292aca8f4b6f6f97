/** The file that people other than its owner get, where the owner's original keeps its metadata. */

import { MovieTooComplex } from '#platform/metadata/movie.ts';
import type { Objects } from '#platform/objects/objects.ts';
import type { StoredAsset } from '../assets/assetstore.ts';
import { cleanKeyOf } from '../assets/storagekey.ts';
import { planRewriting } from './rewriting.ts';

/**
 * Returns the key of the file without metadata, which is made first if it is missing: the original itself if it has none.
 * It is removed with its source. `undefined`: the source was removed or replaced.
 */
export async function sharedFileOf(
  objects: Objects,
  asset: Pick<StoredAsset, 'storageKey' | 'etag' | 'mime' | 'byteSize' | 'generated'>,
): Promise<string | undefined> {
  const { storageKey, etag, mime, byteSize, generated } = asset;
  const key = cleanKeyOf(storageKey);
  if ((await objects.head(key)) !== undefined) return key;
  // Files from before marks existed get theirs here.
  const wanted = { strips: true, mark: generated ?? undefined };
  const plan = await planRewriting(objects, storageKey, { etag, size: byteSize }, wanted).catch((error: unknown) => {
    // Not shown rather than shown with its metadata.
    if (error instanceof MovieTooComplex) return undefined;
    throw error;
  });
  if (plan === undefined) return undefined;
  if (plan.write === undefined) return storageKey;
  await plan.write(objects, key, mime);
  // A deletion from before has not seen the file.
  if ((await objects.head(storageKey))?.etag === etag) return key;
  await objects.remove([key]);
  return undefined;
}
