/** Arranges assets in justified rows below the days on which they were created: each tile has the shape of its asset. */
import type { Asset } from '../../../client/media/api.ts';

export interface DateRow {
  readonly kind: 'date';
  readonly key: string;
  readonly label: string;
}

export interface TileRow {
  readonly kind: 'tiles';
  readonly key: string;
  /** The place of the first asset among all. */
  readonly start: number;
  readonly assets: readonly Asset[];
  /** In pixels. */
  readonly height: number;
  readonly widths: readonly number[];
}

/** In pixels. */
export interface Shape {
  readonly width: number;
  /** A row has about this height. */
  readonly height: number;
  readonly gap: number;
}

export type Row = DateRow | TileRow;

/** Days are computed once for each asset: a library can have many thousands, and grows page by page. */
const days = new WeakMap<Asset, string>();

const keyOf = (date: Date) => `${date.getFullYear()}-${date.getMonth()}-${date.getDate()}`;

/** In the time zone of the browser, such as `2026-11`. */
export function monthOf(createdAt: string): string {
  const date = new Date(createdAt);
  return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}`;
}

function dayOf(asset: Asset): string {
  const known = days.get(asset);
  if (known !== undefined) return known;
  const day = keyOf(new Date(asset.createdAt));
  days.set(asset, day);
  return day;
}

/** A tile is never a thin line. */
const narrowest = 0.5;
const widest = 3;

function ratioOf({ width, height }: Asset): number {
  if (width === null || height === null || width < 1 || height < 1) return 1;
  return Math.min(widest, Math.max(narrowest, width / height));
}

/** `assets` are ordered by time. */
export function arrange(assets: readonly Asset[], shape: Shape, now = new Date()): readonly Row[] {
  const rows: Row[] = [];
  let place = 0;
  while (place < assets.length) {
    const first = assets[place];
    if (first === undefined) break;
    const day = dayOf(first);
    rows.push({ kind: 'date', key: day, label: labelOf(new Date(first.createdAt), now) });
    let end = place;
    for (let next = assets[end]; next !== undefined && dayOf(next) === day; next = assets[end]) end += 1;
    while (place < end) {
      const row = justify(assets, place, end, shape);
      rows.push(row);
      place += row.assets.length;
    }
  }
  return rows;
}

/** As many tiles as fill the width at about the wanted height. The last row of a day is not stretched. */
function justify(assets: readonly Asset[], start: number, end: number, { width, height, gap }: Shape): TileRow {
  const ratios: number[] = [];
  let sum = 0;
  let isFull = false;
  for (let place = start; place < end && !isFull; place += 1) {
    const asset = assets[place];
    if (asset === undefined) break;
    const ratio = ratioOf(asset);
    ratios.push(ratio);
    sum += ratio;
    isFull = sum * height + gap * (ratios.length - 1) >= width;
  }
  const room = Math.max(1, width - gap * (ratios.length - 1));
  const rowHeight = isFull ? Math.max(1, Math.floor(room / sum)) : height;
  const widths = ratios.map((ratio) => Math.max(1, Math.floor(ratio * rowHeight)));
  // The pixels that rounding leaves.
  if (isFull) widths[widths.length - 1] = Math.max(1, room - widths.slice(0, -1).reduce((all, one) => all + one, 0));
  const tiles = assets.slice(start, start + ratios.length);
  return { kind: 'tiles', key: tiles[0]?.assetId ?? '', start, assets: tiles, height: rowHeight, widths };
}

/** The place of the tile above or below, nearest to the middle of the tile at `place`. */
export function placeBeside(rows: readonly Row[], place: number, step: 1 | -1, gap: number): number {
  const at = rowOf(rows, place);
  const row = rows[at];
  let next = at + step;
  while (rows[next]?.kind === 'date') next += step;
  const other = rows[next];
  if (row?.kind !== 'tiles' || other?.kind !== 'tiles') return place;
  const middle = middlesOf(row, gap)[place - row.start] ?? 0;
  const distances = middlesOf(other, gap).map((each) => Math.abs(each - middle));
  return other.start + distances.indexOf(Math.min(...distances));
}

function middlesOf({ widths }: TileRow, gap: number): readonly number[] {
  let left = 0;
  return widths.map((width) => {
    const middle = left + width / 2;
    left += width + gap;
    return middle;
  });
}

const thisYear = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });
const otherYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'long', year: 'numeric' });

export function labelOf(date: Date, now: Date): string {
  const yesterday = new Date(now);
  yesterday.setDate(now.getDate() - 1);
  if (keyOf(date) === keyOf(now)) return 'Today';
  if (keyOf(date) === keyOf(yesterday)) return 'Yesterday';
  return (date.getFullYear() === now.getFullYear() ? thisYear : otherYear).format(date);
}

/** Of the row that shows the asset at `place`. */
export function rowOf(rows: readonly Row[], place: number): number {
  let low = 0;
  let high = rows.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (startOf(rows, middle) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** A date row begins where its first tiles do; of the two, the tiles are the later row. */
function startOf(rows: readonly Row[], index: number): number {
  const row = rows[index];
  if (row?.kind === 'tiles') return row.start;
  const tiles = rows[index + 1];
  return tiles?.kind === 'tiles' ? tiles.start : Number.POSITIVE_INFINITY;
}
