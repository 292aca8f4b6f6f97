/** A copy of a video that every browser plays (docs/specification/media.md#renditions). */

import { open } from 'node:fs/promises';
import { beginningBytes, recognize } from '#image/engine/formats.ts';
import { type Colors, deinterlacing } from './colors.ts';
import { encode, inputOf, longestS, outputTo } from './encoding.ts';
import type { Ffmpeg } from './ffmpeg.ts';
import { type Size, shrinkTo } from './poster.ts';
import type { VideoFacts, VideoFile } from './probing.ts';

/** 1080p, in either orientation. */
const bounds = { longSide: 1920, shortSide: 1080 };

/**
 * Writes an MP4 (H.264 with 8 bits, AAC in stereo, index first) to `into`: upright, with square pixels, in SDR. Frames
 * are shown when the source shows them. Calls `onProgress` with percents, if the duration is known. Throws
 * `VideoFault`, and as `Ffmpeg.run`.
 */
export async function renderRendition(
  ffmpeg: Ffmpeg,
  video: VideoFile,
  into: string,
  signal: AbortSignal,
  onProgress: (percent: number) => void = () => undefined,
): Promise<void> {
  const { facts } = video;
  const { durationMs } = facts;
  const onOutput = (text: string) => {
    const doneMs = Number(/out_time_us=(\d+)/.exec(text)?.[1]) / 1000;
    if (durationMs !== null && doneMs >= 0) onProgress(Math.min(99, Math.floor((100 * doneMs) / durationMs)));
  };
  const size = renditionSize(facts);
  const sound = facts.hasSound ? ['-map', '0:a:0', '-af', 'aresample=48000:async=1:first_pts=0', '-ac', '2'] : ['-an'];
  const scaled = [`scale=${size.width}:${size.height}`, 'setsar=1', ...(facts.isFast ? ['fps=60'] : [])];
  const argsOf = (colors: Colors) => [
    ...[...inputOf(video), '-map', `0:${facts.stream}`, '-filter_threads', '1'],
    ...['-vf', [...deinterlacing(facts), ...scaled, ...colors.filters].join(), ...sound, '-sn', '-dn'],
    ...['-t', String(longestS), '-progress', 'pipe:1', '-nostats', ...outputTo(into, colors)],
  ];
  await encode(ffmpeg, facts, size, argsOf, { signal, onOutput });
}

export function renditionSize(facts: Size): Size {
  return shrinkTo(bounds, facts);
}

// Decides whether browsers play a video as it is (docs/specification/media.md#renditions).

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
    const mime = (await recognize(buffer.subarray(0, bytesRead))) ?? '';
    return aliases[mime] ?? mime;
  } finally {
    await handle.close();
  }
}
