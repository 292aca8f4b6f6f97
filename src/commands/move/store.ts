/** Rows of any table as text, which every PostgreSQL reads and writes identically, and what a move records in its target. */
import { type RawBuilder, sql } from 'kysely';
import { type Db, json, type Tx, transaction } from '#platform/db/db.ts';

export type Handle = Db<object> | Tx<object>;

export interface Column {
  readonly name: string;
  readonly type: string;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The columns of its primary key, or of a unique index without nulls. */
  readonly key: readonly Column[];
  /** Tables that its rows refer to. */
  readonly parents: readonly string[];
}

/** One row, column by column. */
export type Row = readonly (string | null)[];

/** Tables that are not moved: the applied migrations and the mark of a move. */
const ownTables = ['migrations', 'moving'];

/** Returns parents before their children. */
export async function readTables(db: Handle): Promise<readonly Table[]> {
  const { rows } = await sql<Table>`
    select relname as name,
      (select jsonb_agg(jsonb_build_object('name', attname, 'type', format_type(atttypid, atttypmod)) order by attnum)
        from pg_attribute where attrelid = class.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
      (select jsonb_agg(jsonb_build_object('name', attname, 'type', format_type(atttypid, atttypmod)) order by place)
        from unnest((select indkey::int2[] from pg_index where indrelid = class.oid and indisunique and indpred is null and indexprs is null
          and not exists (select from pg_attribute where attrelid = class.oid and attnum = any(indkey) and not attnotnull)
          order by indisprimary desc limit 1)) with ordinality as part(number, place)
        join pg_attribute on attrelid = class.oid and attnum = number) as key,
      coalesce((select jsonb_agg(distinct parent.relname) from pg_constraint join pg_class parent on parent.oid = confrelid
        where conrelid = class.oid and contype = 'f'), '[]') as parents
    from pg_class class
    where relnamespace = current_schema()::text::regnamespace and relkind = 'r' and not relname = any(${ownTables}::text[])
    order by relname`.execute(db);
  const ordered: Table[] = [];
  const place = (table: Table): void => {
    if (ordered.includes(table)) return;
    for (const parent of rows) if (parent !== table && table.parents.includes(parent.name)) place(parent);
    ordered.push(table);
  };
  for (const table of rows) {
    if (table.key === null) throw new Error(`the table ${table.name} has no key to sort by`);
    place(table);
  }
  return ordered;
}

/** Inside its transaction, every value has one text form regardless of the server's settings. */
export function inPlainText<Result>(db: Db<object>, work: (tx: Tx<object>) => Promise<Result>): Promise<Result> {
  return transaction(
    db,
    async (tx) => {
      await sql`set local timezone = 'UTC'; set local datestyle = 'ISO'; set local intervalstyle = 'postgres';
        set local bytea_output = 'hex'; set local extra_float_digits = 1`.execute(tx);
      return work(tx);
    },
    longestMs,
  );
}

/** The time limit for a statement over a whole table. */
export const longestMs = 3_600_000;

/** Limits memory: a row may contain a message of several megabytes. */
export const rowsAtOnce = 200;

/** Yields all rows, in the order of the table's key. */
export async function* readAll(db: Db<object>, table: Table): AsyncGenerator<readonly Row[]> {
  let after: Row | undefined;
  for (;;) {
    const seen = after;
    const rows = await inPlainText(db, (tx) => readRows(tx, table, seen));
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = keyOf(table, last);
  }
}

async function readRows(tx: Tx<object>, table: Table, after: Row | undefined): Promise<Row[]> {
  const key = sql.join(table.key.map(({ name }) => sql.ref(name)));
  const beyond =
    after === undefined
      ? sql`true`
      : sql`(${key}) > (${sql.join(table.key.map(({ type }, index) => cast(sql`${after[index]}::text`, type)))})`;
  const values = sql.join(table.columns.map(({ name }) => sql`${sql.ref(name)}::text`));
  // Arrays have no column names, so columns with equal names cause no conflict.
  const { rows } = await sql<{ row: Row }>`
    select array[${values}] as row from ${sql.table(table.name)} where ${beyond} order by ${key} limit ${sql.lit(rowsAtOnce)}
  `.execute(tx);
  return rows.map(({ row }) => row);
}

