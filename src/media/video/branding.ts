/** A video for download, with the brand's watermark and a closing clip (docs/specification/media.md#watermarks). */
import { writeFile } from 'node:fs/promises';
import { type Brand, type DrawnBrand, layOut } from '#image/engine/brand.ts';
import { offsetBy } from '#image/engine/geometry.ts';
import { StartFault } from '#platform/lifecycle.ts';
import { type Colors, deinterlacing } from './colors.ts';
import { encode, inputOf, longestS, outputTo } from './encoding.ts';
import { type Ffmpeg, VideoFault } from './ffmpeg.ts';
import { type Size, shrink } from './poster.ts';
import { probeVideo, type VideoFacts, type VideoFile } from './probing.ts';

/** The size of the brand on the closing clip, in sides of the video. */
const closingShares = { width: 0.6, height: 0.33 };
const closingS = 2;
/** Of the operator's own clip. */
const longestClosingS = 30;

/**
 * Writes an MP4 (H.264, AAC) to `into`: upright, progressive, in SDR, at most 1920 on its long side. A silent video stays silent. Sound that
 * is longer than the image continues over the last frame. Throws `VideoFault`, and as `Ffmpeg.run`.
 */
export async function brandVideo(
  ffmpeg: Ffmpeg,
  brand: Brand,
  video: VideoFile,
  files: { readonly mark: string; readonly into: string },
  signal: AbortSignal,
): Promise<void> {
  const { facts } = video;
  const { brandmarkOf } = await import('#image/engine/brandmark.ts');
  const brandmark = await brandmarkOf(brand);
  await writeFile(files.mark, brandmark.data);
  const raw = ['-f', 'rawvideo', '-pixel_format', 'rgba', '-video_size', `${brandmark.width}x${brandmark.height}`];
  const closing = await openClosing(ffmpeg, brand, signal);
  const clip = typeof closing === 'string' ? [] : ['-t', String(longestClosingS), '-i', `file:${closing.file}`];
  const maps = facts.hasSound ? ['-map', '[video]', '-map', '[sound]'] : ['-map', '[video]', '-an'];
  const argsOf = (colors: Colors) => [
    ...[...inputOf(video), ...raw, '-i', `file:${files.mark}`, ...clip],
    ...[
      '-filter_complex_threads',
      '1',
      '-filter_complex',
      graphOf(facts, colors, { brand, brandmark, closing }),
      ...maps,
    ],
    ...['-t', String(longestS + longestClosingS), ...outputTo(files.into, colors)],
  ];
  await encode(ffmpeg, facts, shrink(facts), argsOf, { signal });
}

type Closing = 'auto' | 'none' | VideoFile;

/** A fault of the operator's clip is none of the user's video. */
async function openClosing(ffmpeg: Ffmpeg, { closing }: Brand, signal: AbortSignal): Promise<Closing> {
  if (typeof closing === 'string') return closing;
  const { path } = closing;
  try {
    return { file: path, facts: await probeVideo(ffmpeg, path, signal) };
  } catch (cause) {
    signal.throwIfAborted();
    throw new Error('BRAND_CLOSING_CLIP cannot be decoded', { cause });
  }
}

/** Throws StartFault if BRAND_CLOSING_CLIP is not a video. Without ffprobe, watermarks of videos fail anyway. */
export async function checkClosing(ffmpeg: Ffmpeg, { closing }: Brand): Promise<void> {
  if (typeof closing === 'string') return;
  await probeVideo(ffmpeg, closing.path).catch((cause: unknown) => {
    if (cause instanceof VideoFault)
      throw new StartFault(`BRAND_CLOSING_CLIP names ${closing.path}, which is not a video that can be decoded.`, {
        cause,
      });
  });
}

interface Look {
  readonly brand: Brand;
  readonly brandmark: DrawnBrand;
  readonly closing: Closing;
}

