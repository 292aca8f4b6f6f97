/** Where the next page of a list begins: the place of the last row, in a form that nobody takes for anything else. */
import { invalid } from '#platform/problem.ts';

export type ListName = 'memories' | 'profiles';

export function writeCursor(list: ListName, seq: number): string {
  return Buffer.from(`${list} ${seq}`).toString('base64url');
}

/** Throws 400 for what this list has not given out. */
export function readCursor(list: ListName, cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  const [name, digits = ''] = Buffer.from(cursor, 'base64url').toString('utf8').split(' ');
  const seq = Number(digits);
  // Written again it has to be the same: of one place there is one cursor.
  if (name !== list || !Number.isSafeInteger(seq) || writeCursor(list, seq) !== cursor)
    throw invalid('querystring.cursor', 'must be a next_cursor of this list');
  return seq;
}

/** One row more than the page is asked for: whether there is another. */
export function cutPage<Row extends { readonly seq: number }>(list: ListName, rows: readonly Row[], limit: number) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, nextCursor: rows.length > limit && last !== undefined ? writeCursor(list, last.seq) : null };
}
