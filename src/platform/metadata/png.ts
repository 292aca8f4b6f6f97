/** Chunks of a PNG. */
import { crc32, inflateSync } from 'node:zlib';
import { exifWithOrientation, orientationOf } from './exif.ts';
import { type Carriers, type Generated, markIn, xmpPacket } from './xmp.ts';

interface Chunk {
  readonly type: string;
  readonly content: Buffer;
  /** With its length, type and checksum. */
  readonly bytes: Buffer;
}

const signatureBytes = 8;
const xmpName = 'XML:com.adobe.xmp';
const mostText = 1024 * 1024;
/** Ancillary chunks that change how the image looks. */
const shown: ReadonlySet<string> = new Set(
  'tRNS gAMA cHRM sRGB iCCP sBIT pHYs bKGD cICP mDCV cLLI mDCv cLLi acTL fcTL fdAT'.split(' '),
);

function* chunksOf(data: Buffer): Generator<Chunk> {
  let at = signatureBytes;
  while (at + 12 <= data.length) {
    const end = at + 12 + data.readUInt32BE(at);
    if (end > data.length) return;
    const type = data.toString('latin1', at + 4, at + 8);
    yield { type, content: data.subarray(at + 8, end - 4), bytes: data.subarray(at, end) };
    if (type === 'IEND') return;
    at = end;
  }
}

const isXmp = ({ type, content }: Chunk) =>
  type === 'iTXt' && content.toString('latin1', 0, xmpName.length + 1) === `${xmpName}\0`;

export function pngMark(data: Buffer, carriers: Carriers): Generated | undefined {
  let found: Generated | undefined;
  for (const chunk of chunksOf(data)) {
    if (found === 'ai') break;
    if (isXmp(chunk)) found = markIn(textOf(chunk.content)) ?? found;
    if (carriers === 'all' && chunk.type === 'caBX') found = markIn(chunk.content) ?? found;
  }
  return found;
}

/** Keyword, NUL, whether it is compressed, method, language, NUL, translated keyword, NUL, text. */
function textOf(content: Buffer): Buffer {
  const flags = xmpName.length + 1;
  const language = content.indexOf(0, flags + 2);
  const keyword = language === -1 ? -1 : content.indexOf(0, language + 1);
  if (keyword === -1) return Buffer.alloc(0);
  const text = content.subarray(keyword + 1);
  if (content[flags] !== 1) return text;
  try {
    return inflateSync(text, { maxOutputLength: mostText });
  } catch {
    // Damaged, or larger than any packet.
    return Buffer.alloc(0);
  }
}

/** `beginsWithStill`: otherwise browsers never show the image that other programs show. `undefined`: there are no frames. */
export function pngAnimation(data: Buffer): { readonly frames: number; readonly beginsWithStill: boolean } | undefined {
  let frames: number | undefined;
  for (const { type, content } of chunksOf(data)) {
    if (type === 'acTL' && content.length >= 4) frames ??= content.readUInt32BE();
    if (type === 'fcTL' && frames !== undefined) return { frames, beginsWithStill: true };
    if (type === 'IDAT') return frames === undefined ? undefined : { frames, beginsWithStill: false };
  }
  return undefined;
}

/** Replaces the file's XMP. Everything else stays. */
export function markPng(data: Buffer, mark: Generated): Buffer {
  const chunks = [...chunksOf(data)];
  const [header] = chunks;
  if (header?.type !== 'IHDR') return data;
  const last = chunks.at(-1)?.bytes ?? header.bytes;
  const end = last.byteOffset - data.byteOffset + last.length;
  const rest = chunks.slice(1).filter((chunk) => !isXmp(chunk));
  return Buffer.concat([
    data.subarray(0, signatureBytes),
    header.bytes,
    xmpChunk(mark),
    ...rest.map(({ bytes }) => bytes),
    data.subarray(end),
  ]);
}

/** Keeps what decoders need, colors, the animation and the orientation. */
export function stripPng(data: Buffer, mark: Generated | undefined): Buffer {
  const chunks = [...chunksOf(data)];
  const [header] = chunks;
  if (header?.type !== 'IHDR' || !chunks.some(({ type }) => type === 'IDAT')) return data;
  const exif = chunks.find(({ type }) => type === 'eXIf');
  const orientation = exif === undefined ? 1 : orientationOf(exif.content);
  const kept = chunks.slice(1).filter(({ type }) => isCritical(type) || shown.has(type));
  return Buffer.concat([
    data.subarray(0, signatureBytes),
    header.bytes,
    ...(orientation === 1 ? [] : [chunkOf('eXIf', exifWithOrientation(orientation))]),
    ...(mark === undefined ? [] : [xmpChunk(mark)]),
    ...kept.map(({ bytes }) => bytes),
  ]);
}

const isCritical = (type: string) => /^[A-Z]/.test(type);

const xmpChunk = (mark: Generated) =>
  chunkOf('iTXt', Buffer.concat([Buffer.from(`${xmpName}\0\0\0\0\0`, 'latin1'), xmpPacket(mark)]));

function chunkOf(type: string, content: Uint8Array): Buffer {
  const chunk = Buffer.alloc(12 + content.length);
  chunk.writeUInt32BE(content.length);
  chunk.write(type, 4, 'latin1');
  chunk.set(content, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + content.length)), 8 + content.length);
  return chunk;
}
