/** Images of the offline renderer: real PNG files with a label. Colors depend on the prompt, and hills and the sun on the seed. */
import { createHash } from 'node:crypto';
import sharp, { type Sharp } from 'sharp';
import { escapeXml } from '#platform/escaping.ts';

export const mark = 'offline demo';

export type Size = readonly [width: number, height: number];

const sizes: Readonly<Record<string, Size>> = {
  '1:1': [1024, 1024],
  '4:3': [1024, 768],
  '3:4': [768, 1024],
  '16:9': [1280, 720],
  '9:16': [720, 1280],
};

export const sizeOf = (ratio: string): Size => sizes[ratio] ?? [1024, 1024];

/** Painted small and enlarged, which keeps the event loop free and looks like soft light. */
const paintedSide = 128;

export async function renderImage(prompt: string, size: Size, seed: number): Promise<Uint8Array> {
  const [width, height] = size;
  const scale = paintedSide / Math.max(width, height);
  const painted = paint(prompt, seed, [Math.round(width * scale), Math.round(height * scale)]);
  return toPng(painted.resize(width, height, { kernel: 'cubic', fit: 'fill' }), prompt, size);
}

/**
 * Returns the source under a tint, with a band that shows the prompt. With a mask, the tint covers only
 * its transparent pixels. With a ratio, the margins are cut off. The tint depends on `tintOf`.
 */
export async function renderEdit(
  prompt: string,
  source: Uint8Array,
  mask?: Uint8Array,
  ratio?: string,
  tintOf = prompt,
): Promise<Uint8Array> {
  const { data, info } = await sharp(source, { limitInputPixels: 50_000_000 })
    .rotate()
    .resize({ width: 1600, height: 1600, fit: 'inside', withoutEnlargement: true })
    .flatten({ background: 'white' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const [r, g, b] = colorsOf(tintOf)[0];
  const tint =
    mask === undefined
      ? { create: { width, height, channels: 4 as const, background: { r, g, b, alpha: 0.35 } } }
      : await maskedTint(mask, [width, height], { r, g, b });
  // The source can have a band with a prompt of its own.
  const cover = barOf([width, height], 1);
  const tinted = await sharp(data, { raw: { width, height, channels } })
    .composite([{ input: tint, left: 0, top: 0 }, cover])
    .removeAlpha()
    .raw()
    .toBuffer();
  const upright = sharp(tinted, { raw: { width, height, channels: 3 } });
  const size = ratio === undefined ? ([width, height] as const) : sizeWithin(sizeOf(ratio), [width, height]);
  return toPng(upright.resize(size[0], size[1], { fit: 'cover' }), prompt, size);
}

/** The largest size of this shape inside the other. */
function sizeWithin([width, height]: Size, [maxWidth, maxHeight]: Size): Size {
  const scale = Math.min(maxWidth / width, maxHeight / height);
  return [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))];
}

async function maskedTint(mask: Uint8Array, [width, height]: Size, background: { r: number; g: number; b: number }) {
  const alpha = await sharp(mask, { limitInputPixels: 50_000_000 })
    .ensureAlpha()
    .resize(width, height, { fit: 'fill' })
    .extractChannel('alpha')
    .negate()
    .linear(0.7, 0)
    .raw()
    .toBuffer();
  return sharp({ create: { width, height, channels: 3, background } })
    .joinChannel(alpha, { raw: { width, height, channels: 1 } })
    .png()
    .toBuffer();
}

async function toPng(image: Sharp, prompt: string, size: Size): Promise<Uint8Array> {
  return image
    .composite(await band(prompt, size))
    .withExif({ IFD0: { ImageDescription: mark, Software: 'Atelier offline renderer' } })
    .png({ compressionLevel: 6 })
    .toBuffer();
}

type Color = readonly [number, number, number];

function paint(prompt: string, seed: number, [width, height]: Size): Sharp {
  const [high, low, ground] = colorsOf(prompt);
  const digest = createHash('sha256').update(`${prompt} ${seed}`).digest();
  const phase = digest.readUInt16BE(0) / 1000;
  const sunAt = 0.2 + 0.6 * (digest.readUInt16BE(2) / 2 ** 16);
  const pixels = Buffer.alloc(width * height * 3);
  for (let x = 0; x < width; x++) {
    const hill = 0.66 + 0.07 * Math.sin(phase + (x / width) * 6) + 0.04 * Math.sin(phase * 3 + (x / width) * 17);
    for (let y = 0; y < height; y++) {
      const fromSun = Math.hypot(x - sunAt * width, y - 0.4 * height) - 0.09 * width;
      const sky = mix(high, low, Math.min(1, y / height / hill));
      const withSun = mix(sky, mix(low, [255, 255, 255], 0.7), within(fromSun));
      pixels.set(mix(withSun, ground, within(hill * height - y)), (y * width + x) * 3);
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } });
}

/** Returns how much of a pixel is inside an edge: 0 to 1 over about two pixels, which smooths the edge. */
const within = (outsideBy: number): number => Math.min(1, Math.max(0, 0.5 - outsideBy / 2));

/** Renders the label at the bottom of every image. */
async function band(prompt: string, size: Size) {
  const [width, height] = size;
  const unit = unitOf(size);
  const words = `<span foreground="white">${escapeMarkup(`${mark} · ${prompt.replaceAll(/\s+/g, ' ').slice(0, 50)}`)}</span>`;
  const text = { text: words, rgba: true, font: 'sans', width: width - unit * 2, height: unit };
  return [barOf(size, 0.6), { input: { text }, left: unit, top: Math.round(height - unit * 1.5) }];
}

const unitOf = ([width, height]: Size) => Math.max(8, Math.round(Math.min(width, height) / 28));

function barOf(size: Size, alpha: number) {
  const [width, height] = size;
  const barHeight = Math.min(height, unitOf(size) * 2);
  const bar = { create: { width, height: barHeight, channels: 4 as const, background: { r: 0, g: 0, b: 0, alpha } } };
  return { input: bar, left: 0, top: height - barHeight };
}

/** The text engine reads Pango markup. */
function escapeMarkup(text: string): string {
  const printable = text.replaceAll(/[^\x20-\ud7ff\ue000-\ufffd]/g, '');
  return escapeXml(printable);
}

function colorsOf(prompt: string): readonly [Color, Color, Color] {
  const bytes = createHash('sha256').update(prompt).digest();
  const channel = (index: number, from: number, to: number) =>
    Math.round(from + ((bytes[index] ?? 0) / 255) * (to - from));
  const color = (at: number, from: number, to: number): Color => [
    channel(at, from, to),
    channel(at + 1, from, to),
    channel(at + 2, from, to),
  ];
  return [color(0, 20, 120), color(3, 150, 250), color(6, 15, 80)];
}

function mix(from: Color, to: Color, share: number): Color {
  const part = (channel: 0 | 1 | 2) => Math.round(from[channel] + (to[channel] - from[channel]) * share);
  return [part(0), part(1), part(2)];
}
