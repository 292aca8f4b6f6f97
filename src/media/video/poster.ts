/** A frame of a video as a JPEG, for its thumbnail. */
import { readFile } from 'node:fs/promises';
import { type Ffmpeg, guardedInput, threads, VideoFault } from './ffmpeg.ts';
import type { VideoFacts } from './probing.ts';

const longestSide = 1920;
const timeoutMs = 120_000;
/** The number of frames from which the most typical one is chosen, and not a flash or a black frame. */
const candidates = 24;
const maxPosterBytes = 16 * 1024 * 1024;

/** Upright, at most 1920 on its long side, from about second 1. Throws `VideoFault`, and as `Ffmpeg.run`. */
export async function takePoster(
  ffmpeg: Ffmpeg,
  video: { readonly file: string; readonly facts: VideoFacts },
  into: string,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const { durationMs } = video.facts;
  const laterS = durationMs === null ? 0 : Math.min(1, durationMs / 3000);
  // A stream can end before the file does, or claim a duration that it does not have.
  for (const startS of new Set([laterS, 0])) {
    const taken = await takeFrame(ffmpeg, video, startS, into, signal);
    if (taken !== undefined) return taken;
  }
  throw new VideoFault('undecodable_video', 'it has no frame');
}

/** `undefined`: there is no frame at this time. */
async function takeFrame(
  ffmpeg: Ffmpeg,
  { file, facts }: { readonly file: string; readonly facts: VideoFacts },
  startS: number,
  into: string,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const { width, height } = shrink(facts);
  const filters = `thumbnail=n=${candidates},scale=${width}:${height},setsar=1`;
  const output = ['-map', `0:${facts.stream}`, '-frames:v', '1', '-an', '-sn', '-dn', '-map_metadata', '-1'];
  const encoding = ['-pix_fmt', 'yuvj420p', '-c:v', 'mjpeg', '-q:v', '3', '-f', 'image2', '-update', '1'];
  const args = [
    ...guardedInput,
    ...['-threads', String(threads), '-ss', startS.toFixed(3), '-i', `file:${file}`],
    ...output,
    ...['-vf', filters, '-threads', '1', ...encoding, `file:${into}`],
  ];
  const isFirst = startS === 0;
  try {
    await ffmpeg.run(args, { timeoutMs, signal, maxOutputBytes: maxPosterBytes });
  } catch (error) {
    if (isFirst || !(error instanceof VideoFault)) throw error;
    return undefined;
  }
  return readFile(into).catch(() => undefined);
}

/** Codecs require even sides. */
export function shrink({ width, height }: Pick<VideoFacts, 'width' | 'height'>) {
  const scale = Math.min(1, longestSide / Math.max(width, height));
  const even = (side: number) => Math.max(2, 2 * Math.round((side * scale) / 2));
  return { width: even(width), height: even(height) };
}
