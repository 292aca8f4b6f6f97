/** `POST /v1/sign/video`: one query for the refs, one for their thumbnails (document 000; CONTRACT §4). */
import type { Caller } from '#platform/access/caller.ts';
import type { Log } from '#platform/log.ts';
import type { SignRequest, VideoSignedRef, VideoSignedRefs } from './api.ts';
import { isImage } from './limits.ts';
import { isReadable, type ReadyAsset, resolveRefs } from './resolving.ts';
import { answerByRef, originalAddress, type SigningDeps, thumbAddress } from './signing.ts';
import { findThumbs } from './store.ts';

export interface VideoSigningDeps extends SigningDeps {
  readonly log: Pick<Log, 'warn'>;
}

type Thumb = Awaited<ReturnType<typeof findThumbs>>[number];

/** What is told about the thumbnail of a video. */
interface ShownThumb {
  readonly thumbAssetId: string | null;
  readonly thumbUrl?: string;
}

const noThumb: ShownThumb = { thumbAssetId: null };

/**
 * Keyed by ref as it was given; what `resolveRefs` leaves out is `not_found`. Whatever has a `thumbAssetId` counts as a
 * video. A thumbnail that cannot be shown is logged, and takes nothing from the video but its `thumbUrl`.
 */
export async function signVideos(
  deps: VideoSigningDeps,
  caller: Caller,
  request: SignRequest,
): Promise<VideoSignedRefs> {
  const found = await resolveRefs(deps, caller, request.refs);
  const thumbs = await showThumbs(deps, caller, [...found.values()]);
  return answerByRef(request.refs, found, (row) => signVideo(deps, row, thumbs.get(row.assetId) ?? noThumb));
}

function signVideo(deps: SigningDeps, row: ReadyAsset, thumb: ShownThumb): VideoSignedRef {
  const { width, height, byteSize, durationMs, blurhash, mime } = row;
  const facts = { width, height, byteSize, durationMs, blurhash, mime };
  return { ready: true, url: originalAddress(deps, row), ...thumb, ...facts };
}

/** By the id of the video. */
async function showThumbs(
  deps: VideoSigningDeps,
  caller: Caller,
  videos: readonly ReadyAsset[],
): Promise<ReadonlyMap<string, ShownThumb>> {
  const named = videos.filter(({ namedThumbId }) => namedThumbId !== null);
  const thumbs = await lookUpThumbs(deps, named);
  if (thumbs === undefined) return new Map();
  const shown = new Map(named.map((video) => [video.assetId, showThumb(deps, caller, video, thumbs)]));
  const lost = [...shown].filter(([, { thumbAssetId, thumbUrl }]) => thumbAssetId !== null && thumbUrl === undefined);
  if (lost.length > 0) deps.log.warn({ assetIds: lost.map(([assetId]) => assetId) }, 'thumbnails do not resolve');
  return shown;
}

/** `undefined`: they could not be looked up, and nothing is known about whose they are. */
async function lookUpThumbs(
  deps: VideoSigningDeps,
  videos: readonly ReadyAsset[],
): Promise<ReadonlyMap<string, Thumb> | undefined> {
  const thumbIds = new Set(videos.flatMap(({ namedThumbId }) => namedThumbId ?? []));
  if (thumbIds.size === 0) return new Map();
  try {
    const rows = await findThumbs(deps.db, [...thumbIds]);
    return new Map(rows.map((row) => [row.assetId, row]));
  } catch (error) {
    deps.log.warn({ err: error }, 'thumbnails could not be looked up');
    return undefined;
  }
}

function showThumb(
  deps: VideoSigningDeps,
  caller: Caller,
  video: ReadyAsset,
  thumbs: ReadonlyMap<string, Thumb>,
): ShownThumb {
  const thumbAssetId = video.namedThumbId;
  const thumb = thumbAssetId === null ? undefined : thumbs.get(thumbAssetId);
  if (thumb === undefined) return { thumbAssetId };
  if (thumb.ownerId !== video.ownerId) return noThumb;
  if (!thumb.isReady || !isImage(thumb.mime) || !isReadable(deps, caller, thumb)) return { thumbAssetId };
  return { thumbAssetId, thumbUrl: thumbAddress(deps, thumb) };
}
