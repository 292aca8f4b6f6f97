/** Chunks of a WebP file. */
import { exifWithOrientation, orientationOf } from './exif.ts';
import { type Carriers, type Generated, markIn, strongest, xmpPacket } from './xmp.ts';

interface Chunk {
  readonly type: string;
  readonly content: Buffer;
}

const headerBytes = 12;
const images: ReadonlySet<string> = new Set(['VP8 ', 'VP8L', 'ALPH', 'ANIM', 'ANMF', 'ICCP']);
/** Bits of the features of an extended file. */
const [animated, xmp, exif, alpha, icc] = [0x02, 0x04, 0x08, 0x10, 0x20];

function chunksOf(data: Buffer): readonly Chunk[] {
  const chunks: Chunk[] = [];
  const whole = Math.min(data.length, 8 + data.readUInt32LE(4));
  for (let at = headerBytes; at + 8 <= whole; ) {
    const size = data.readUInt32LE(at + 4);
    if (at + 8 + size > whole) break;
    chunks.push({ type: data.toString('latin1', at, at + 4), content: data.subarray(at + 8, at + 8 + size) });
    at += 8 + size + (size % 2);
  }
  return chunks;
}

export function webpMark(data: Buffer, carriers: Carriers): Generated | undefined {
  if (data.length < headerBytes) return undefined;
  const marks = chunksOf(data)
    .filter(({ type }) => type === 'XMP ' || (carriers === 'all' && type === 'C2PA'))
    .map(({ content }) => markIn(content));
  return strongest(marks);
}

/** Replaces the file's XMP. Everything else stays. */
export function markWebp(data: Buffer, mark: Generated): Buffer {
  const chunks = data.length < headerBytes ? [] : chunksOf(data);
  return write(
    data,
    chunks.filter(({ type }) => type !== 'XMP ' && type !== 'VP8X'),
    chunks,
    mark,
  );
}

/** Keeps the image, its animation, its color profile and its orientation. */
export function stripWebp(data: Buffer, mark: Generated | undefined): Buffer {
  const chunks = data.length < headerBytes ? [] : chunksOf(data);
  const old = chunks.find(({ type }) => type === 'EXIF');
  const orientation = old === undefined ? 1 : orientationOf(old.content);
  const kept = chunks.filter(({ type }) => images.has(type));
  if (orientation !== 1) kept.push({ type: 'EXIF', content: Buffer.from(exifWithOrientation(orientation)) });
  return write(data, kept, chunks, mark);
}

function write(data: Buffer, kept: readonly Chunk[], chunks: readonly Chunk[], mark: Generated | undefined): Buffer {
  const image = kept.find(({ type }) => type === 'VP8 ' || type === 'VP8L' || type === 'ANMF');
  const old = chunks.find(({ type }) => type === 'VP8X')?.content;
  const canvas = old !== undefined && old.length >= 10 ? old.subarray(4, 10) : image && canvasOf(image);
  // Damaged: no decoder reads it.
  if (image === undefined || canvas === undefined) return data;
  const has = (type: string) => kept.some((chunk) => chunk.type === type);
  const isTransparent = ((old?.[0] ?? 0) & alpha) !== 0 || has('ALPH') || (old === undefined && isAlphaLossless(image));
  const flags =
    (has('ANIM') ? animated : 0) |
    (mark === undefined ? 0 : xmp) |
    (has('EXIF') ? exif : 0) |
    (isTransparent ? alpha : 0) |
    (has('ICCP') ? icc : 0);
  const all = mark === undefined ? [...kept] : [...kept, { type: 'XMP ', content: Buffer.from(xmpPacket(mark)) }];
  // A plain file has no extended header.
  if (all.length > 1 || old !== undefined)
    all.unshift({ type: 'VP8X', content: Buffer.concat([Buffer.from([flags, 0, 0, 0]), canvas]) });
  const body = Buffer.concat(all.map(chunkOf));
  const header = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1');
  header.writeUInt32LE(4 + body.length, 4);
  return Buffer.concat([header, body]);
}

/** Width and height less one, in three bytes each. `undefined`: the header is damaged. */
function canvasOf({ type, content }: Chunk): Buffer | undefined {
  if (type === 'VP8 ' && content.length >= 10)
    return size((content.readUInt16LE(6) & 0x3fff) - 1, (content.readUInt16LE(8) & 0x3fff) - 1);
  if (type !== 'VP8L' || content.length < 5) return undefined;
  const bits = content.readUInt32LE(1);
  return size(bits & 0x3fff, (bits >>> 14) & 0x3fff);
}

function size(width: number, height: number): Buffer | undefined {
  if (width < 0 || height < 0) return undefined;
  const canvas = Buffer.alloc(6);
  canvas.writeUIntLE(width, 0, 3);
  canvas.writeUIntLE(height, 3, 3);
  return canvas;
}

const isAlphaLossless = ({ type, content }: Chunk) =>
  type === 'VP8L' && content.length >= 5 && ((content.readUInt32LE(1) >>> 28) & 1) === 1;

function chunkOf({ type, content }: Chunk): Buffer {
  const header = Buffer.alloc(8);
  header.write(type, 'latin1');
  header.writeUInt32LE(content.length, 4);
  return Buffer.concat([header, content, Buffer.alloc(content.length % 2)]);
}
