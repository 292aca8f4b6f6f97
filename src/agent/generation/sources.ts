/** The images that an order refers to: they must be readable for its user, and are fetched when the provider gets them. */

import { createHash } from 'node:crypto';
import { hostAndPortOf } from '#platform/http/hostguard.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { AgentContext } from '../context.ts';
import { type Image, OrderRefused, ProviderFailed, type Ratio, type VideoGenerator } from '../providers/generators.ts';
import { createMediaFetch } from '../providers/mediafetch.ts';
import { describeImage } from '../providers/openaimedia.ts';
import {
  fetchImage,
  fetchScaledImage,
  findUnreadable,
  keep,
  type LibraryDeps,
  Refused,
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
  for (const assetId of assetIds) images.push(await readImage(deps, userId, assetId, signal));
  return images;
}

async function readImage(deps: LibraryDeps, userId: string, assetId: string, signal: AbortSignal) {
  const image = await fetchImage(deps, userId, assetId, signal);
  if (image === undefined) throw gone();
  return image;
}

const pngUrl = 'data:image/png;base64,';
export const maskUrlOf = (base64: string): string => `${pngUrl}${base64}`;

/** `mask`: an asset, or a URL of `maskUrlOf`. Throws as `readImages`. */
export async function readMask(deps: LibraryDeps, userId: string, mask: string, signal: AbortSignal): Promise<Image> {
  if (!mask.startsWith(pngUrl)) return readImage(deps, userId, mask, signal);
  return { bytes: Buffer.from(mask.slice(pngUrl.length), 'base64'), mime: 'image/png' };
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

// The input images of a home card (docs/specification/content.md): taken in from the hosts of CMS_MEDIA_HOSTS, and from no others,
// as assets of the user. The same bytes become one asset.

interface InputMedia {
  readonly type: string;
  readonly url: string;
}

const timeoutMs = 20_000;
const maxBytes = 32 * 1024 * 1024;
const scope = { kind: 'homecards', id: 'inputs' };

const fieldOf = (index: number) => `body.inputMedias.${index}.url`;

/** Throws 400 for anything but images of the CMS. Fetches nothing. */
export function assertInputMedias({ cmsMediaHosts }: AgentContext, medias: readonly InputMedia[]): void {
  for (const [index, { type, url }] of medias.entries()) {
    if (type !== 'image') throw invalid(`body.inputMedias.${index}.type`, 'must be image');
    const parsed = URL.parse(url);
    const hosts = parsed === null ? [] : [parsed.hostname, hostAndPortOf(parsed)];
    if (!hosts.some((host) => cmsMediaHosts.includes(host)))
      throw invalid(fieldOf(index), 'must be a URL of a host in CMS_MEDIA_HOSTS');
  }
}

/** Returns the assets in the order of the images. Throws 400 for images that do not exist or cannot be stored, and 503. */
export async function takeInputMedias(
  deps: AgentContext,
  ownerId: string,
  medias: readonly InputMedia[],
): Promise<readonly string[]> {
  const assetIds: string[] = [];
  for (const [index, { url }] of medias.entries()) {
    const image = describeImage(await download(url, fieldOf(index)));
    const digest = createHash('sha256').update(image.bytes).digest('hex');
    const deposit = { reference: `homecard:${ownerId}:${digest}`, ownerId, threadId: scope.id, scope, ...image };
    const kept = keep(deps, { ...deposit, kind: 'image' }, AbortSignal.timeout(2 * timeoutMs));
    const { assetId } = await kept.catch((error: unknown) => {
      throw error instanceof Refused ? invalid(fieldOf(index), `cannot be used: ${error.message}`) : error;
    });
    assetIds.push(assetId);
  }
  return assetIds;
}

async function download(url: string, field: string): Promise<Uint8Array> {
  const fetchImage = createMediaFetch({ what: 'CMS', baseUrl: new URL(url).origin, timeoutMs, maxBytes });
  try {
    return await (await fetchImage(url)).bytes();
  } catch (error) {
    const isAbsent = error instanceof OrderRefused || (error instanceof ProviderFailed && error.status !== undefined);
    throw isAbsent
      ? invalid(field, 'names an image that the CMS does not have')
      : problems.engine_unavailable({ cause: error });
  }
}
