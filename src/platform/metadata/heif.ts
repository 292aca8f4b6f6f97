/** Items of HEIC and AVIF files: their metadata has places in the file, which tables name. */
import { type Box, boxesIn, boxOf } from './boxes.ts';
import { type Carriers, type Generated, markIn, strongest, xmpPacket } from './xmp.ts';

interface Extent {
  readonly start: number;
  readonly end: number;
}

interface Item {
  readonly id: number;
  readonly type: string;
  /** Of items with the type `mime`. */
  readonly contentType: string;
}

interface Meta {
  readonly box: Box;
  readonly parts: readonly Box[];
  readonly items: readonly Item[];
  readonly locations: Locations | undefined;
}

/** The table `iloc`. */
interface Locations {
  readonly version: number;
  readonly sizes: { readonly offset: number; readonly length: number; readonly base: number; readonly index: number };
  readonly extents: ReadonlyMap<number, readonly Extent[]>;
  /** Positions of the fields that contain offsets in the file. */
  readonly fields: readonly { readonly at: number; readonly bytes: number; readonly value: number }[];
}

const mostItems = 10_000;
const xmpType = 'application/rdf+xml';
const [isXmp, isExif] = [(item: Item) => item.contentType === xmpType, (item: Item) => item.type === 'Exif'];

export function heifMark(data: Buffer, carriers: Carriers): Generated | undefined {
  const packets = xmpExtents(metaOf(data)).map(({ start, end }) => data.subarray(start, end));
  const boxes = topOf(data)
    .filter(({ type }) => carriers === 'all' && type === 'uuid')
    .map(({ content, end }) => data.subarray(content, end));
  return strongest([...packets, ...boxes].map(markIn));
}

/** Returns the file unchanged if it is a sequence or too damaged for another item. */
export function markHeif(data: Buffer, mark: Generated): Buffer {
  const meta = metaOf(data);
  if (meta === undefined) return data;
  const packet = xmpPacket(mark);
  const [place, another] = xmpExtents(meta);
  if (place !== undefined && another === undefined && place.end - place.start >= packet.length) {
    const copy = Buffer.from(data);
    copy.fill(' ', place.start, place.end).set(packet, place.start);
    return copy;
  }
  return addItem(data, meta, packet) ?? data;
}

/** Overwrites EXIF and XMP in place, so that no offset changes. The orientation is a property of the image, and stays. */
export function stripHeif(data: Buffer, mark: Generated | undefined): Buffer {
  const meta = metaOf(data);
  const copy = Buffer.from(data);
  for (const item of meta?.items ?? []) {
    if (!isExif(item) && item.type !== 'mime' && item.type !== 'uri ') continue;
    for (const [index, { start, end }] of (meta?.locations?.extents.get(item.id) ?? []).entries()) {
      copy.fill(isXmp(item) ? ' ' : 0, start, end);
      if (isExif(item) && index === 0 && end - start >= emptyExif.length) copy.set(emptyExif, start);
    }
  }
  for (const box of topOf(data)) if (isLoose(box)) clear(copy, box);
  return mark === undefined ? copy : markHeif(copy, mark);
}

/** The position of the TIFF header, and a directory without entries. */
const emptyExif = Buffer.from('000000004d4d002a00000008000000000000', 'hex');
/** Metadata and short films beside the image. */
const isLoose = ({ type }: Box) => ['uuid', 'mpvd', 'sefd', 'free', 'skip'].includes(type);

function clear(data: Buffer, { start, content, end }: Box): void {
  data.fill(0, content, end).write('free', start + 4, 'latin1');
}

const xmpExtents = (meta: Meta | undefined): readonly Extent[] =>
  meta?.items.filter(isXmp).flatMap(({ id }) => meta.locations?.extents.get(id) ?? []) ?? [];

const topOf = (data: Buffer) => [...boxesIn(data, 0, data.length)];

function metaOf(data: Buffer): Meta | undefined {
  const box = topOf(data).find(({ type }) => type === 'meta');
  if (box === undefined || box.content + 4 > box.end) return undefined;
  const parts = [...boxesIn(data, box.content + 4, box.end)];
  const part = (type: string) => parts.find((each) => each.type === type);
  const [iinf, iloc] = [part('iinf'), part('iloc')];
  const items = iinf === undefined ? [] : readItems(data, iinf);
  try {
    return { box, parts, items, locations: iloc && readLocations(data, iloc, part('idat')) };
  } catch (error) {
    // The table claims more than the file has.
    if (error instanceof RangeError) return { box, parts, items, locations: undefined };
    throw error;
  }
}

function readItems(data: Buffer, { content, end }: Box): readonly Item[] {
  const first = content + (data[content] === 0 ? 6 : 8);
  const items: Item[] = [];
  for (const entry of boxesIn(data, first, end)) {
    const version = data[entry.content] ?? 0;
    const idBytes = version === 3 ? 4 : 2;
    const typeAt = entry.content + 4 + idBytes + 2;
    if (entry.type !== 'infe' || version < 2 || typeAt + 4 > entry.end || items.length === mostItems) continue;
    const id = data.readUIntBE(entry.content + 4, idBytes);
    const names = data.toString('latin1', typeAt + 4, entry.end).split('\0');
    items.push({ id, type: data.toString('latin1', typeAt, typeAt + 4), contentType: names[1] ?? '' });
  }
  return items;
}

