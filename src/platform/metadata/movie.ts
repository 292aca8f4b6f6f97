/**
 * Metadata of MP4 and MOV files, which can be too large for memory. Nothing moves: a box of metadata becomes a box of
 * zeros with the type `free`, and the mark is a box at the end.
 */
import { type Box, boxAt, boxesIn, boxOf, xmpUuid } from './boxes.ts';
import { type Generated, markIn, strongest, xmpPacket } from './xmp.ts';

/** Reads bytes of the file, fewer at its end. */
export type ReadRange = (start: number, end: number) => Promise<Buffer>;

/** Bytes that replace others. */
export interface Patch {
  readonly start: number;
  readonly end: number;
  /** `undefined`: zeros. */
  readonly bytes?: Buffer;
}

export interface MovieMetadata {
  readonly mark: Generated | undefined;
  /** In the order of the file. They remove the metadata. */
  readonly removals: readonly Patch[];
  /** They remove XMP alone. */
  readonly xmpRemovals: readonly Patch[];
  /** Whether the mark is in a box of its own, as `movieMark` makes it. */
  readonly isMarked: boolean;
  /** Its length must be written before another box can follow. */
  readonly endless: Patch | undefined;
}

/** The file has more boxes, or a larger table, than is read. */
export class MovieTooComplex extends Error {}

const mostTable = 64 * 1024 * 1024;
const mostXmp = 1024 * 1024;
/** Of an unused box, as much is examined. */
const mostFree = 64 * 1024;
const mostBoxes = 50_000;
const windowBytes = 64 * 1024;
const movieTypes: ReadonlySet<string> = new Set(['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot']);

export const isMovie = (beginning: Buffer) =>
  beginning.length >= 8 && movieTypes.has(beginning.toString('latin1', 4, 8));

/** `depth`: `mark` reads as little as possible, for the mark alone. Throws MovieTooComplex with `all`, and as `read` does. */
export async function readMovie(read: ReadRange, size: number, depth: 'mark' | 'all'): Promise<MovieMetadata> {
  const limit = depth === 'mark' ? 64 : mostBoxes;
  const marks: (Generated | undefined)[] = [];
  const removals: Patch[] = [];
  const xmpRemovals: Patch[] = [];
  let endless: Patch | undefined;
  let isMarked = false;
  let window = { start: 0, bytes: await read(0, Math.min(size, windowBytes)) };
  const reach = async (start: number, bytes: number) => {
    const isInside = start >= window.start && start + bytes <= window.start + window.bytes.length;
    if (!isInside) window = { start, bytes: await read(start, Math.min(size, start + Math.max(bytes, 4096))) };
    return window.bytes.subarray(start - window.start);
  };
  let count = 0;
  for (let at = 0; at + 8 <= size; count++) {
    if (count === limit) {
      if (depth === 'mark') break;
      throw new MovieTooComplex(`it has more than ${limit} boxes`);
    }
    const header = await reach(at, Math.min(32, size - at));
    const local = boxAt(header, 0, size - at);
    if (local === undefined) break;
    const box: Box = { type: local.type, start: at, content: at + local.content, end: at + local.end };
    if (box.end > size) break;
    if (header.readUInt32BE(0) === 0 && size - at <= 0xffff_ffff)
      endless = { start: at, end: at + 4, bytes: sizeField(size - at) };
    if (box.type === 'uuid') {
      const isXmp = header.subarray(local.content, local.content + 16).equals(xmpUuid);
      const length = box.end - box.start;
      const bytes = length > mostXmp ? header : (await reach(box.start, length)).subarray(0, length);
      const mark = markIn(bytes);
      marks.push(mark);
      if (mark !== undefined && movieMark(mark).equals(bytes)) {
        isMarked = true;
        at = box.end;
        continue;
      }
      removals.push(...clearing(box, box.start));
      if (isXmp) xmpRemovals.push(...clearing(box, box.start));
    } else if (isEmptied(box.type)) {
      const sample = await reach(box.start, Math.min(box.end - box.start, mostFree));
      if (hasContent(sample.subarray(local.content, box.end - box.start))) removals.push(...clearing(box, box.start));
    } else if (isMetadata(box.type)) removals.push(...clearing(box, box.start));
    else if (box.type === 'moov') {
      const length = box.end - box.start;
      if (length > mostTable) {
        if (depth === 'all') throw new MovieTooComplex(`its table has ${length} bytes`);
      } else {
        const table = (await reach(box.start, length)).subarray(0, length);
        const inside = { type: 'moov', start: 0, content: local.content, end: length };
        readTable(table, inside, box.start, { marks, removals, xmpRemovals });
      }
    }
    at = box.end;
  }
  const sorted = (patches: readonly Patch[]) => patches.toSorted((left, right) => left.start - right.start);
  return {
    mark: strongest(marks),
    removals: sorted(removals),
    xmpRemovals: sorted(xmpRemovals),
    isMarked,
    endless,
  };
}

/** The box at the end of a file that has the mark. */
export const movieMark = (mark: Generated) => boxOf('uuid', xmpUuid, xmpPacket(mark));

const isMetadata = (type: string) => type === 'udta' || type === 'meta' || type === 'uuid';
/** Can contain what another program has removed. */
const isEmptied = (type: string) => type === 'free' || type === 'skip';
const hasContent = (bytes: Buffer) => bytes.some((byte) => byte !== 0);
const containers: ReadonlySet<string> = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl']);
/** Their times are the first two numbers after the version. */
const dated: ReadonlySet<string> = new Set(['mvhd', 'tkhd', 'mdhd']);

