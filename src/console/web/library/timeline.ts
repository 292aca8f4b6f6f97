/** Arranges assets in rows of tiles below the days on which they were created. */
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
}

export type Row = DateRow | TileRow;

/** Days are computed once for each asset: a library can have many thousands, and grows page by page. */
const days = new WeakMap<Asset, string>();

const keyOf = (date: Date) => `${date.getFullYear()}-${date.getMonth()}-${date.getDate()}`;

function dayOf(asset: Asset): string {
  const known = days.get(asset);
  if (known !== undefined) return known;
  const day = keyOf(new Date(asset.createdAt));
  days.set(asset, day);
  return day;
}

/** `assets` are ordered by time. */
export function arrange(assets: readonly Asset[], columns: number, now = new Date()): readonly Row[] {
  const rows: Row[] = [];
  let place = 0;
  while (place < assets.length) {
    const first = assets[place];
    if (first === undefined) break;
    const day = dayOf(first);
    rows.push({ kind: 'date', key: day, label: labelOf(new Date(first.createdAt), now) });
    let end = place;
    for (let next = assets[end]; next !== undefined && dayOf(next) === day; next = assets[end]) end += 1;
    for (; place < end; place += columns) {
      const tiles = assets.slice(place, Math.min(place + columns, end));
      rows.push({ kind: 'tiles', key: tiles[0]?.assetId ?? '', start: place, assets: tiles });
    }
    place = end;
  }
  return rows;
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
