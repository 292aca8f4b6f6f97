/**
 * Passes a decoder's pixels to libvips as an uncompressed TIFF. Unlike raw pixels, a TIFF has a color profile, so the
 * rest of the engine treats these images like any other file.
 */
import { ImageFault } from '../engine.ts';

export interface CanvasOptions {
  readonly width: number;
  readonly height: number;
  /** 4: with alpha. */
  readonly channels: 3 | 4;
  /** The colors are premultiplied. */
  readonly isPremultiplied?: boolean;
  /** ICC. */
  readonly profile?: Uint8Array | undefined;
}

export interface Canvas {
  readonly file: Uint8Array<ArrayBuffer>;
  /** The part of `file` that the decoder fills: red, green, blue (and alpha), row by row from the top. Initially 0. */
  readonly pixels: Uint8Array;
}

const headerBytes = 8;
/** libvips holds one strip at a time. */
const stripBytes = 256 * 1024;
const [short, long, undefinedBytes] = [3, 4, 7];

interface Field {
  readonly tag: number;
  readonly type: number;
  readonly values: readonly number[] | Uint8Array;
}

/** Throws ImageFault if the pixels do not fit into a file with 32-bit offsets. */
export function createCanvas(options: CanvasOptions): Canvas {
  const { width, height, channels } = options;
  const rowBytes = width * channels;
  const pixelBytes = rowBytes * height;
  const rowsPerStrip = Math.max(1, Math.floor(stripBytes / rowBytes));
  const starts = Array.from({ length: Math.ceil(height / rowsPerStrip) }, (_none, index) => index * rowsPerStrip);
  const fields: Field[] = [
    { tag: 256, type: long, values: [width] },
    { tag: 257, type: long, values: [height] },
    { tag: 258, type: short, values: Array.from({ length: channels }, () => 8) },
    { tag: 259, type: short, values: [1] },
    { tag: 262, type: short, values: [2] },
    { tag: 273, type: long, values: starts.map((row) => headerBytes + row * rowBytes) },
    { tag: 277, type: short, values: [channels] },
    { tag: 278, type: long, values: [rowsPerStrip] },
    { tag: 279, type: long, values: starts.map((row) => Math.min(rowsPerStrip, height - row) * rowBytes) },
    ...(channels === 4 ? [{ tag: 338, type: short, values: [options.isPremultiplied ? 1 : 2] }] : []),
    ...(options.profile ? [{ tag: 34675, type: undefinedBytes, values: options.profile }] : []),
  ];
  const directory = layDirectory(fields, headerBytes + pixelBytes + (pixelBytes % 2));
  const size = directory.offset + directory.bytes.length;
  if (size > 0xffff_ffff) throw new ImageFault('too_large', 'The image has too many pixels.');
  const file = new Uint8Array(size);
  const header = new DataView(file.buffer);
  file.set([0x49, 0x49, 42, 0]);
  header.setUint32(4, directory.offset, true);
  file.set(directory.bytes, directory.offset);
  return { file, pixels: file.subarray(headerBytes, headerBytes + pixelBytes) };
}

/** The directory of the one page, followed by the values that do not fit into its entries. */
function layDirectory(fields: readonly Field[], offset: number): { offset: number; bytes: Buffer } {
  const entryBytes = 12;
  const directory = Buffer.alloc(2 + fields.length * entryBytes + 4);
  const tail: Buffer[] = [];
  let tailAt = offset + directory.length;
  directory.writeUInt16LE(fields.length);
  for (const [index, { tag, type, values }] of fields.entries()) {
    const at = 2 + index * entryBytes;
    directory.writeUInt16LE(tag, at);
    directory.writeUInt16LE(type, at + 2);
    directory.writeUInt32LE(values.length, at + 4);
    const bytes = encodeValues(type, values);
    if (bytes.length <= 4) directory.set(bytes, at + 8);
    else {
      directory.writeUInt32LE(tailAt, at + 8);
      tail.push(bytes);
      tailAt += bytes.length;
    }
  }
  return { offset, bytes: Buffer.concat([directory, ...tail]) };
}

/** Padded to an even length, so that the next value has an even offset. */
function encodeValues(type: number, values: readonly number[] | Uint8Array): Buffer {
  if (type === undefinedBytes) return Buffer.concat([Buffer.from(values), Buffer.alloc(values.length % 2)]);
  const size = type === short ? 2 : 4;
  const bytes = Buffer.alloc(values.length * size);
  for (const [index, value] of values.entries()) bytes.writeUIntLE(value, index * size, size);
  return bytes;
}
