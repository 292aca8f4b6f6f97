/**
 * A frame of a video as a JPEG, for its thumbnail. Of a few samples, the first one that is about as sharp and as rich in
 * contrast as the best: black frames, fades and blurred frames have weaker edges.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ObjectHead, Objects } from '#platform/objects/objects.ts';
import { Problem } from '#platform/problem.ts';
import { mediaProblems } from '../problems.ts';
import { type Colors, deinterlacing, withSdrColors } from './colors.ts';
import { decoderThreads, type Ffmpeg, guardedInput, VideoFault } from './ffmpeg.ts';
import { probeVideo, type VideoFacts, type VideoFile } from './probing.ts';
import { download, inScratchFolder } from './scratch.ts';

const bounds = { longSide: 1920, shortSide: 1920 };
/** For all samples together. */
const timeoutMs = 120_000;
/** The number of frames of a sample from which the most typical one is chosen, and not a flash or a change of scene. */
const candidates = 24;
const maxPosterBytes = 16 * 1024 * 1024;
/** Samples after the first, in shares of the duration. */
const laterShares = [0.25, 0.5, 0.75];
/** Seconds between two samples. */
const leastBetweenS = 0.5;
/** The strength of its edges, in shares of the best sample's, at which a sample is good. */
const goodShare = 0.7;
/** Pixels of the image in which edges are measured. */
const measuredWidth = 320;

interface Sample {
  readonly image: Uint8Array;
  /** The mean of the edges, 0 to 255. */
  readonly edges: number;
}

/** Upright, at most 1920 on its long side, from about second 1 if that is a good frame. Throws `VideoFault`, and as `Ffmpeg.run`. */
export async function takePoster(
  ffmpeg: Ffmpeg,
  video: VideoFile,
  into: string,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { facts } = video;
  const untilMs = performance.now() + timeoutMs;
  const samples: Sample[] = [];
  // The start of the file only if it has no other frame.
  for (const startS of [...startsOf(facts), 0]) {
    const remainingMs = Math.max(1, untilMs - performance.now());
    if (samples.length > 0 && (startS === 0 || remainingMs < timeoutMs / 2)) break;
    // A stream can end before the file does, or claim a duration that it does not have.
    const sample = await withSdrColors(facts, shrink(facts), (colors) =>
      takeFrame(ffmpeg, video, { startS, into, timeoutMs: remainingMs }, colors, signal),
    );
    if (sample !== undefined) samples.push(sample);
  }
  const best = Math.max(...samples.map(({ edges }) => edges));
  const good = samples.find(({ edges }) => edges >= goodShare * best);
  if (good === undefined) throw new VideoFault('undecodable_video', 'it has no frame');
  return good.image;
}

/** In seconds, without the start of the file. */
function startsOf({ durationMs }: VideoFacts): readonly number[] {
  if (durationMs === null) return [];
  const durationS = durationMs / 1000;
  const starts = [Math.min(1, durationS / 3)];
  for (const share of laterShares)
    if (share * durationS >= (starts.at(-1) ?? 0) + leastBetweenS) starts.push(share * durationS);
  return starts;
}

interface Taking {
  readonly startS: number;
  readonly into: string;
  readonly timeoutMs: number;
}

/** `undefined`: there is no frame at this time. */
async function takeFrame(
  ffmpeg: Ffmpeg,
  { file, facts }: VideoFile,
  { startS, into, timeoutMs }: Taking,
  colors: Colors,
  signal: AbortSignal,
): Promise<Sample | undefined> {
  const { width, height } = shrink(facts);
  // Scaled before frames are collected, which are the most memory.
  const frames = [...deinterlacing(facts), `scale=${width}:${height}`, ...colors.filters].join();
  const graph = [
    `[0:${facts.stream}]${frames},thumbnail=n=${candidates},setsar=1,split[taken][copy]`,
    // The matrix of every JPEG.
    `[taken]scale=out_color_matrix=bt601:out_range=pc,format=yuvj420p[image]`,
    `[copy]scale=${measuredWidth}:-2,format=gray,sobel,format=yuv420p,signalstats,metadata=print:key=${edgesKey}:file=-[edges]`,
  ];
  const encoding = ['-pix_fmt', 'yuvj420p', '-c:v', 'mjpeg', '-q:v', '3', '-f', 'image2', '-update', '1'];
  const args = [
    ...guardedInput,
    ...['-threads', decoderThreads(facts), '-ss', startS.toFixed(3), '-i', `file:${file}`],
    ...['-filter_complex_threads', '1', '-filter_complex', graph.join(';'), '-map_metadata', '-1'],
    ...['-map', '[image]', '-frames:v', '1', '-threads', '1', ...encoding, `file:${into}`],
    ...['-map', '[edges]', '-frames:v', '1', '-f', 'null', '-'],
  ];
  let printed = '';
  const onOutput = (text: string) => {
    printed += text;
  };
  try {
    await ffmpeg.run(args, { timeoutMs, signal, maxOutputBytes: maxPosterBytes, onOutput });
  } catch (error) {
    // With filters for HDR the fault may be theirs.
    if (startS === 0 || colors.filters.length > 0 || !(error instanceof VideoFault)) throw error;
    return undefined;
  }
  const edges = Number(printed.split(`${edgesKey}=`)[1]?.split('\n')[0]);
  // Without a frame there is no measurement, and the file may be that of an earlier sample.
  if (!Number.isFinite(edges)) return undefined;
  const image = await readFile(into).catch(() => undefined);
  return image && { image, edges };
}

const edgesKey = 'lavfi.signalstats.YAVG';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** To the size of posters and watermarked videos. */
export function shrink(size: Size): Size {
  return shrinkTo(bounds, size);
}

/** Codecs require even sides. */
export function shrinkTo(
  { longSide, shortSide }: { readonly longSide: number; readonly shortSide: number },
  { width, height }: Size,
): Size {
  const scale = Math.min(1, longSide / Math.max(width, height), shortSide / Math.min(width, height));
  const even = (side: number) => Math.max(2, 2 * Math.round((side * scale) / 2));
  return { width: even(width), height: even(height) };
}

// A frame of a stored video, for its screening.

/** Below the 30 s that the agent waits for a registration. */
const withinMs = 20_000;

/** Returns a JPEG. `undefined`: the video was replaced, has no frame, or ffmpeg is not installed. Throws 503. */
export function frameOf(
  { objects, ffmpeg }: { readonly objects: Pick<Objects, 'get'>; readonly ffmpeg: Ffmpeg },
  storageKey: string,
  head: ObjectHead,
): Promise<Uint8Array | undefined> {
  const signal = AbortSignal.timeout(withinMs);
  return inScratchFolder(async (folder) => {
    const file = join(folder, 'video');
    try {
      await ffmpeg.check();
      if (!(await download(objects, storageKey, head, file, signal))) return undefined;
      const facts = await probeVideo(ffmpeg, file, signal);
      return await takePoster(ffmpeg, { file, facts }, join(folder, 'frame.jpg'), signal);
    } catch (error) {
      const isOfTheVideo = error instanceof VideoFault || (error instanceof Problem && error.code === 'ffmpeg_missing');
      if (isOfTheVideo) return undefined;
      throw error instanceof Problem ? error : mediaProblems.screening_unavailable({ cause: error });
    }
  });
}
