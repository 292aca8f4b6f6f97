/** `POST /v1/sign/video`: one query for the refs, one for their thumbnails (docs/specification/media.md#signing). */
import { isDecodable } from '#image/engine/formats.ts';
import type { Caller } from '#platform/access/caller.ts';
import { mapConcurrently } from '#platform/concurrency/mapconcurrently.ts';
import type { Log } from '#platform/log.ts';
import { type Answer, answersOf, joinAnswers } from './answers.ts';
import type { SignRequest, VideoSignedRef } from './api.ts';
import { headsAtOnce, type Located, locateAll, locateRow, startReading } from './locating.ts';
import type { Reading } from './reconciling/reconciling.ts';
import { thumbPathOf } from './refs.ts';
import { isReadable, resolveRefs } from './resolving.ts';
import { originalAddress, type SigningDeps, thumbAddress } from './signing.ts';
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

/** What is found out about it. */
interface FoundThumb {
  readonly shown: ShownThumb;
  /** The one that `thumbUrl` shows. */
  readonly located?: Located;
  /** It may be another one, or none, at the next look. */
  readonly isPassing?: boolean;
}

const noThumb: ShownThumb = { thumbAssetId: null };

/**
 * The JSON of VideoSignedRefs: keyed by ref as it was given; what `resolveRefs` leaves out is `not_found`. Whatever has a `thumbAssetId` counts as a
 * video, and in the legacy backend what is named like one. A thumbnail that cannot be shown is logged, and takes nothing
 * from the video but its `thumbUrl`.
 */
export async function signVideos(deps: VideoSigningDeps, caller: Caller, request: SignRequest): Promise<string> {
  const told = await answersOf(deps, caller, 'video', request, async (refs) => {
    const found = await resolveRefs(deps, caller, refs, request.legacyBucket);
    const thumbs = await findThumbsOf(deps, caller, [...found.values()]);
    return new Map([...found].map(([ref, video]) => [ref, answerWith(video, thumbs.get(video))]));
  });
  return joinAnswers(request.refs, told);
}

function answerWith(located: Located, thumb: FoundThumb = { shown: noThumb, isPassing: true }): Answer {
  const told = signVideo(located, thumb.shown);
  if (thumb.located?.row === undefined) return { located, told, isPassing: thumb.isPassing ?? false };
  return {
    located,
    told,
    thumb: { row: thumb.located.row, toldWithout: { ...told, thumbUrl: undefined } },
    hasLegacyThumb: thumb.located.backend === 'legacy',
  };
}

function signVideo(video: Located, thumb: ShownThumb): VideoSignedRef {
  const { width, height, byteSize, durationMs, blurhash, mime } = video;
  const facts = { width, height, byteSize, durationMs, blurhash, mime };
  return { ready: true, url: originalAddress(video), ...thumb, ...facts };
}

async function findThumbsOf(
  deps: VideoSigningDeps,
  caller: Caller,
  videos: readonly Located[],
): Promise<ReadonlyMap<Located, FoundThumb>> {
  const reading = startReading(deps);
  const rows = await lookUpThumbs(deps, videos);
  const lost: string[] = [];
  const shown = await mapConcurrently(videos, headsAtOnce, async (video): Promise<[Located, FoundThumb]> => {
    const thumbAssetId = video.row?.namedThumbId ?? null;
    const wanted = thumbAssetId === null ? pathOfThumb(video) : rows && pickRow(rows.get(thumbAssetId), video);
    if (wanted === undefined) return [video, { shown: noThumb, isPassing: thumbAssetId !== null }];
    const thumb = wanted === 'absent' ? undefined : await openThumb(deps, caller, wanted, reading);
    if (thumb === undefined) {
      lost.push(video.row?.assetId ?? video.storageKey);
      return [video, { shown: { thumbAssetId }, isPassing: true }];
    }
    return [video, { shown: { thumbAssetId, thumbUrl: thumbAddress(deps, thumb) }, located: thumb }];
  });
  if (lost.length > 0) deps.log.warn({ assetIds: lost }, 'thumbnails do not resolve');
  return new Map(shown);
}

/** `undefined`: they could not be looked up, and nothing is known about whose they are. */
async function lookUpThumbs(
  deps: VideoSigningDeps,
  videos: readonly Located[],
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

/** `undefined`: it is somebody else's, which nobody is told of. */
function pickRow(row: Thumb | undefined, video: Located): Thumb | 'absent' | undefined {
  if (row === undefined) return 'absent';
  return row.ownerId === video.row?.ownerId ? row : undefined;
}

function pathOfThumb({ backend, objects, storageKey }: Located): LegacyThumb | undefined {
  const path = backend === 'legacy' ? thumbPathOf(storageKey) : undefined;
  return path === undefined ? undefined : { bucket: objects.bucket, path };
}

/** A picture that the caller may see. One by convention lies beside its video, and whoever sees the one sees the other. */
async function openThumb(
  deps: VideoSigningDeps,
  caller: Caller,
  thumb: Thumb | LegacyThumb,
  reading: Reading,
): Promise<Located | undefined> {
  try {
    if ('path' in thumb) {
      const located = (await locateAll(deps, [thumb.path], thumb.bucket)).get(thumb.path);
      return located && isDecodable(located.mime) ? located : undefined;
    }
    if (!thumb.isReady || !isDecodable(thumb.mime) || !isReadable(deps, caller, { row: thumb })) return undefined;
    const [current] = await reading.current([thumb]);
    return current && (await locateRow(deps, current));
  } catch (error) {
    deps.log.warn({ err: error }, 'a thumbnail could not be looked for');
    return undefined;
  }
}
