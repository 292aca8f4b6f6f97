/** The images that an order refers to: they must be readable for its user, and are fetched when the provider gets them. */
import { invalid, problems } from '#platform/problem.ts';
import { type Image, OrderRefused, type Ratio, type VideoGenerator } from '../providers/generators.ts';
import {
  fetchImage,
  fetchScaledImage,
  findUnreadable,
  type LibraryDeps,
  type SourceImage,
} from '../services/library.ts';

/** Throws 400 for assets that do not exist, and 403 for those of others. */
export async function assertReadable(
  deps: LibraryDeps,
  userId: string,
  assetIds: readonly string[],
  field: string,
): Promise<void> {
  if (assetIds.length === 0) return;
  const { absent, foreign } = await findUnreadable(deps, userId, [...new Set(assetIds)]);
  if (foreign.length > 0) throw problems.forbidden({ message: `${field} names an asset that you cannot read.` });
  if (absent.length > 0) throw invalid(field, 'names an asset that does not exist');
}

/** In the order of `assetIds`. Throws OrderRefused for one that has been deleted since. */
export async function readImages(
  deps: LibraryDeps,
  userId: string,
  assetIds: readonly string[],
  signal: AbortSignal,
): Promise<SourceImage[]> {
  const images: SourceImage[] = [];
  for (const assetId of assetIds) {
    const image = await fetchImage(deps, userId, assetId, signal);
    if (image === undefined) throw gone();
    images.push(image);
  }
  return images;
}

const gone = () => new OrderRefused('An image of the order no longer exists.');

/** The first frame of a video, in the size that its provider demands. Throws as `readImages`. */
export async function readFrame(
  deps: LibraryDeps,
  userId: string,
  { assetId, ratio }: { readonly assetId: string; readonly ratio: Ratio },
  { frameSizeOf }: Pick<VideoGenerator, 'frameSizeOf'>,
  signal: AbortSignal,
): Promise<Image> {
  const image = frameSizeOf
    ? await fetchScaledImage(deps, userId, assetId, signal, frameSizeOf(ratio))
    : await fetchImage(deps, userId, assetId, signal);
  if (image === undefined) throw gone();
  return image;
}
