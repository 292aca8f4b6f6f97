/** `POST /v1/sign/video`: one query for the refs, one for their thumbnails (docs/specification/media.md#signing). */
import { isDecodable } from '#image/engine/formats.ts';
import type { Caller } from '#platform/access/caller.ts';
import { mapConcurrently } from '#platform/concurrency.ts';
import type { VideoSignedRef } from '../api.ts';
import { renditionKeyOf, renditionMime } from '../assets/storagekey.ts';
import type { MediaContext } from '../context.ts';
import * as lookup from '../lookup/assetlookup.ts';
import { thumbPathOf } from '../refs.ts';
import { joinSigned, type SignedAsset, type SigningRequest, signWithCache } from './signedurlcache.ts';
import { type Download, originalAddress, thumbAddress } from './signing.ts';
import { findThumbs } from './thumbstore.ts';

type Thumb = Awaited<ReturnType<typeof findThumbs>>[number];

/** The part of the response about the thumbnail of a video. */
interface ShownThumb {
  readonly thumbAssetId: string | null;
  readonly thumbUrl?: string;
}

/** The resolved thumbnail. */
interface FoundThumb {
  readonly shown: ShownThumb;
  /** The one that `thumbUrl` shows. */
  readonly resolved?: lookup.ResolvedAsset;
  /** The next lookup may find another one, or none. */
  readonly isTransient?: boolean;
}

const noThumb: ShownThumb = { thumbAssetId: null };

/**
 * The JSON of VideoSignedRefs, keyed by ref as in the request. References that `resolveRefs` omits are `not_found`. An
 * asset with a `thumbAssetId` counts as a video, as does a legacy file with the name of one. A thumbnail that cannot be
 * shown is logged, and only `thumbUrl` is missing.
 */
export async function signVideos(deps: MediaContext, caller: Caller, request: SigningRequest): Promise<Buffer> {
  const responses = await signWithCache(deps, caller, 'video', request, async (refs) => {
    const found = await lookup.resolveRefs(deps, caller, refs, request.legacyBucket);
    const thumbs = await findThumbsOf(deps, caller, [...found.values()]);
    return new Map(
      [...found].map(([ref, video]) => [ref, toSignedAsset(deps, video, request.download, thumbs.get(video))]),
    );
  });
  return joinSigned(request.refs, responses);
}

function toSignedAsset(
  deps: MediaContext,
  resolved: lookup.ResolvedAsset,
  download: Download,
  thumb: FoundThumb = { shown: noThumb, isTransient: true },
): SignedAsset {
  const response = signVideo(deps, resolved, thumb.shown, download);
  if (thumb.resolved?.row === undefined) return { resolved, response, isTransient: thumb.isTransient ?? false };
  return {
    resolved,
    response,
    thumb: { row: thumb.resolved.row, responseWithout: { ...response, thumbUrl: undefined } },
    hasLegacyThumb: thumb.resolved.backend === 'legacy',
  };
}

function signVideo(
  deps: MediaContext,
  video: lookup.ResolvedAsset,
  thumb: ShownThumb,
  download: Download,
): VideoSignedRef {
  const { width, height, byteSize, durationMs, blurhash, mime } = video;
  const facts = {
    ...{ width, height, byteSize, durationMs, blurhash, mime, generated: video.row?.generated ?? null },
    ...(video.row?.isTrashed && { trashed: true as const }),
  };
  const url = originalAddress(deps, video, download);
  const playUrl = playAddress(deps, video, url, download);
  return { ready: true, url, ...(playUrl !== undefined && { playUrl }), ...thumb, ...facts };
}

/** `undefined`: it is not known whether browsers play the video, or they do not and it has no rendition. */
function playAddress(
  deps: MediaContext,
  { objects, storageKey, row }: lookup.ResolvedAsset,
  url: string,
  download: Download,
): string | undefined {
  if (row?.playback === 'original') return url;
  if (row?.playback !== 'rendition') return undefined;
  return originalAddress(
    deps,
    { objects, storageKey: renditionKeyOf(storageKey), mime: renditionMime, etag: undefined },
    download,
  );
}

async function findThumbsOf(
  deps: MediaContext,
  caller: Caller,
  videos: readonly lookup.ResolvedAsset[],
): Promise<ReadonlyMap<lookup.ResolvedAsset, FoundThumb>> {
  const rows = await lookUpThumbs(deps, videos);
  const lost: string[] = [];
  const shown = await mapConcurrently(
    videos,
    lookup.headsAtOnce,
    async (video): Promise<[lookup.ResolvedAsset, FoundThumb]> => {
      const thumbAssetId = video.row?.namedThumbId ?? null;
      const wanted = thumbAssetId === null ? pathOfThumb(video) : rows && pickRow(rows.get(thumbAssetId), video);
      if (wanted === undefined) return [video, { shown: noThumb, isTransient: thumbAssetId !== null }];
      const thumb = wanted === 'absent' ? undefined : await openThumb(deps, caller, wanted);
      if (thumb === undefined) {
        lost.push(video.row?.assetId ?? video.storageKey);
        return [video, { shown: { thumbAssetId }, isTransient: true }];
      }
      return [video, { shown: { thumbAssetId, thumbUrl: thumbAddress(deps, thumb) }, resolved: thumb }];
    },
  );
  if (lost.length > 0) deps.log.warn({ assetIds: lost }, 'thumbnails do not resolve');
  return new Map(shown);
}

/** `undefined`: the lookup failed, so their owners are unknown. */
async function lookUpThumbs(
  deps: MediaContext,
  videos: readonly lookup.ResolvedAsset[],
): Promise<ReadonlyMap<string, Thumb> | undefined> {
  const thumbIds = new Set(videos.flatMap(({ row }) => row?.namedThumbId ?? []));
  if (thumbIds.size === 0) return new Map();
  try {
    const rows = await findThumbs(deps.db, [...thumbIds]);
    return new Map(rows.map((row) => [row.assetId, row]));
  } catch (error) {
    deps.log.warn({ err: error }, 'thumbnails could not be looked up');
    return undefined;
  }
}

interface LegacyThumb {
  readonly bucket: string;
  readonly path: string;
}

/** `undefined`: it belongs to another owner and is not mentioned. */
function pickRow(row: Thumb | undefined, video: lookup.ResolvedAsset): Thumb | 'absent' | undefined {
  if (row === undefined) return 'absent';
  return row.ownerId === video.row?.ownerId ? row : undefined;
}

function pathOfThumb({ backend, objects, storageKey }: lookup.ResolvedAsset): LegacyThumb | undefined {
  const path = backend === 'legacy' ? thumbPathOf(storageKey) : undefined;
  return path === undefined ? undefined : { bucket: objects.bucket, path };
}

/** An image that the caller can read. A thumbnail by convention is next to its video and has the same readers. */
async function openThumb(
  deps: MediaContext,
  caller: Caller,
  thumb: Thumb | LegacyThumb,
): Promise<lookup.ResolvedAsset | undefined> {
  try {
    if ('path' in thumb) {
      const resolved = (await lookup.lookUpAssets(deps, [thumb.path], thumb.bucket)).get(thumb.path);
      return resolved && isDecodable(resolved.mime) ? resolved : undefined;
    }
    if (!thumb.isReady || !isDecodable(thumb.mime) || !lookup.isReadable(deps, caller, { row: thumb }))
      return undefined;
    return await lookup.lookUpRow(deps, thumb);
  } catch (error) {
    deps.log.warn({ err: error }, 'a thumbnail could not be looked up');
    return undefined;
  }
}
