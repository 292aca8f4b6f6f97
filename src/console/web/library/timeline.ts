/** Arranges assets in justified rows below the days on which they were created: each tile has the shape of its asset. */
import type { Asset } from '../../../client/media/api.ts';

interface DateRow {
  readonly kind: 'date';
  readonly key: string;
  /** The place of its first asset among all. */
  readonly start: number;
  readonly label: string;
}

interface TileRow extends Omit<DateRow, 'kind' | 'label'> {
  readonly kind: 'tiles';
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

const dayOf = (date: Date) => `${date.getFullYear()}-${date.getMonth()}-${date.getDate()}`;

/** In the time zone of the browser, such as `2026-11`. */
export function monthOf(createdAt: string): string {
  const date = new Date(createdAt);
  return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}`;
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
  let start = 0;
  return [...Map.groupBy(assets, ({ createdAt }) => dayOf(new Date(createdAt)))].flatMap(([key, ofDay]) => {
    const label = labelOf(new Date(ofDay[0]?.createdAt ?? now), now);
    const rows: Row[] = [{ kind: 'date', key, start, label }, ...justify(ofDay, start, shape)];
    start += ofDay.length;
    return rows;
  });
}

/** In each row, as many tiles as fill the width at about the wanted height. The last row of a day is not stretched. */
function justify(assets: readonly Asset[], first: number, { width, height, gap }: Shape): readonly TileRow[] {
  const rows: TileRow[] = [];
  let ratios: number[] = [];
  for (const [place, asset] of assets.entries()) {
    ratios.push(ratioOf(asset));
    const sum = ratios.reduce((all, one) => all + one, 0);
    const room = Math.max(1, width - gap * (ratios.length - 1));
    const isFull = sum * height >= room;
    if (!isFull && place < assets.length - 1) continue;
    const rowHeight = isFull ? Math.max(1, Math.floor(room / sum)) : height;
    const widths = ratios.map((ratio) => Math.max(1, Math.floor(ratio * rowHeight)));
    // The pixels that rounding leaves.
    if (isFull) widths[widths.length - 1] = Math.max(1, room - widths.slice(0, -1).reduce((all, one) => all + one, 0));
    const start = place + 1 - ratios.length;
    const tiles = assets.slice(start, place + 1);
    const key = tiles[0]?.assetId ?? '';
    rows.push({ kind: 'tiles', key, start: first + start, assets: tiles, height: rowHeight, widths });
    ratios = [];
  }
  return rows;
}

/** The place of the tile above or below, nearest to the middle of the tile at `place`. */
export function placeBeside(rows: readonly Row[], place: number, step: 1 | -1, gap: number): number {
  const tiles = rows.filter((row) => row.kind === 'tiles');
  const at = rowOf(tiles, place);
  const [row, other] = [tiles[at], tiles[at + step]];
  if (row === undefined || other === undefined) return place;
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
  if (dayOf(date) === dayOf(now)) return 'Today';
  if (dayOf(date) === dayOf(yesterday)) return 'Yesterday';
  return (date.getFullYear() === now.getFullYear() ? thisYear : otherYear).format(date);
}

/** Of the row that shows the asset at `place`. */
export const rowOf = (rows: readonly Row[], place: number): number => rows.findLastIndex(({ start }) => start <= place);
