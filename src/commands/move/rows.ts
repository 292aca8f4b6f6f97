/** Moves the rows of all tables, each table in the order of its key. Continues after the last row of an interrupted run. */
import { createHash } from 'node:crypto';
import { toBytes } from '#memory/memories/memorystore.ts';
import type { Database } from '#platform/db/db.ts';
import { StartFault } from '#platform/lifecycle.ts';
import type { Progress } from '../progress.ts';
import * as store from './store.ts';

interface Place {
  readonly database: Database;
  readonly table: store.Table;
}

interface TableMove {
  readonly source: Place;
  readonly target: Place;
  /** Converts the source's text to the target's. */
  readonly convert: (row: store.Row) => store.Row;
}

/** Limits memory: a row may contain a message of several megabytes. */
export const rowsAtOnce = 200;

/** Returns the number of rows. Throws StartFault if the copy differs from the source. */
export async function moveRows(source: Database, target: Database, progress: Progress): Promise<number> {
  const targetTables = new Map((await store.readTables(target.queries())).map((table) => [table.name, table]));
  let rows = 0;
  for (const table of await store.readTables(source.queries())) {
    const move = planOf(
      { database: source, table },
      { database: target, table: targetTables.get(table.name) ?? table },
    );
    await copyOn(move, progress);
    let count = await compare(move);
    if (count === undefined) {
      // The source was in use after a part of it was moved, so this table starts from the beginning.
      await beginTable(move.target);
      await copyOn(move, progress);
      count = await compare(move);
    }
    if (count === undefined) throw new StartFault(`The rows of ${table.name} differ from the source.`);
    rows += count;
  }
  await store.writeSequences(target.queries(), await store.readSequences(source.queries()));
  return rows;
}

function planOf(source: Place, target: Place): TableMove {
  const { table, convert } = align(source.table, target.table, 'DATABASE_URL');
  return { source, target: { ...target, table }, convert };
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

interface Note {
  /** The key of the last moved row. `null`: none yet. */
  readonly after: store.Row | null;
}

const noteOf = (table: store.Table) => `table ${table.name}`;

async function copyOn({ source, target, convert }: TableMove, progress: Progress): Promise<void> {
  const note = await store.readNote<Note>(target.database.queries(), noteOf(target.table));
  if (note === undefined) await beginTable(target);
  let after = note?.after ?? undefined;
  for (;;) {
    const seen = after;
    const rows = await store.inPlainText(source.database.queries(), (tx) =>
      store.readRows(tx, source.table, seen, rowsAtOnce),
    );
    const last = rows.at(-1);
    if (last === undefined) return;
    const next = store.keyOf(source.table, last);
    await store.inPlainText(target.database.queries(), async (tx) => {
      await store.writeRows(tx, target.table, rows.map(convert));
      await store.writeNote(tx, noteOf(target.table), { after: next } satisfies Note);
    });
    progress.add(rows.length);
    after = next;
  }
}

/** Removes rows that migrations inserted. */
async function beginTable({ database, table }: Place): Promise<void> {
  await store.inPlainText(database.queries(), async (tx) => {
    await store.emptyTable(tx, table.name);
    await store.writeNote(tx, noteOf(table), { after: null } satisfies Note);
  });
}

/** Returns the number of rows in both databases, or `undefined` if they differ. */
async function compare({ source, target, convert }: TableMove): Promise<number | undefined> {
  const [left, right] = [await digestOf(source, convert), await digestOf(target, (row) => row)];
  return left.count === right.count && left.sum === right.sum ? left.count : undefined;
}

/** Returns the sum of the rows' digests, because servers with different collations return rows in different orders. */
async function digestOf({ database, table }: Place, convert: (row: store.Row) => store.Row) {
  let [count, sum] = [0, 0n];
  let after: store.Row | undefined;
  for (;;) {
    const seen = after;
    const rows = await store.inPlainText(database.queries(), (tx) => store.readRows(tx, table, seen, rowsAtOnce));
    for (const row of rows) {
      const digest = createHash('sha256')
        .update(JSON.stringify(convert(row)))
        .digest('hex');
      sum = BigInt.asUintN(256, sum + BigInt(`0x${digest}`));
    }
    count += rows.length;
    const last = rows.at(-1);
    if (last === undefined) return { count, sum };
    after = store.keyOf(table, last);
  }
}
