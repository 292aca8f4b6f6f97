/** Segments of a JPEG. */
import { exifWithOrientation, orientationOf } from './exif.ts';
import { type Carriers, type Generated, markIn, xmpPacket } from './xmp.ts';

interface Segment {
  readonly marker: number;
  /** With its marker. Of a scan, its compressed data too. */
  readonly bytes: Buffer;
}

const [sos, eoi, com] = [0xda, 0xd9, 0xfe];
const [app0, app1, app2, app11, app14, app15] = [0xe0, 0xe1, 0xe2, 0xeb, 0xee, 0xef];
const xmpName = Buffer.from('http://ns.adobe.com/xap/1.0/\0', 'latin1');
const exifName = Buffer.from('Exif\0\0', 'latin1');
const iccName = Buffer.from('ICC_PROFILE\0', 'latin1');
const headerBytes = 4;

/** Returns the segments up to the end of the image, or of the bytes. What follows the image is not part of it. */
function* segmentsOf(data: Buffer): Generator<Segment> {
  let at = 2;
  while (at + 2 <= data.length) {
    if (data[at] !== 0xff) return;
    const marker = data[at + 1] ?? 0;
    // Bytes that fill up before a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === eoi) return;
    const isAlone = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
    if (!isAlone && at + headerBytes > data.length) return;
    let end = isAlone ? at + 2 : at + 2 + Math.max(2, data.readUInt16BE(at + 2));
    if (marker === sos) end = endOfScan(data, end);
    yield { marker, bytes: data.subarray(at, Math.min(end, data.length)) };
    at = end;
  }
}

function endOfScan(data: Buffer, from: number): number {
  for (let at = data.indexOf(0xff, from); at !== -1; at = data.indexOf(0xff, at + 1)) {
    const next = data[at + 1];
    if (next === undefined) break;
    if (next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  return data.length;
}

const contentOf = ({ bytes }: Segment) => bytes.subarray(headerBytes);
const startsWith = (segment: Segment, name: Buffer) => contentOf(segment).subarray(0, name.length).equals(name);
const isXmp = (segment: Segment) => segment.marker === app1 && startsWith(segment, xmpName);
const isExif = (segment: Segment) => segment.marker === app1 && startsWith(segment, exifName);

export function jpegMark(data: Buffer, carriers: Carriers): Generated | undefined {
  let found: Generated | undefined;
  for (const segment of segmentsOf(data)) {
    if (segment.marker === sos || found === 'ai') break;
    if (isXmp(segment) || (carriers === 'all' && segment.marker === app11)) found = markIn(segment.bytes) ?? found;
  }
  return found;
}

/** Replaces the file's XMP. Everything else stays. */
export function markJpeg(data: Buffer, mark: Generated): Buffer {
  const before: Buffer[] = [data.subarray(0, 2)];
  let at = 2;
  const packet = segment(app1, Buffer.concat([xmpName, xmpPacket(mark)]));
  const after: Buffer[] = [];
  let isLeading = true;
  for (const each of segmentsOf(data)) {
    at = each.bytes.byteOffset - data.byteOffset + each.bytes.length;
    if (each.marker === sos) {
      at = each.bytes.byteOffset - data.byteOffset;
      break;
    }
    // JFIF and EXIF come first.
    isLeading &&= each.marker === app0 || isExif(each);
    if (!isXmp(each)) (isLeading ? before : after).push(each.bytes);
  }
  return Buffer.concat([...before, packet, ...after, data.subarray(at)]);
}

/** Keeps what decoders need, the color profile and the orientation. */
export function stripJpeg(data: Buffer, mark: Generated | undefined): Buffer {
  const kept: Buffer[] = [];
  let orientation = 1;
  let isComplete = false;
  let end = 2;
  for (const each of segmentsOf(data)) {
    end = each.bytes.byteOffset - data.byteOffset + each.bytes.length;
    if (isExif(each)) orientation = orientationOf(contentOf(each));
    if (isKept(each)) kept.push(each.bytes);
    isComplete ||= each.marker === sos;
  }
  if (!isComplete) return data;
  const [first, ...rest] = kept;
  const isJfif = first?.[1] === app0;
  const own = [
    ...(orientation === 1 ? [] : [segment(app1, Buffer.concat([exifName, exifWithOrientation(orientation)]))]),
    ...(mark === undefined ? [] : [segment(app1, Buffer.concat([xmpName, xmpPacket(mark)]))]),
  ];
  const image = isJfif && first !== undefined ? [first, ...own, ...rest] : [...own, ...kept];
  return Buffer.concat([data.subarray(0, 2), ...image, ...(end < data.length ? [Buffer.from([0xff, eoi])] : [])]);
}

function isKept(each: Segment): boolean {
  if (each.marker === app2) return startsWith(each, iccName);
  if (each.marker === app0) return startsWith(each, Buffer.from('JFIF\0', 'latin1'));
  return each.marker !== com && (each.marker < app1 || each.marker > app15 || each.marker === app14);
}

function segment(marker: number, content: Uint8Array): Buffer {
  const header = Buffer.from([0xff, marker, 0, 0]);
  header.writeUInt16BE(content.length + 2, 2);
  return Buffer.concat([header, content]);
}
