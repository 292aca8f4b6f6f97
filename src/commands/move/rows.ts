/** Moves the rows of all tables, each table in the order of its key. Tables that an earlier run has moved are only compared. */
import { createHash } from 'node:crypto';
import { toBytes } from '#memory/memories/memorystore.ts';
import type { Db } from '#platform/db/db.ts';
import { StartFault } from '#platform/lifecycle.ts';
import type { Progress } from '../progress.ts';
import * as store from './store.ts';

interface Place {
  readonly db: Db<object>;
  readonly table: store.Table;
}

interface TableMove {
  readonly source: Place;
  readonly target: Place;
  /** Converts the source's text to the target's. */
  readonly convert: (row: store.Row) => store.Row;
}

/** Returns the number of rows. Throws StartFault if the copy differs from the source. */
export async function moveRows(source: Db<object>, target: Db<object>, progress: Progress): Promise<number> {
  const targetTables = new Map((await store.readTables(target)).map((table) => [table.name, table]));
  let rows = 0;
  for (const table of await store.readTables(source)) {
    const aligned = align(table, targetTables.get(table.name) ?? table, 'DATABASE_URL');
    const move = {
      source: { db: source, table },
      target: { db: target, table: aligned.table },
      convert: aligned.convert,
    };
    const moved = await compare(move);
    if (moved === undefined) await copy(move, progress);
    else progress.add(moved);
    const count = moved ?? (await compare(move));
    if (count === undefined) throw new StartFault(`The rows of ${table.name} differ from the source.`);
    rows += count;
  }
  await store.writeSequences(target, await store.readSequences(source));
  return rows;
}

/** Returns the target's table with the columns in the order of the source, which a row of the source is converted to. */
export function align({ name, columns }: Pick<store.Table, 'name' | 'columns'>, target: store.Table, where: string) {
  const types = new Map(target.columns.map((column) => [column.name, column.type]));
  if (columns.length !== types.size || columns.some((column) => !types.has(column.name)))
    throw new StartFault(`${where}: the table ${name} has different columns in the target.`);
  const aligned = columns.map((column) => ({ name: column.name, type: types.get(column.name) ?? column.type }));
  const unpacked = new Set(
    columns.flatMap(({ type }, at) => (isVector(type) && aligned[at]?.type === 'bytea' ? [at] : [])),
  );
  const convert = (row: store.Row): store.Row =>
    row.map((value, at) => (unpacked.has(at) && value !== null ? bytesOf(value) : value));
  return { table: { ...target, columns: aligned }, convert };
}

/** The type is from pgvector, which the target may not have (docs/memory.md). */
const isVector = (type: string) => /(^|\.)vector(\(\d+\))?$/.test(type);
const bytesOf = (vector: string) => `\\x${toBytes(Float32Array.from(JSON.parse(vector))).toString('hex')}`;

/** Replaces the rows of the target: a migration, or a run that was interrupted, may have inserted some. */
async function copy({ source, target, convert }: TableMove, progress: Progress): Promise<void> {
  await store.emptyTable(target.db, target.table.name);
  for await (const rows of store.readAll(source.db, source.table)) {
    await store.inPlainText(target.db, (tx) => store.writeRows(tx, target.table, rows.map(convert)));
    progress.add(rows.length);
  }
}

/** Returns the number of rows in both databases, or `undefined` if they differ. */
async function compare({ source, target, convert }: TableMove): Promise<number | undefined> {
  const count = await store.countRows(source.db, source.table.name);
  if (count !== (await store.countRows(target.db, target.table.name))) return undefined;
  return (await digestOf(source, convert)) === (await digestOf(target, (row) => row)) ? count : undefined;
}

/** Returns the sum of the rows' digests, because servers with different collations return rows in different orders. */
async function digestOf({ db, table }: Place, convert: (row: store.Row) => store.Row): Promise<bigint> {
  let sum = 0n;
  for await (const rows of store.readAll(db, table))
    for (const row of rows) {
      const digest = createHash('sha256')
        .update(JSON.stringify(convert(row)))
        .digest('hex');
      sum = BigInt.asUintN(256, sum + BigInt(`0x${digest}`));
    }
  return sum;
}
