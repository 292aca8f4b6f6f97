/**
 * The rows of the embedded database in a backup, as text that every version of PostgreSQL reads: `rows/<table>.jsonl`, with
 * one row in each line, and `rows/schema.json`. The rows are loaded into the schema that they were written from, and a start
 * then applies later migrations.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { Database, Db } from '#platform/db/db.ts';
import { StartFault } from '#platform/lifecycle.ts';
import { align } from '../move/rows.ts';
import * as store from '../move/store.ts';
import type { BackedUpFile } from './copying.ts';

export const rowsFolder = 'rows';
const schemaFile = `${rowsFolder}/schema.json`;
const fileOf = (table: string) => `${rowsFolder}/${table}.jsonl`;

const named = z.object({ name: z.string(), type: z.string() });
const schema = z.object({
  migrations: z.array(z.string()),
  sequences: z.array(z.object({ name: z.string(), last: z.string() })),
  /** Parents before children. */
  tables: z.array(z.object({ name: z.string(), columns: z.array(named) })),
});
type Schema = z.output<typeof schema>;

const row = z.array(z.string().nullable());

/** No other process uses the database, so all reads are of one state. */
export async function writeRowFiles(database: Database, folder: string): Promise<readonly BackedUpFile[]> {
  await mkdir(join(folder, rowsFolder), { mode: 0o700 });
  const db = database.queries<object>();
  const tables = await store.readTables(db);
  const files: BackedUpFile[] = [];
  for (const table of tables) files.push(await writeFileOf(folder, fileOf(table.name), linesOf(db, table)));
  const described: Schema = {
    migrations: [...(await store.readMigrations(db))],
    sequences: [...(await store.readSequences(db))],
    tables: tables.map(({ name, columns }) => ({ name, columns: [...columns] })),
  };
  return [...files, await writeFileOf(folder, schemaFile, [`${JSON.stringify(described)}\n`])];
}

async function* linesOf(db: Db<object>, table: store.Table): AsyncGenerator<string> {
  for await (const rows of store.readAll(db, table)) yield rows.map((each) => `${lineOf(each)}\n`).join('');
}

/** Node's reader of lines splits at these separators, too. */
const lineOf = (each: store.Row) =>
  JSON.stringify(each).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');

async function writeFileOf(
  folder: string,
  path: string,
  lines: AsyncIterable<string> | Iterable<string>,
): Promise<BackedUpFile> {
  const file = await open(join(folder, path), 'wx', 0o600);
  try {
    const digest = createHash('sha256');
    let size = 0;
    for await (const line of lines) {
      const bytes = Buffer.from(line);
      digest.update(bytes);
      size += bytes.length;
      await file.writeFile(bytes);
    }
    await file.sync();
    return { path, size, sha256: digest.digest('hex'), modifiedAtMs: Date.now() };
  } finally {
    await file.close();
  }
}

/** The names of the migrations that the rows need. */
export async function readNeededMigrations(folder: string): Promise<ReadonlySet<string>> {
  return new Set((await readSchema(folder)).migrations);
}

async function readSchema(folder: string): Promise<Schema> {
  return schema.parse(JSON.parse(await readFile(join(folder, schemaFile), 'utf8')));
}

/** Loads the rows into a database that has exactly the needed migrations. */
export async function loadRowFiles(database: Database, folder: string): Promise<void> {
  const { tables, sequences } = await readSchema(folder);
  const db = database.queries<object>();
  const targets = new Map((await store.readTables(db)).map((table) => [table.name, table]));
  const plans = tables.map((source) => {
    const target = targets.get(source.name);
    if (target === undefined) throw new StartFault(`The backup: the table ${source.name} is unknown.`);
    return align(source, target, 'The backup');
  });
  // Migrations insert rows, too.
  for (const { table } of plans) await store.inPlainText(db, (tx) => store.emptyTable(tx, table.name));
  for (const { table, convert } of plans)
    for await (const rows of rowsIn(join(folder, fileOf(table.name))))
      await store.inPlainText(db, (tx) => store.writeRows(tx, table, rows.map(convert)));
  await store.writeSequences(db, sequences);
}

async function* rowsIn(path: string): AsyncGenerator<readonly store.Row[]> {
  let rows: store.Row[] = [];
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    rows.push(row.parse(JSON.parse(line)));
    if (rows.length < store.rowsAtOnce) continue;
    yield rows;
    rows = [];
  }
  if (rows.length > 0) yield rows;
}