/** Throws RangeError. */
function readLocations(data: Buffer, box: Box, idat: Box | undefined): Locations {
  let at = box.content;
  const read = (bytes: number) => {
    if (bytes === 0) return 0;
    if (at + bytes > box.end) throw new RangeError('the table of locations is too short');
    at += bytes;
    return bytes === 8 ? Number(data.readBigUInt64BE(at - 8)) : data.readUIntBE(at - bytes, bytes);
  };
  const version = read(1);
  read(3);
  const [first, second] = [read(1), read(1)];
  const sizes = { offset: first >> 4, length: first & 15, base: second >> 4, index: version > 0 ? second & 15 : 0 };
  if (Object.values(sizes).some((bytes) => bytes !== 0 && bytes !== 4 && bytes !== 8))
    throw new RangeError('odd sizes');
  const extents = new Map<number, readonly Extent[]>();
  const fields: { at: number; bytes: number; value: number }[] = [];
  for (let left = Math.min(mostItems, read(version < 2 ? 2 : 4)); left > 0; left--) {
    const id = read(version < 2 ? 2 : 4);
    const method = version > 0 ? read(2) & 15 : 0;
    read(2);
    const baseAt = at;
    const base = read(sizes.base);
    const found: Extent[] = [];
    const offsets: { at: number; bytes: number; value: number }[] = [];
    for (let more = read(2); more > 0; more--) {
      read(sizes.index);
      const offsetAt = at;
      const offset = read(sizes.offset);
      const length = read(sizes.length);
      offsets.push({ at: offsetAt, bytes: sizes.offset, value: offset });
      const start = base + offset + (method === 1 ? (idat?.content ?? Number.NaN) : 0);
      const end = length === 0 ? data.length : Math.min(start + length, data.length);
      // Other methods refer to other files or items.
      if (method < 2 && start >= 0 && start < end) found.push({ start, end });
      if (offsets.length > mostItems) throw new RangeError('too many extents');
    }
    extents.set(id, found);
    if (method === 0) fields.push(...(base > 0 ? [{ at: baseAt, bytes: sizes.base, value: base }] : offsets));
  }
  return { version, sizes, extents, fields };
}

/** `undefined`: the file has no place for another item. */
function addItem(data: Buffer, meta: Meta, packet: Uint8Array): Buffer | undefined {
  const { box, parts, items, locations } = meta;
  const part = (type: string) => parts.find((each) => each.type === type);
  const [iinf, iloc, pitm, iref] = [part('iinf'), part('iloc'), part('pitm'), part('iref')];
  if (iinf === undefined || iloc === undefined || pitm === undefined || locations === undefined) return undefined;
  const { version, sizes } = locations;
  const last = topOf(data).at(-1);
  if (topOf(data).some(({ type }) => type === 'moov') || last?.end !== data.length) return undefined;
  if (sizes.offset === 0 || sizes.length === 0 || data.readUInt32BE(box.start) < 8) return undefined;
  const id = Math.max(0, ...items.map((item) => item.id)) + 1;
  if (id > 0xffff) return undefined;
  const isLong = iref !== undefined && data[iref.content] === 1;
  const primary = data[pitm.content] === 0 ? data.readUInt16BE(pitm.content + 4) : data.readUInt32BE(pitm.content + 4);
  const entry = boxOf(
    'infe',
    Buffer.from([2, 0, 0, 1]),
    number(id, 2),
    number(0, 2),
    Buffer.from(`mimeXMP\0${xmpType}\0`, 'latin1'),
  );
  const refBytes = isLong ? 4 : 2;
  const reference = boxOf('cdsc', number(id, refBytes), number(1, 2), number(primary, refBytes));
  const place = [
    number(id, version < 2 ? 2 : 4),
    ...(version > 0 ? [number(0, 2)] : []),
    number(0, 2),
    number(0, sizes.base),
    number(1, 2),
    number(0, sizes.index),
  ];
  const placeBytes = place.reduce((total, each) => total + each.length, sizes.offset + sizes.length);
  const grown = entry.length + reference.length + placeBytes + (iref === undefined ? 12 : 0);
  const copy = Buffer.from(data);
  // What follows the table moves.
  for (const { at, bytes, value } of locations.fields) if (value >= box.end) copy.set(number(value + grown, bytes), at);
  const location = Buffer.concat([
    ...place,
    number(data.length + grown + 8, sizes.offset),
    number(packet.length, sizes.length),
  ]);
  const appended = new Map([
    [iinf, entry],
    [iloc, location],
    ...(iref === undefined ? [] : [[iref, reference] as const]),
  ]);
  const contents = parts.map((each) => {
    const addition = appended.get(each);
    if (addition === undefined) return copy.subarray(each.start, each.end);
    if (each === iinf) addOne(copy, each.content + 4, copy[each.content] === 0 ? 2 : 4);
    if (each === iloc) addOne(copy, each.content + 6, version < 2 ? 2 : 4);
    return boxOf(each.type, copy.subarray(each.content, each.end), addition);
  });
  if (iref === undefined) contents.push(boxOf('iref', Buffer.alloc(4), reference));
  const whole = boxOf('meta', copy.subarray(box.content, box.content + 4), ...contents);
  if (whole.length !== box.end - box.start + grown) return undefined;
  // The last box may extend to the end of the file.
  if (last !== undefined && data.readUInt32BE(last.start) === 0) copy.writeUInt32BE(last.end - last.start, last.start);
  return Buffer.concat([copy.subarray(0, box.start), whole, copy.subarray(box.end), boxOf('mdat', packet)]);
}

function addOne(data: Buffer, at: number, bytes: number): void {
  data.writeUIntBE(data.readUIntBE(at, bytes) + 1, at, bytes);
}

function number(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  if (bytes === 8) buffer.writeBigUInt64BE(BigInt(value));
  else if (bytes > 0) buffer.writeUIntBE(value, 0, bytes);
  return buffer;
}
