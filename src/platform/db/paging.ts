/** Pages of rows by time. A cursor holds the place of the last row: its time and its id, because rows can have the same time. */
import { sql } from 'kysely';
import { isUuid } from '../ids.ts';
import { invalid } from '../problem.ts';

export interface Place {
  /** Microseconds since 1970, the precision of the database. */
  readonly createdAtUs: string;
  readonly id: string;
}

export const microseconds = sql<string>`(extract(epoch from created_at) * 1000000)::bigint::text`;
export const createdAtUs = microseconds.as('createdAtUs');

/** Whether a row comes after the place. `undefined`: every row does. `type`: of the ids. `sign`: `>` is oldest first. */
export const isBelow = (id: string, after: Place | undefined, type: 'uuid' | 'text' = 'uuid', sign: '<' | '>' = '<') =>
  after === undefined
    ? sql<boolean>`true`
    : sql<boolean>`(created_at, ${sql.ref(id)}) ${sql.raw(sign)} (timestamptz 'epoch' + ${after.createdAtUs}::bigint
        * interval '1 microsecond', ${after.id}::${sql.raw(type)})`;

/** `undefined`: there is no next page. */
export const writeCursor = (last: Place | undefined) =>
  last === undefined ? null : Buffer.from(`${last.createdAtUs} ${last.id}`).toString('base64url');

/** Throws 400 for a cursor that no page returned. `name`: the field of a page with its cursor. */
export function readCursor(text: string, name = 'next_cursor', isId: (id: string) => boolean = isUuid): Place {
  const [, us, id] = /^(\d{1,16}) (\S{1,64})$/.exec(Buffer.from(text, 'base64url').toString('latin1')) ?? [];
  if (us === undefined || id === undefined || !isId(id)) throw invalid('querystring.cursor', `must be a ${name}`);
  return { createdAtUs: us, id };
}
