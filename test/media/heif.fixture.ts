/** HEIF files for tests, put together from the coded images of the fixtures. */
import { readFileSync } from 'node:fs';

const folder = new URL('./fixtures/', import.meta.url);

export const fixture = (name: string): Buffer => readFileSync(new URL(name, folder));

/** An item of a HEIF file. */
export interface Item {
  readonly type: 'hvc1' | 'grid';
  readonly data: Buffer;
  /** Boxes; those of a tile begin with its decoder's configuration. */
  readonly properties: readonly Buffer[];
  /** Of a grid: indices of its tiles. */
  readonly tiles?: readonly number[];
}

const uint = (bytes: number, ...values: readonly number[]): Buffer => {
  const buffer = Buffer.alloc(bytes * values.length);
  for (const [index, value] of values.entries()) buffer.writeUIntBE(value, index * bytes, bytes);
  return buffer;
};

const box = (type: string, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([uint(4, body.length + 8), Buffer.from(type, 'latin1'), body]);
};

const fullBox = (type: string, version: number, ...parts: readonly Buffer[]): Buffer =>
  box(type, uint(4, version * 0x1000000), ...parts);

export const size = (width: number, height: number) => fullBox('ispe', 0, uint(4, width, height));
/** Quarter turns, against the clock. */
export const rotation = (turns: number) => box('irot', uint(1, turns));
export const mirror = (axis: number) => box('imir', uint(1, axis));

/** The coded image of a fixture of one item. `told`: the size that the file claims. */
export function tile(name: string, told: readonly [number, number] = [64, 64], ...more: readonly Buffer[]): Item {
  const file = fixture(name);
  const at = (type: string) => file.indexOf(type, 0, 'latin1') - 4;
  const boxAt = (start: number) => file.subarray(start, start + file.readUInt32BE(start));
  return {
    type: 'hvc1',
    data: boxAt(at('mdat')).subarray(8),
    properties: [boxAt(at('hvcC')), size(...told), ...more],
  };
}

/** Of tiles that are items of the same file, row by row. */
export function grid(
  columns: number,
  rows: number,
  told: readonly [number, number],
  tiles: readonly number[],
  ...more: readonly Buffer[]
): Item {
  // Version 0, fields of 32 bits.
  const data = Buffer.concat([uint(1, 0, 1, rows - 1, columns - 1), uint(4, ...told)]);
  return { type: 'grid', data, properties: [size(...told), ...more], tiles };
}

export interface FileOptions {
  readonly primary?: number;
  readonly brands?: readonly string[];
}

/** `primary`: an index. */
export function heif(items: readonly Item[], options: FileOptions = {}): Buffer {
  const { primary = 0, brands = ['heic', 'mif1', 'heic'] } = options;
  const [major = '', ...compatible] = brands;
  const types = box('ftyp', Buffer.from(major), uint(4, 0), Buffer.from(compatible.join('')));
  const properties = [...new Set(items.flatMap((item) => item.properties))];
  const places = items.map((item) => item.properties.map((property) => properties.indexOf(property) + 1));
  const infos = items.map(({ type }, index) => fullBox('infe', 2, uint(2, index + 1, 0), Buffer.from(`${type}\0`)));
  const references = items.flatMap(({ tiles }, index) =>
    tiles ? [box('dimg', uint(2, index + 1, tiles.length), uint(2, ...tiles.map((to) => to + 1)))] : [],
  );
  const meta = (start: number) => {
    let at = start;
    const locations = items.map(({ data }, index) => {
      const place = Buffer.concat([uint(2, index + 1, 0, 1), uint(4, at, data.length)]);
      at += data.length;
      return place;
    });
    return fullBox(
      'meta',
      0,
      fullBox('hdlr', 0, uint(4, 0), Buffer.from('pict'), uint(4, 0, 0, 0), uint(1, 0)),
      fullBox('pitm', 0, uint(2, primary + 1)),
      fullBox('iloc', 0, uint(1, 0x44, 0), uint(2, items.length), ...locations),
      fullBox('iinf', 0, uint(2, items.length), ...infos),
      box(
        'iprp',
        box('ipco', ...properties),
        fullBox(
          'ipma',
          0,
          uint(4, items.length),
          ...places.map((of, index) => Buffer.concat([uint(2, index + 1), uint(1, of.length, ...of)])),
        ),
      ),
      ...(references.length > 0 ? [fullBox('iref', 0, ...references)] : []),
    );
  };
  const start = types.length + meta(0).length + 8;
  return Buffer.concat([types, meta(start), box('mdat', ...items.map(({ data }) => data))]);
}
