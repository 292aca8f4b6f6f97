/** A copy of a video that every browser plays (docs/specification/media.md#renditions). */

import { open } from 'node:fs/promises';
import { fileTypeFromBuffer } from 'file-type';
import { DeadlineExceeded } from '#platform/resilience.ts';
import { type Colors, deinterlacing, withSdrColors } from './colors.ts';
import { decoderThreads, type Ffmpeg, guardedInput, threads, VideoFault } from './ffmpeg.ts';
import { type Size, shrinkTo } from './poster.ts';
import type { VideoFacts } from './probing.ts';

/** 1080p, in either orientation. */
const bounds = { longSide: 1920, shortSide: 1080 };
const longestS = 2 * 60 * 60;
const timeoutMs = 30 * 60_000;
const maxOutputBytes = 4 * 1024 ** 3;

/**
 * Writes an MP4 (H.264 with 8 bits, AAC in stereo, index first) to `into`: upright, with square pixels, in SDR. Frames
 * are shown when the source shows them. Calls `onProgress` with percents, if the duration is known. Throws
 * `VideoFault`, and as `Ffmpeg.run`.
 */
export async function renderRendition(
  ffmpeg: Ffmpeg,
  video: { readonly file: string; readonly facts: VideoFacts },
  into: string,
  signal: AbortSignal,
  onProgress: (percent: number) => void = () => undefined,
): Promise<void> {
  const { facts, file } = video;
  const { durationMs } = facts;
  if ((durationMs ?? 0) > longestS * 1000) throw new VideoFault('video_too_large', `${durationMs} ms long`);
  const onOutput = (text: string) => {
    const doneMs = Number(/out_time_us=(\d+)/.exec(text)?.[1]) / 1000;
    if (durationMs !== null && doneMs >= 0) onProgress(Math.min(99, Math.floor((100 * doneMs) / durationMs)));
  };
  const options = { timeoutMs, signal, maxOutputBytes, onOutput };
  try {
    await withSdrColors(facts, renditionSize(facts), (colors) =>
      ffmpeg.run(argsOf(file, facts, colors, into), options),
    );
  } catch (error) {
    // A retry would take as long, and other jobs wait.
    if (error instanceof DeadlineExceeded)
      throw new VideoFault('video_too_large', `not finished within ${timeoutMs} ms`);
    throw error;
  }
}

function argsOf(file: string, facts: VideoFacts, colors: Colors, into: string): readonly string[] {
  const sound = facts.hasSound
    ? ['-map', '0:a:0', '-af', 'aresample=48000:async=1:first_pts=0', '-c:a', 'aac', '-b:a', '160k', '-ac', '2']
    : ['-an'];
  const image = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '21', '-rc-lookahead', '5', '-pix_fmt', 'yuv420p'];
  const filters = [...filtersOf(facts), ...colors.filters];
  return [
    ...guardedInput,
    // A recorded call may change its size in between: the first filter adapts, the graph is not restarted.
    ...['-threads', decoderThreads(facts), '-reinit_filter', '0', '-i', `file:${file}`],
    ...['-map', `0:${facts.stream}`, '-filter_threads', '1', '-vf', filters.join(), '-sn', '-dn'],
    ...['-t', String(longestS), '-map_metadata', '-1', '-map_chapters', '-1'],
    ...['-threads', String(threads), ...image, ...colors.tags, ...sound],
    ...['-progress', 'pipe:1', '-nostats', '-movflags', '+faststart', '-f', 'mp4', `file:${into}`],
  ];
}

function filtersOf(facts: VideoFacts): readonly string[] {
  const { width, height } = renditionSize(facts);
  return [...deinterlacing(facts), `scale=${width}:${height}`, 'setsar=1', ...(facts.isFast ? ['fps=60'] : [])];
}

export function renditionSize(facts: Size): Size {
  return shrinkTo(bounds, facts);
}

// Decides whether browsers play a video as it is (docs/specification/media.md#renditions).

/** As many as the library needs. */
const beginningBytes = 4100;
/** The types by which browsers know the containers that they play. */
const playableMimes: readonly string[] = ['video/mp4', 'video/webm'];
/** MP4 under the name that Apple gave it. */
const aliases: Readonly<Record<string, string>> = { 'video/x-m4v': 'video/mp4' };
const playableSound: readonly string[] = ['aac', 'mp3', 'opus', 'vorbis', 'flac'];
/** Browsers decode no other form of H.264. */
const playableH264: readonly string[] = ['yuv420p', 'yuvj420p'];

/** `mime`: the type that the file is served with. */
export async function isPlayable(file: string, facts: VideoFacts, mime: string): Promise<boolean> {
  return playableMimes.includes(mime) && hasPlayableStreams(facts) && playableMimes.includes(await containerOf(file));
}

function hasPlayableStreams({ codec, pixelFormat, soundCodec }: VideoFacts): boolean {
  if (soundCodec !== undefined && !playableSound.includes(soundCodec)) return false;
  return codec === 'h264' ? playableH264.includes(pixelFormat) : codec === 'vp9' || codec === 'av1';
}

/** Empty if it is unknown. */
async function containerOf(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(beginningBytes), 0, beginningBytes, 0);
    const mime = (await fileTypeFromBuffer(buffer.subarray(0, bytesRead)))?.mime ?? '';
    return aliases[mime] ?? mime;
  } catch {
    // The parsers throw if a header claims more bytes than there are.
    return '';
  } finally {
    await handle.close();
  }
}