interface Found {
  readonly marks: (Generated | undefined)[];
  readonly removals: Patch[];
  readonly xmpRemovals: Patch[];
}

/** `origin`: the position of the table in the file. */
function readTable(table: Buffer, parent: Box, origin: number, found: Found, depth = 0): void {
  for (const box of boxesIn(table, parent.content, parent.end)) {
    if (isEmptied(box.type)) {
      if (hasContent(table.subarray(box.content, box.end))) found.removals.push(...clearing(box, origin + box.start));
    } else if (isMetadata(box.type)) {
      found.marks.push(markIn(table.subarray(box.content, box.end)));
      found.removals.push(...clearing(box, origin + box.start));
      for (const inner of boxesIn(table, box.content, box.end))
        if (inner.type === 'XMP_') found.xmpRemovals.push(...clearing(inner, origin + inner.start));
    } else if (box.type === 'trak' && isMetadataTrack(table, box)) {
      found.removals.push(...samplesOf(table, box), ...clearing(box, origin + box.start));
    } else if (dated.has(box.type)) {
      const times = table[box.content] === 1 ? 16 : 8;
      const start = box.content + 4;
      if (start + times <= box.end && table.subarray(start, start + times).some(Boolean))
        found.removals.push({ start: origin + start, end: origin + start + times });
    } else if (containers.has(box.type) && depth < 6) readTable(table, box, origin, found, depth + 1);
  }
}

function inner(table: Buffer, box: Box, path: readonly string[]): Box | undefined {
  let at: Box | undefined = box;
  for (const type of path) at = at && [...boxesIn(table, at.content, at.end)].find((each) => each.type === type);
  return at;
}

/** A track of places or other readings of sensors. */
function isMetadataTrack(table: Buffer, track: Box): boolean {
  const handler = inner(table, track, ['mdia', 'hdlr']);
  const type = handler && table.toString('latin1', handler.content + 8, handler.content + 12);
  return type === 'meta' || type === 'camm' || type === 'gpmd';
}

/** The samples of a track, wherever they are in the file. Damaged tables name none. */
function samplesOf(table: Buffer, track: Box): readonly Patch[] {
  const part = (type: string) => inner(table, track, ['mdia', 'minf', 'stbl', type]);
  const [sizes, chunks, runs] = [part('stsz'), part('stco') ?? part('co64'), part('stsc')];
  if (sizes === undefined || chunks === undefined || runs === undefined) return [];
  const entries = (box: Box, bytes: number, header: number) =>
    Math.max(
      0,
      Math.min(table.readUInt32BE(box.content + header - 4), Math.floor((box.end - box.content - header) / bytes)),
    );
  if (sizes.content + 12 > sizes.end || chunks.content + 8 > chunks.end || runs.content + 8 > runs.end) return [];
  const fixed = table.readUInt32BE(sizes.content + 4);
  const sampleCount = fixed === 0 ? entries(sizes, 4, 12) : table.readUInt32BE(sizes.content + 8);
  const offsetBytes = chunks.type === 'co64' ? 8 : 4;
  const runCount = entries(runs, 12, 8);
  const patches: Patch[] = [];
  let [sample, run] = [0, 0];
  for (let chunk = 0, count = entries(chunks, offsetBytes, 8); chunk < count && sample < sampleCount; chunk++) {
    while (run + 1 < runCount && table.readUInt32BE(runs.content + 8 + (run + 1) * 12) <= chunk + 1) run += 1;
    const inChunk = runCount === 0 ? 0 : table.readUInt32BE(runs.content + 8 + run * 12 + 4);
    const at = chunks.content + 8 + chunk * offsetBytes;
    const start = offsetBytes === 8 ? Number(table.readBigUInt64BE(at)) : table.readUInt32BE(at);
    const last = Math.min(sample + inChunk, sampleCount);
    let length = fixed * (last - sample);
    if (fixed === 0) for (; sample < last; sample++) length += table.readUInt32BE(sizes.content + 12 + sample * 4);
    sample = last;
    if (length > 0 && Number.isSafeInteger(start + length)) patches.push({ start, end: start + length });
  }
  return patches;
}

function clearing({ start, content, end }: Box, at: number): readonly Patch[] {
  const type = { start: at + 4, end: at + 8, bytes: Buffer.from('free', 'latin1') };
  return end > content ? [type, { start: at + (content - start), end: at + (end - start) }] : [type];
}

function sizeField(size: number): Buffer {
  const field = Buffer.alloc(4);
  field.writeUInt32BE(size);
  return field;
}

/** Returns the bytes of a stream with the patches applied. */
export async function* patched(stream: AsyncIterable<Buffer>, patches: readonly Patch[]): AsyncGenerator<Buffer> {
  let at = 0;
  let first = 0;
  for await (const piece of stream) {
    const end = at + piece.length;
    let copy: Buffer | undefined;
    // Ends of earlier patches may overlap later ones, so patches are skipped only from the first that is over.
    while (first < patches.length && (patches[first]?.end ?? 0) <= at) first += 1;
    for (let index = first; index < patches.length; index++) {
      const patch = patches[index];
      if (patch === undefined || patch.start >= end) break;
      const [from, until] = [Math.max(patch.start, at), Math.min(patch.end, end)];
      if (from >= until) continue;
      copy ??= Buffer.from(piece);
      if (patch.bytes === undefined) copy.fill(0, from - at, until - at);
      else copy.set(patch.bytes.subarray(from - patch.start, until - patch.start), from - at);
    }
    yield copy ?? piece;
    at = end;
  }
}
