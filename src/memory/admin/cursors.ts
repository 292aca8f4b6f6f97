/** Cursors of lists: the sequence number of a page's last row, in an opaque form. */
import { invalid } from '#platform/problem.ts';

export type ListName = 'memories' | 'profiles';

export function writeCursor(list: ListName, seq: number): string {
  return Buffer.from(`${list} ${seq}`).toString('base64url');
}

/** Throws 400 for a cursor that is not from this list. */
export function readCursor(list: ListName, cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  const [name, digits = ''] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ');
  const seq = Number(digits);
  // Each place has exactly one valid cursor.
  if (name !== list || !Number.isSafeInteger(seq) || writeCursor(list, seq) !== cursor)
    throw invalid('querystring.cursor', 'must be a next_cursor of this list');
  return seq;
}

/** Cuts rows to a page. The caller queries one row more than the page has, which shows whether another page exists. */
export function cutPage<Row extends { readonly seq: number }>(list: ListName, rows: readonly Row[], limit: number) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, nextCursor: rows.length > limit && last !== undefined ? writeCursor(list, last.seq) : null };
}
