/**
 * Objects that moved to another disk or to S3. A row contains the ETag of its bytes, which each store computes
 * differently. The moves are recorded first, in a table that exists only during a move. Then all rows are updated at
 * once.
 */
import { sql } from 'kysely';
import { type Db, inCamelCase, type Tx } from '#platform/db/db.ts';

export interface Relocation {
  readonly backend: 'objects' | 'legacy';
  readonly bucket: string;
  readonly key: string;
  readonly etag: string;
  readonly size: number | null;
  readonly sha256: string | null;
  readonly newBucket: string;
  readonly newEtag: string;
}

interface RelocatingTables {
  relocated_objects: {
    backend: Relocation['backend'];
    bucket: string;
    key: string;
    etag: string;
    byte_size: number | null;
    sha256: string | null;
    new_bucket: string;
    new_etag: string;
  };
}

type Handle = Db<object> | Tx<object>;
const tablesOf = (db: Handle) => db as unknown as Db<RelocatingTables>;

export async function createRelocations(db: Handle): Promise<void> {
  await sql`
    create table if not exists relocated_objects (
      backend text not null, bucket text not null, key text not null, etag text not null,
      new_bucket text not null, new_etag text not null,
      byte_size bigint, sha256 text, primary key (backend, bucket, key)
    )`.execute(db);
}

/** Replaces the record of the same object. */
export async function noteRelocations(db: Handle, relocations: readonly Relocation[]): Promise<void> {
  if (relocations.length === 0) return;
  await tablesOf(db)
    .insertInto('relocated_objects')
    .values(
      relocations.map(({ size, newBucket, newEtag, ...same }) => ({
        ...same,
        byte_size: size,
        new_bucket: newBucket,
        new_etag: newEtag,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['backend', 'bucket', 'key']).doUpdateSet((eb) => ({
        etag: eb.ref('excluded.etag'),
        byte_size: eb.ref('excluded.byte_size'),
        sha256: eb.ref('excluded.sha256'),
        new_bucket: eb.ref('excluded.new_bucket'),
        new_etag: eb.ref('excluded.new_etag'),
      })),
    )
    .execute();
}

/** Of objects of the store, by key. */
export async function findRelocations(db: Handle, keys: readonly string[]): Promise<ReadonlyMap<string, Relocation>> {
  const rows = await tablesOf(db)
    .selectFrom('relocated_objects')
    .select(['backend', 'bucket', 'key', 'etag', 'byte_size as size', ...inCamelCase('sha256 new_bucket new_etag')])
    .where('backend', '=', 'objects')
    .where(sql<boolean>`key = any(${keys}::text[])`)
    .execute();
  return new Map(rows.map((row) => [row.key, row]));
}

export async function forgetRelocation(db: Handle, key: string): Promise<void> {
  await tablesOf(db).deleteFrom('relocated_objects').where('backend', '=', 'objects').where('key', '=', key).execute();
}

/**
 * Updates a row if its object had the ETag of the row, or has its content: in a copy of a data folder all ETags differ.
 * If a row has no digest, the size decides. `from` and `to` name the store's bucket, which rows and waiting jobs
 * contain too.
 */
export async function relocateAssets(tx: Handle, from: string, to: string): Promise<void> {
  await sql`
    update assets set etag = relocated.new_etag from relocated_objects relocated
    where (assets.backend, assets.bucket, assets.storage_key)
      = (relocated.backend, relocated.bucket, relocated.key)
      and (assets.etag = relocated.etag or (assets.ready_at is not null
        and assets.byte_size = relocated.byte_size
        and coalesce(assets.sha256, relocated.sha256) = relocated.sha256))`.execute(tx);
  await sql`drop table relocated_objects`.execute(tx);
  if (from === to) return;
  await sql`update assets set bucket = ${to} where backend = 'objects' and bucket = ${from}`.execute(tx);
  await sql`
    update jobs set payload = jsonb_set(payload, '{bucket}', to_jsonb(${to}::text))
    where payload ->> 'backend' = 'objects' and payload ->> 'bucket' = ${from}`.execute(tx);
}
