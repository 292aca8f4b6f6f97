/** The formats that the engine reads, and their names in messages. */
import type { ImageMime } from './engine.ts';

export const decodableFormats = 'JPEG, PNG, WebP, GIF, AVIF, HEIC/HEIF, TIFF and BMP';

const decodable: ReadonlySet<string> = new Set<ImageMime>([
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/gif',
  'image/avif',
  'image/heic',
  'image/heif',
  'image/tiff',
  'image/bmp',
]);

/** The formats of variants, by the format in their transform. */
export const mimeOfFormat = { webp: 'image/webp', jpeg: 'image/jpeg', png: 'image/png' } as const;

export const extensionOfFormat = { webp: 'webp', jpeg: 'jpg', png: 'png' } as const;

/** Aliases that stores and old programs use. */
const aliases: ReadonlyMap<string, ImageMime> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/pjpeg', 'image/jpeg'],
  ['image/apng', 'image/png'],
  ['image/x-png', 'image/png'],
  ['image/heic-sequence', 'image/heic'],
  ['image/heif-sequence', 'image/heif'],
  ['image/x-tiff', 'image/tiff'],
  ['image/x-bmp', 'image/bmp'],
  ['image/x-ms-bmp', 'image/bmp'],
]);

/** Returns whether variants can be made of an image with this mime. */
export function isDecodable(mime: string): boolean {
  return decodable.has(mime) || aliases.has(mime);
}

/** For a mime that `sniff` returns, without aliases. */
export function isImageMime(mime: string): mime is ImageMime {
  return decodable.has(mime);
}