function graphOf(facts: VideoFacts, colors: Colors, { brand, brandmark, closing }: Look): string {
  const size = shrink(facts);
  const { width, height } = size;
  const rate = facts.frameRate;
  const frames = [...deinterlacing(facts), `scale=${width}:${height}`, 'setsar=1', ...colors.filters].join();
  const { margin, ...small } = layOut(size, brandmark, brand);
  const faded = `format=rgba,colorchannelmixer=aa=${brand.opacity}`;
  const marks = closing === 'auto' ? ['[1:v]split[mark1][mark2]', '[mark1]'] : ['', '[1:v]'];
  const steps = [
    marks[0],
    `${marks[1]}scale=${even(small)},${faded}[mark]`,
    // Sets an even rate from the start, and repeats the last frame, because the joint ignores its duration.
    `[0:${facts.stream}]${frames},format=yuv420p,fps=${rate}:start_time=0,tpad=stop_mode=clone:stop=1[plain]`,
    `[plain][mark]overlay=${overlayAt(brand, margin)},setsar=1,format=yuv420p[body]`,
    ...closingSteps(size, rate, brandmark, closing),
  ];
  const heard = `[0:a:0]aresample=48000:async=1:first_pts=0,${stereo}[heard]`;
  // Pads the shorter of image and sound in each part.
  const joined =
    closing === 'none'
      ? facts.hasSound
        ? // The last frame lasts as long as the sound.
          [heard, '[body][heard]concat=n=1:v=1:a=1[all][sound]']
        : ['[body]null[all]']
      : facts.hasSound
        ? [heard, closingSound(closing), '[body][heard][closing][end]concat=n=2:v=1:a=1[all][sound]']
        : ['[body][closing]concat=n=2:v=1:a=0[all]'];
  // Fills the gap after an image that ends before its sound.
  return [...steps, ...joined, `[all]fps=${rate}[video]`].filter((step) => step !== '').join(';');
}

const stereo = 'aformat=sample_fmts=fltp:channel_layouts=stereo';

function closingSteps(
  { width, height }: Size,
  rate: string | number,
  mark: DrawnBrand,
  closing: Closing,
): readonly string[] {
  const ground = 'color=0x14161a';
  if (closing === 'none') return [];
  if (closing === 'auto') {
    const factor = Math.min((closingShares.width * width) / mark.width, (closingShares.height * height) / mark.height);
    const large = even({ width: mark.width * factor, height: mark.height * factor });
    return [
      `[mark2]scale=${large}[sign]`,
      `color=c=0x14161a:s=${width}x${height}:d=${closingS}:r=${rate},format=yuv420p[dark]`,
      '[dark][sign]overlay=(main_w-overlay_w)/2:(main_h-overlay_h)/2,fade=t=in:d=0.4,setsar=1,format=yuv420p[closing]',
    ];
  }
  const within = `scale=${width}:${height}:force_original_aspect_ratio=decrease:force_divisible_by=2`;
  const padded = `pad=${width}:${height}:(ow-iw)/2:(oh-ih)/2:${ground}`;
  return [`[2:${closing.facts.stream}]${within},${padded},setsar=1,fps=${rate}:start_time=0,format=yuv420p[closing]`];
}

function closingSound(closing: Closing): string {
  if (typeof closing !== 'string' && closing.facts.hasSound)
    return `[2:a:0]aresample=48000:async=1:first_pts=0,${stereo}[end]`;
  const seconds =
    typeof closing === 'string' ? closingS : Math.min(longestClosingS, (closing.facts.durationMs ?? 1000) / 1000);
  return `anullsrc=r=48000:cl=stereo,atrim=0:${seconds},${stereo}[end]`;
}

/** In the terms of the overlay filter. */
function overlayAt({ position }: Brand, margin: number): string {
  const { type, x, y } = offsetBy(position, margin);
  const left = /we$/.test(type) ? `${x}` : /ea$/.test(type) ? `main_w-overlay_w-${x}` : '(main_w-overlay_w)/2';
  const top = /^no/.test(type) ? `${y}` : /^so/.test(type) ? `main_h-overlay_h-${y}` : '(main_h-overlay_h)/2';
  return `${left}:${top}`;
}

function even({ width, height }: Size): string {
  const pixels = (side: number) => Math.max(2, 2 * Math.round(side / 2));
  return `${pixels(width)}:${pixels(height)}`;
}