function keyOf(table: Table, row: Row): Row {
  return table.key.map(({ name }) => row[table.columns.findIndex((column) => column.name === name)] ?? null);
}

export async function writeRows(tx: Handle, { name, columns }: Table, rows: readonly Row[]): Promise<void> {
  const place = (index: number) => sql.ref(`c${index}`);
  const lists = columns.map((_, index) => sql`${rows.map((row) => row[index])}::text[]`);
  await sql`
    insert into ${sql.table(name)} (${sql.join(columns.map((column) => sql.ref(column.name)))}) overriding system value
    select ${sql.join(columns.map(({ type }, index) => cast(place(index), type)))}
    from unnest(${sql.join(lists)}) as row(${sql.join(columns.map((_, index) => place(index)))})`.execute(tx);
}

const cast = (value: RawBuilder<unknown>, type: string) => sql`${value}::${sql.raw(type)}`;

/** Also empties the tables that refer to it. */
export async function emptyTable(tx: Handle, name: string): Promise<void> {
  await sql`truncate ${sql.table(name)} cascade`.execute(tx);
}

export async function countRows(db: Handle, name: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(name)}`.execute(db);
  return rows[0]?.count ?? 0;
}

export interface Sequence {
  readonly name: string;
  readonly last: string;
}

/** Returns the current values of identity columns and sequences. */
export async function readSequences(db: Handle): Promise<readonly Sequence[]> {
  const { rows } = await sql<Sequence>`
    select sequencename as name, last_value::text as last from pg_sequences
    where schemaname = current_schema() and last_value is not null`.execute(db);
  return rows;
}

export async function writeSequences(db: Handle, sequences: readonly Sequence[]): Promise<void> {
  for (const { name, last } of sequences)
    await sql`select setval(quote_ident(${name}::text)::regclass, ${last}::bigint)`.execute(db);
}

export async function readMigrations(db: Handle): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`select name from migrations order by name`.execute(db);
  return rows.map(({ name }) => name);
}

// The mark of an unfinished move. While the table exists, only the move itself opens the target (platform/db/postgres.ts).

export interface Move {
  /** The installation that is being moved. */
  readonly id: string;
  /** With its endpoint. Missing if the files stay where they are. */
  readonly bucket?: string;
}

export async function readMove(db: Handle): Promise<Move | undefined> {
  const { rows } = await sql<{ note: Move }>`select note from moving where part = 'source'`.execute(db);
  return rows[0]?.note;
}

export async function beginMove(db: Handle, move: Move): Promise<void> {
  await sql`create table if not exists moving (part text primary key, note jsonb not null)`.execute(db);
  await sql`insert into moving (part, note) values ('source', ${json(move)})
    on conflict (part) do update set note = excluded.note`.execute(db);
}

export async function endMove(tx: Handle): Promise<void> {
  await sql`drop table moving`.execute(tx);
}

// Rows and waiting jobs name the bucket of an object.

export interface Asset {
  readonly assetId: string;
  readonly key: string;
  readonly etag: string;
  readonly size: number;
  /** `null`: version 1.0.0 computed none, so the size decides. */
  readonly sha256: string | null;
}

/** Returns the assets of the bucket after `after`, in the order of their ids. */
export async function readAssets(db: Handle, bucket: string, after?: string): Promise<readonly Asset[]> {
  const { rows } = await sql<Asset>`
    select asset_id as "assetId", storage_key as key, etag, byte_size as size, sha256 from assets
    where backend = 'objects' and bucket = ${bucket} and (${after ?? null}::uuid is null or asset_id > ${after ?? null})
    order by asset_id limit ${sql.lit(rowsAtOnce)}`.execute(db);
  return rows;
}

export async function placeAsset(db: Handle, assetId: string, bucket: string, etag: string): Promise<void> {
  await sql`update assets set bucket = ${bucket}, etag = ${etag} where asset_id = ${assetId}`.execute(db);
}

export async function writeBucketOfJobs(tx: Handle, from: string, to: string): Promise<void> {
  await sql`
    update jobs set payload = jsonb_set(payload, '{bucket}', to_jsonb(${to}::text))
    where payload ->> 'backend' = 'objects' and payload ->> 'bucket' = ${from}`.execute(tx);
}
