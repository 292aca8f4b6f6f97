/** Images for tests and benchmarks, made by code. */
import { crc32, deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';

export interface Pixels {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly channels: 3 | 4;
}

type Paint = (x: number, y: number) => readonly number[];

/** `paint` is asked for each pixel, with x and y from 0 to below 1. */
export function paint(width: number, height: number, channels: 3 | 4, colour: Paint): Pixels {
  const data = new Uint8Array(width * height * channels);
  let at = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      for (const value of colour(x / width, y / height)) data[at++] = value;
    }
  }
  return { data, width, height, channels };
}

/**
 * Quarters of red and green above blue and yellow, with a dark disc in the red one; waves give it bright and dark places
 * all over, for perceptual hashes to hold on to.
 */
export const sceneColour: Paint = (x, y) => {
  if ((x - 0.3) ** 2 + (y - 0.35) ** 2 < 0.02) return [20, 20, 20];
  const wave = 170 + 70 * Math.sin(19 * x + 4 * y) * Math.cos(13 * y - 5 * x);
  if (y < 0.5) return x < 0.5 ? [wave, 40, 40] : [40, wave, 40];
  return x < 0.5 ? [40, 40, wave] : [wave, wave, 40];
};

export const scene = (width = 240, height = 160): Pixels => paint(width, height, 3, sceneColour);

/** The scene, fading out to the right; the lower half of the right edge is wholly transparent. */
export const fadingScene = (width = 240, height = 160): Pixels =>
  paint(width, height, 4, (x, y) => [...sceneColour(x, y), x > 0.75 && y > 0.5 ? 0 : Math.round(255 * (1 - x * 0.7))]);

/** Returns numbers from 0 to 1, always the same ones. */
function createNoise(): () => number {
  let state = 12_345;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
    return ((state >>> 16) & 0x7fff) / 0x7fff;
  };
}

/**
 * Noise in several sizes, as photographs have it: it compresses like one. The same for the same size. Many tests make
 * megapixels of it, so it does not use `paint`, which needs ten times as long.
 */
export function photo(width: number, height: number): Pixels {
  const random = createNoise();
  const layers = [8, 32, 128, 512].map((cells, index) => ({
    cells,
    weight: 0.5 ** (index + 1) * 255,
    values: new Float32Array((cells + 2) ** 2 * 3).map(random),
  }));
  const data = new Uint8Array(width * height * 3);
  const line = new Float64Array(width * 3);
  for (let y = 0, at = 0; y < height; y++) {
    line.fill(0);
    for (const { cells, weight, values } of layers) addLine(line, y / height, cells, weight, values);
    for (const value of line) data[at++] = Math.min(255, value + random() * 8);
  }
  return { data, width, height, channels: 3 };
}

/** Adds to three channels of each pixel what is between the four nearest values of a layer. */
function addLine(line: Float64Array, y: number, cells: number, weight: number, values: Float32Array): void {
  const stride = (cells + 2) * 3;
  const row = Math.floor(y * cells);
  const down = y * cells - row;
  const width = line.length / 3;
  const valueAt = (at: number) => values[at] as number;
  for (let at = 0; at < line.length; at++) {
    const place = (Math.floor(at / 3) / width) * cells;
    const column = Math.floor(place);
    const right = place - column;
    const from = row * stride + column * 3 + (at % 3);
    const upper = valueAt(from) * (1 - right) + valueAt(from + 3) * right;
    const lower = valueAt(from + stride) * (1 - right) + valueAt(from + stride + 3) * right;
    line[at] = (line[at] as number) + weight * (upper * (1 - down) + lower * down);
  }
}

/** Still to be encoded: `pipe(scene()).jpeg().toBuffer()`. */
export function pipe({ data, width, height, channels }: Pixels): Sharp {
  return sharp(data, { raw: { width, height, channels } });
}

/** Frames of equal size below each other, to be encoded as gif or webp. */
export function animation(frames: readonly Pixels[]): Sharp {
  const [{ width, height, channels } = scene()] = frames;
  const data = Buffer.concat(frames.map((frame) => frame.data));
  return sharp(data, { raw: { width, height: height * frames.length, channels, pageHeight: height } });
}

