/**
 * The picture of watermarks: the brand's own, or its name in white with a dark rim, which is legible on light and on dark images.
 * Drawn once for each brand, larger than most images need it.
 */
import { rmSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import type { Brand, DrawnBrand } from './brand.ts';
import { svgLoader } from './decoding.ts';
import type { Raster } from './engine.ts';
import { decodeWoff, findFonts } from './fonts.ts';

/** RGBA, not premultiplied. */
export type Brandmark = Raster & DrawnBrand;

/** Pixels. */
const fontSize = 112;
const rim = 14;
const longestPicture = 2048;
const drawn = new WeakMap<Brand, Promise<Brandmark>>();

/** Throws an Error with the reason if the brand's picture cannot be decoded. */
export function brandmarkOf(brand: Brand): Promise<Brandmark> {
  let mark = drawn.get(brand);
  if (mark === undefined) {
    mark = brand.picture === undefined ? drawName(brand.name) : openPicture(brand.picture);
    drawn.set(brand, mark);
  }
  return mark;
}

/** `opacity`: 0–1. */
export function fade({ data, width, height, channels }: Raster, opacity: number): Raster {
  const faded = Uint8Array.from(data);
  for (let alpha = 3; alpha < faded.length; alpha += 4) faded[alpha] = Math.round((faded[alpha] ?? 0) * opacity);
  return { data: faded, width, height, channels };
}

async function drawName(name: string): Promise<Brandmark> {
  const letters = await drawText(name);
  const space = 2 * rim;
  const white = await gray(
    sharp(letters.data, { raw: letters.raw }).extend({
      ...{ top: space, bottom: space, left: space, right: space },
      background: '#000000',
    }),
  );
  const { width, height } = white.info;
  // Fades outward, so that no box is visible.
  const dark = await gray(
    sharp(white.data, { raw: { width, height, channels: 1 } })
      .blur(rim / 2)
      .linear(3, 0),
  );
  const data = new Uint8Array(width * height * 4);
  for (let pixel = 0; pixel < white.data.length; pixel++) {
    const light = (white.data[pixel] ?? 0) / 255;
    const shade = Math.min(1, ((dark.data[pixel] ?? 0) / 255) * 0.85);
    const alpha = light + shade * (1 - light);
    const level = alpha === 0 ? 0 : (255 * light) / alpha;
    data.set([level, level, level, 255 * alpha], pixel * 4);
  }
  return { data, width, height, channels: 4, letterShare: letters.raw.height / height };
}

const gray = (image: Sharp) => image.toColourspace('b-w').raw().toBuffer({ resolveWithObject: true });

let fontFolder: Promise<string> | undefined;

/** The library keeps the names of the files and opens them again, so they stay until the process ends. */
async function createFontFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'atelier-fonts-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** One channel: how much of each pixel is covered by letters. */
async function drawText(name: string) {
  const { files } = findFonts(name);
  fontFolder ??= createFontFolder();
  const folder = await fontFolder;
  const fonts: string[] = [];
  for (const file of files) {
    const font = join(folder, `${basename(file)}.ttf`);
    await writeFile(font, decodeWoff(await readFile(file)));
    fonts.push(font);
  }
  const draw = (text: string, fontfile: string | undefined) =>
    sharp({ text: { text, font: `Noto Sans Bold ${fontSize}`, dpi: 72, rgba: true, ...(fontfile && { fontfile }) } });
  // A file that was named once stays available for its characters.
  for (const file of fonts.slice(1)) await draw('.', file).raw().toBuffer();
  const escaped = name.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const covered = draw(escaped, fonts[0]).extractChannel('alpha').raw();
  const { data, info } = await covered.toBuffer({ resolveWithObject: true });
  return { data, raw: { width: info.width, height: info.height, channels: 1 as const } };
}

/** The operator's own file. Uploads have another format, which is recognized before they are opened. */
async function openPicture(picture: Uint8Array): Promise<Brandmark> {
  sharp.unblock(svgLoader);
  try {
    const { data, info } = await sharp(picture, { density: 300, limitInputPixels: 50_000_000 })
      .resize(longestPicture, longestPicture, { fit: 'inside', withoutEnlargement: true })
      .toColourspace('srgb')
      .ensureAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    return { data, width: info.width, height: info.height, channels: 4, letterShare: undefined };
  } finally {
    sharp.block(svgLoader);
  }
}
