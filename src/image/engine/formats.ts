/** The formats that the engine reads, and their names in messages. */

import { fileTypeFromBuffer } from 'file-type';
import { isBmp } from './decoders/bmpheader.ts';
import { ImageFault, type ImageMime, imageMimes } from './engine.ts';

export const decodableFormats = 'JPEG, PNG, WebP, GIF, AVIF, HEIC/HEIF, TIFF and BMP';

const decodable: ReadonlySet<string> = new Set(imageMimes);

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

// Detects the format of an image from its first bytes. Names and content types do not count.

/** Bytes of a file that `sniff` needs to recognize an image. */
export const beginningBytes = 4100;

/**
 * Returns the mime of the image, including formats that the engine does not read, or `undefined` if the bytes are no
 * image. From the beginning alone, a camera's raw file can look like a TIFF.
 */
export async function sniff(bytes: Uint8Array): Promise<string | undefined> {
  const known = signatureOf(bytes);
  // Raw files of cameras begin like a TIFF and contain a small preview.
  if (known !== undefined && known !== 'image/tiff') return known;
  const recognized = await recognize(bytes);
  // For formats that we support, the library checks fewer bytes, which can begin any text: two letters make a BMP.
  return recognized?.startsWith('image/') && !isDecodable(recognized) ? recognized : known;
}

/** Returns the format of a whole file. Throws ImageFault if the engine does not read it. */
export async function recognizeFormat(bytes: Uint8Array): Promise<ImageMime> {
  const mime = await sniff(bytes);
  if (mime !== undefined && isImageMime(mime)) return mime;
  if (mime !== undefined || isSvg(bytes))
    throw new ImageFault(
      'unsupported',
      `The format of the image is not supported. Supported formats: ${decodableFormats}.`,
    );
  throw new ImageFault('undecodable', 'The bytes are not an image.');
}

function signatureOf(bytes: Uint8Array): ImageMime | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 16)).toString('latin1');
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (/^GIF8[79]a/.test(head)) return 'image/gif';
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP') return 'image/webp';
  if (/^(II[*+]\0|MM\0[*+])/.test(head)) return 'image/tiff';
  if (isBmp(bytes)) return 'image/bmp';
  return head.slice(4, 8) === 'ftyp' ? mimeOfBrands(bytes) : undefined;
}

const avifBrands: readonly string[] = ['avif', 'avis'];
const heicBrands: readonly string[] = ['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'hevm', 'hevs'];
const heifBrands: readonly string[] = ['mif1', 'mif2', 'mif3', 'msf1'];

/** ISO base media files list several brands. Readers accept a file for each of them, so every brand counts. */
function mimeOfBrands(bytes: Uint8Array): ImageMime | undefined {
  const beginning = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, beginningBytes));
  const declared = beginning.readUInt32BE();
  // 0: to the end of the file. 1: the length has 64 bits, after the type.
  const isLong = declared === 1 && beginning.length >= 16;
  const end = isLong ? Number(beginning.readBigUInt64BE(8)) : declared === 0 ? bytes.length : declared;
  // No film has a thousand brands: a list that is cut off can contain any brand, so the file is treated as an image.
  if (end > beginningBytes && bytes.length >= beginningBytes) return 'image/heif';
  const start = isLong ? 16 : 8;
  const text = beginning.toString('latin1', start, Math.max(start, end));
  const brands = [text.slice(0, 4), ...(text.slice(8).match(/.{4}/gs) ?? [])];
  const has = (wanted: readonly string[]) => brands.some((brand) => wanted.includes(brand));
  if (has(avifBrands)) return 'image/avif';
  if (has(heicBrands)) return 'image/heic';
  return has(heifBrands) ? 'image/heif' : undefined;
}

function isSvg(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4096)).toString('utf8');
  return /^\uFEFF?\s*</.test(text) && /<(\w+:)?svg[\s>]/i.test(text);
}

/** The mime of any file by its first bytes. The parsers throw if a header claims more than there is: such a file is not recognized. */
export async function recognize(bytes: Uint8Array): Promise<string | undefined> {
  return (await fileTypeFromBuffer(bytes).catch(() => undefined))?.mime;
}