/** A JPEG of the scene that is upright only when its EXIF orientation is applied. */
export function turned(orientation: number, upright = scene()): Promise<Buffer> {
  return pipe(turnBack(upright, orientation)).withMetadata({ orientation }).jpeg({ quality: 95 }).toBuffer();
}

/** Where the pixel at (x, y) of the file belongs in the upright image of the given size (EXIF 2.3, Orientation). */
const uprightPlaces: readonly ((x: number, y: number, width: number, height: number) => [number, number])[] = [
  (x, y) => [x, y],
  (x, y, width) => [width - 1 - x, y],
  (x, y, width, height) => [width - 1 - x, height - 1 - y],
  (x, y, _width, height) => [x, height - 1 - y],
  (x, y) => [y, x],
  (x, y, width) => [width - 1 - y, x],
  (x, y, width, height) => [width - 1 - y, height - 1 - x],
  (x, y, _width, height) => [y, height - 1 - x],
];

function turnBack(upright: Pixels, orientation: number): Pixels {
  const { width, height, channels, data } = upright;
  const place = uprightPlaces[orientation - 1];
  if (place === undefined) throw new Error(`no orientation ${orientation}`);
  const [fileWidth, fileHeight] = orientation > 4 ? [height, width] : [width, height];
  return paint(fileWidth, fileHeight, channels, (x, y) => {
    const [column, row] = place(Math.round(x * fileWidth), Math.round(y * fileHeight), width, height);
    const at = (row * width + column) * channels;
    return [...data.subarray(at, at + channels)];
  });
}

/** A PNG of one colour, 1 bit a pixel: a few kilobytes, however large. */
export function blankPng(width: number, height: number): Buffer {
  const row = Buffer.alloc(1 + Math.ceil(width / 8));
  return png(width, height, deflateSync(Buffer.concat(Array.from({ length: height }, () => row))));
}

/** A PNG that declares its size and contains no pixels. */
export const hollowPng = (width: number, height: number): Buffer => png(width, height, deflateSync(Buffer.alloc(64)));

function png(width: number, height: number, pixels: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([1, 0, 0, 0, 0], 8);
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** An animated PNG. The images have one size and color type. `isHidden`: the first one is not part of the animation. */
export function apng(images: readonly Buffer[], isHidden = false): Buffer {
  let places = 0;
  const numbers = (...values: readonly number[]) => {
    const bytes = Buffer.alloc(values.length * 4);
    for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
    return bytes;
  };
  const parts = images.map(partsOf);
  const size = parts[0]?.find(({ type }) => type === 'IHDR')?.data ?? Buffer.alloc(13);
  const control = () =>
    chunk('fcTL', Buffer.concat([numbers(places++), size.subarray(0, 8), numbers(0, 0, 0x00010004), Buffer.alloc(2)]));
  const frames = parts.map((part, index) => {
    const pixels = Buffer.concat(part.filter(({ type }) => type === 'IDAT').map(({ data }) => data));
    if (index > 0) return Buffer.concat([control(), chunk('fdAT', Buffer.concat([numbers(places++), pixels]))]);
    return Buffer.concat([...(isHidden ? [] : [control()]), chunk('IDAT', pixels)]);
  });
  const head = (images[0] ?? Buffer.alloc(0)).subarray(0, 33);
  const count = chunk('acTL', numbers(images.length - (isHidden ? 1 : 0), 0));
  return Buffer.concat([head, count, ...frames, chunk('IEND', Buffer.alloc(0))]);
}

function partsOf(file: Buffer): readonly { readonly type: string; readonly data: Buffer }[] {
  const parts: { type: string; data: Buffer }[] = [];
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    parts.push({ type: file.toString('latin1', at + 4, at + 8), data: file.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return parts;
}

/** The beginning of an ISO base media file. */
export function fileTypeBox(...brands: readonly string[]): Buffer {
  const [major = '', ...compatible] = brands;
  const text = `ftyp${major}\0\0\0\0${compatible.join('')}`;
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + text.length);
  return Buffer.concat([length, Buffer.from(text, 'latin1'), Buffer.alloc(64)]);
}
