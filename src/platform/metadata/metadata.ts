/**
 * Metadata of images in memory: reads the mark of how an image was made, writes it, and removes everything else
 * without encoding again. The bytes decide the format. Damaged files never throw: they come back as they are, or with
 * what could be read.
 */
import { heifMark, markHeif, stripHeif } from './heif.ts';
import { jpegMark, markJpeg, stripJpeg } from './jpeg.ts';
import { markPng, pngMark, stripPng } from './png.ts';
import { markWebp, stripWebp, webpMark } from './webp.ts';
import type { Carriers, Generated } from './xmp.ts';

interface Format {
  readonly matches: (head: string) => boolean;
  readonly read: (data: Buffer, carriers: Carriers) => Generated | undefined;
  readonly mark: (data: Buffer, mark: Generated) => Buffer;
  readonly strip: (data: Buffer, mark: Generated | undefined) => Buffer;
}

const formats: readonly Format[] = [
  { matches: (head) => head.startsWith('\xff\xd8\xff'), read: jpegMark, mark: markJpeg, strip: stripJpeg },
  { matches: (head) => head.startsWith('\x89PNG\r\n\x1a\n'), read: pngMark, mark: markPng, strip: stripPng },
  {
    matches: (head) => head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP',
    read: webpMark,
    mark: markWebp,
    strip: stripWebp,
  },
  { matches: (head) => head.slice(4, 8) === 'ftyp', read: heifMark, mark: markHeif, strip: stripHeif },
];

function open(bytes: Uint8Array): { readonly data: Buffer; readonly format: Format | undefined } {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const head = data.toString('latin1', 0, 16);
  return { data, format: formats.find(({ matches }) => matches(head)) };
}

/** `undefined` also for formats that have no mark. */
export function readMark(bytes: Uint8Array): Generated | undefined {
  const { data, format } = open(bytes);
  return format?.read(data, 'all');
}

/** Returns the same bytes for formats that have no mark. */
export function withMark(bytes: Uint8Array, mark: Generated): Uint8Array {
  const { data, format } = open(bytes);
  return format?.read(data, 'xmp') === mark ? bytes : (format?.mark(data, mark) ?? bytes);
}

/** Keeps the mark. Returns the same bytes for formats whose metadata is unknown. */
export function withoutMetadata(bytes: Uint8Array): Uint8Array {
  const { data, format } = open(bytes);
  if (format === undefined) return bytes;
  const stripped = format.strip(data, format.read(data, 'all'));
  return stripped.equals(data) ? bytes : stripped;
}
