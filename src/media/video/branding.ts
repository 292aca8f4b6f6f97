/**
 * A video for download, with the wordmark at its lower right and a branded closing clip
 * (docs/specification/media.md#watermarks).
 */
import { writeFile } from 'node:fs/promises';
import { letterShare, wordmark } from '#image/engine/wordmark.ts';
import { DeadlineExceeded } from '#platform/resilience/deadline.ts';
import { type Colors, deinterlacing, withSdrColors } from './colors.ts';
import { decoderThreads, type Ffmpeg, guardedInput, threads, VideoFault } from './ffmpeg.ts';
import { shrink } from './poster.ts';
import type { VideoFacts } from './probing.ts';

/** The height of the letters, in short sides of the image, as on images. */
const letterSize = 0.045;
/** Pixels. Smaller letters are illegible. */
const smallestLetter = 10;
/** Shares of the image's width: of the closing clip's mark, and the limit of the other mark. */
const closingShare = 0.6;
const mostShare = 0.9;
const closingS = 2;
const longestS = 2 * 60 * 60;
const timeoutMs = 30 * 60_000;
const maxOutputBytes = 4 * 1024 ** 3;

/**
 * Writes an MP4 (H.264, AAC) to `into`: upright, progressive, in SDR, at most 1920 on its long side. A silent video stays silent. Sound that
 * is longer than the image continues over the last frame. Throws `VideoFault`, and as `Ffmpeg.run`.
 */
export async function brandVideo(
  ffmpeg: Ffmpeg,
  video: { readonly file: string; readonly facts: VideoFacts },
  files: { readonly mark: string; readonly into: string },
  signal: AbortSignal,
): Promise<void> {
  const { facts, file } = video;
  if ((facts.durationMs ?? 0) > longestS * 1000) throw new VideoFault('video_too_large', `${facts.durationMs} ms long`);
  const mark = wordmark();
  await writeFile(files.mark, mark.data);
  const raw = ['-f', 'rawvideo', '-pixel_format', 'rgba', '-video_size', `${mark.width}x${mark.height}`];
  const maps = facts.hasSound ? ['-map', '[video]', '-map', '[sound]'] : ['-map', '[video]', '-an'];
  const image = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '21', '-rc-lookahead', '5', '-pix_fmt', 'yuv420p'];
  const argsOf = (colors: Colors) => [
    ...guardedInput,
    // A recorded call may change its size in between: the first filter adapts, the graph is not restarted.
    ...['-threads', decoderThreads(facts), '-reinit_filter', '0', '-i', `file:${file}`],
    ...[...raw, '-i', `file:${files.mark}`],
    ...['-filter_complex_threads', '1', '-filter_complex', graphOf(facts, colors), ...maps],
    ...['-t', String(longestS + closingS), '-map_metadata', '-1', '-map_chapters', '-1'],
    ...['-threads', String(threads), ...image, ...colors.tags, '-c:a', 'aac', '-b:a', '160k'],
    ...['-movflags', '+faststart', '-f', 'mp4', `file:${files.into}`],
  ];
  const encode = (colors: Colors) => ffmpeg.run(argsOf(colors), { timeoutMs, signal, maxOutputBytes });
  await withSdrColors(facts, shrink(facts), encode).catch((error: unknown) => {
    // A retry would take as long, and other jobs wait.
    if (error instanceof DeadlineExceeded)
      throw new VideoFault('video_too_large', `not finished within ${timeoutMs} ms`);
    throw error;
  });
}

function graphOf(facts: VideoFacts, colors: Colors): string {
  const { width, height } = shrink(facts);
  const rate = facts.frameRate;
  const frames = [...deinterlacing(facts), `scale=${width}:${height}`, 'setsar=1', ...colors.filters].join();
  const small = markWithin(
    width,
    Math.max(letterSize * Math.min(width, height), smallestLetter) / letterShare,
    mostShare,
  );
  const large = markWithin(width, height / 3, closingShare);
  const steps = [
    `[1:v]split[mark1][mark2]`,
    `[mark1]scale=${small}[mark]`,
    `[mark2]scale=${large}[sign]`,
    // Sets an even rate from the start, and repeats the last frame, because the joint ignores its duration.
    `[0:${facts.stream}]${frames},format=yuv420p,fps=${rate}:start_time=0,tpad=stop_mode=clone:stop=1[plain]`,
    `[plain][mark]overlay=main_w-overlay_w:main_h-overlay_h,setsar=1,format=yuv420p[body]`,
    `color=c=0x14161a:s=${width}x${height}:d=${closingS}:r=${rate},format=yuv420p[dark]`,
    `[dark][sign]overlay=(main_w-overlay_w)/2:(main_h-overlay_h)/2,fade=t=in:d=0.4,setsar=1,format=yuv420p[closing]`,
  ];
  const joined = facts.hasSound
    ? [
        `[0:a:0]aresample=48000:async=1:first_pts=0,aformat=sample_fmts=fltp:channel_layouts=stereo[heard]`,
        `anullsrc=r=48000:cl=stereo,atrim=0:${closingS},aformat=sample_fmts=fltp:channel_layouts=stereo[silence]`,
        // Pads the shorter of image and sound in each part.
        `[body][heard][closing][silence]concat=n=2:v=1:a=1[all][sound]`,
      ]
    : [`[body][closing]concat=n=2:v=1:a=0[all]`];
  // Fills the gap after an image that ends before its sound.
  return [...steps, ...joined, `[all]fps=${rate}[video]`].join(';');
}

/** In the proportions of the mark. */
function markWithin(width: number, wantedHeight: number, share: number): string {
  const mark = wordmark();
  const height = Math.min(wantedHeight, (share * width * mark.height) / mark.width);
  const pixels = (side: number) => Math.max(2, 2 * Math.round(side / 2));
  return `${pixels((height * mark.width) / mark.height)}:${pixels(height)}`;
}
