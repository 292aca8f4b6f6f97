/** Encodes a video as an MP4 that every browser plays: H.264 with 8 bits, in SDR, and AAC. */
import { DeadlineExceeded } from '#platform/resilience.ts';
import { type Colors, withSdrColors } from './colors.ts';
import { decoderThreads, type Ffmpeg, guardedInput, type RunOptions, threads, VideoFault } from './ffmpeg.ts';
import type { Size } from './poster.ts';
import type { VideoFile } from './probing.ts';

export const longestS = 2 * 60 * 60;
const timeoutMs = 30 * 60_000;
const maxOutputBytes = 4 * 1024 ** 3;

export const inputOf = ({ file, facts }: VideoFile) => [
  ...guardedInput,
  // A recorded call may change its size in between: the first filter adapts, the graph is not restarted.
  ...['-threads', decoderThreads(facts), '-reinit_filter', '0', '-i', `file:${file}`],
];

export const outputTo = (into: string, { tags }: Colors) => [
  ...['-map_metadata', '-1', '-map_chapters', '-1', '-threads', String(threads)],
  ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '21', '-rc-lookahead', '5', '-pix_fmt', 'yuv420p', ...tags],
  ...['-c:a', 'aac', '-b:a', '160k', '-movflags', '+faststart', '-f', 'mp4', `file:${into}`],
];

/** `size`: to which the filters of `argsOf` scale. Throws `VideoFault`, and as `Ffmpeg.run`. */
export async function encode(
  ffmpeg: Ffmpeg,
  { durationMs, hdrTransfer }: Pick<VideoFile['facts'], 'durationMs' | 'hdrTransfer'>,
  size: Size,
  argsOf: (colors: Colors) => readonly string[],
  options: Pick<RunOptions, 'signal' | 'onOutput'>,
): Promise<void> {
  if ((durationMs ?? 0) > longestS * 1000) throw new VideoFault('video_too_large', `${durationMs} ms long`);
  const limits = { ...options, timeoutMs, maxOutputBytes };
  await withSdrColors({ hdrTransfer }, size, (colors) => ffmpeg.run(argsOf(colors), limits)).catch((error: unknown) => {
    // A retry would take as long, and other jobs wait.
    if (error instanceof DeadlineExceeded)
      throw new VideoFault('video_too_large', `not finished within ${timeoutMs} ms`);
    throw error;
  });
}
