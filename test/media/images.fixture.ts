/** Images for the tests, made by code. */
import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';

export type ImageFormat = 'jpeg' | 'png' | 'webp' | 'gif' | 'avif' | 'tiff';

export interface ImageOptions {
  readonly width?: number;
  readonly height?: number;
  /** EXIF, 1–8. */
  readonly orientation?: number;
  /** Different seeds make different images. */
  readonly seed?: number;
}

/** A soft gradient: compresses like a photograph and has a telling blurhash. */
export async function makeImage(format: ImageFormat, options: ImageOptions = {}): Promise<Buffer> {
  const { width = 60, height = 40, orientation, seed = 0 } = options;
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 3;
      pixels[at] = (x * 255) / width;
      pixels[at + 1] = (y * 255) / height;
      pixels[at + 2] = seed % 256;
    }
  }
  const image = sharp(pixels, { raw: { width, height, channels: 3 } });
  return (orientation === undefined ? image : image.withMetadata({ orientation })).toFormat(format).toBuffer();
}

/** A PNG of a few bytes that claims to be `width` × `height`. */
export function pngBomb(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.alloc(1000))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The same image in a file of exactly `size` bytes. */
export function padPng(png: Buffer, size: number): Buffer {
  const end = png.length - 12;
  const padding = chunk('paDd', Buffer.alloc(size - png.length - 12));
  return Buffer.concat([png.subarray(0, end), padding, png.subarray(end)]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

export const svg = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><rect width="60" height="40" fill="red"/></svg>',
);

/** The first bytes of an icon: an image that the engine does not read. */
export const icon = Buffer.from([0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0]);

/** The first bytes of a HEIC and of an MP4 file, followed by nothing that could be decoded. */
export const heicStart = Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1');
export const mp4Start = Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0isomiso2', 'latin1');
