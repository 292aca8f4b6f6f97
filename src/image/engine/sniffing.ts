/** What a picture is, told from its first bytes; names and content types are not asked. */
import { fileTypeFromBuffer } from 'file-type';
import { type ImageMime, PictureFault } from './engine.ts';

/** `undefined`: none of the five formats. */
export function sniff(bytes: Uint8Array): ImageMime | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 256)).toString('latin1');
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (/^GIF8[79]a/.test(head)) return 'image/gif';
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP') return 'image/webp';
  return brandsOf(head).some((brand) => brand === 'avif' || brand === 'avis') ? 'image/avif' : undefined;
}

/** What is wrong with bytes that `sniff` does not know: a picture of another format, or no picture at all. */
export async function refuse(bytes: Uint8Array): Promise<PictureFault> {
  if (isSvg(bytes) || (await recognise(bytes))?.startsWith('image/')) {
    return new PictureFault('unsupported', 'The picture is not a JPEG, PNG, WebP, GIF or AVIF.');
  }
  return new PictureFault('undecodable', 'The bytes are not a picture.');
}

/** The brands of an ISO base media file (`ftyp` box), major first. */
function brandsOf(head: string): readonly string[] {
  if (head.slice(4, 8) !== 'ftyp') return [];
  const end = Buffer.from(head.slice(0, 4), 'latin1').readUInt32BE();
  return (head.slice(8, 12) + head.slice(16, end)).match(/.{4}/gs) ?? [];
}

function isSvg(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4096)).toString('utf8');
  return /^\uFEFF?\s*</.test(text) && /<(\w+:)?svg[\s>]/i.test(text);
}

async function recognise(bytes: Uint8Array): Promise<string | undefined> {
  try {
    return (await fileTypeFromBuffer(bytes))?.mime;
  } catch {
    // Its parsers throw on headers that promise more than there is: not recognised.
    return undefined;
  }
}
