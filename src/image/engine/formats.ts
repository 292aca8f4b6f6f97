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

/** What variants are, by the format of their transform. */
export const mimeOfFormat = { webp: 'image/webp', jpeg: 'image/jpeg', png: 'image/png' } as const;

/** Names that stores and old programs use. */
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

/** Whether a picture that is called this can be shown in other sizes. */
export function isDecodable(mime: string): boolean {
  return decodable.has(mime) || aliases.has(mime);
}

/** Of a mime that `sniff` answers with: no aliases. */
export function isImageMime(mime: string): mime is ImageMime {
  return decodable.has(mime);
}
