/** Many rows at once, as registrations would have left them; their objects are not there. */
import type { Client } from 'pg';

/** Of the user whose calls are measured, in either database: a large library. */
const ownCount = 1000;
const perOwner = 100;

/** Resolves with the ids of the user's own images. */
export async function plant(client: Client, rows: number, userId: string): Promise<readonly string[]> {
  await client.query(
    `insert into assets (asset_id, owner_id, scope_kind, scope_id, kind, requested_mime, mime, backend, bucket, storage_key,
       etag, byte_size, sha256, md5, width, height, blurhash, screened_at, created_at, ready_at)
     select asset_id, owner_id, 'thread', scope_id, 'image', 'image/jpeg', 'image/jpeg', 'objects', 'objects',
       'u/' || owner_id || '/thread/' || scope_id || '/' || asset_id || '.jpg', '"x"', 123456,
       encode(sha256(asset_id::text::bytea), 'hex'), md5(asset_id::text), 4000, 3000, 'LEHV6nWB2yk8pyo0adR*.7kCMdnj',
       created_at, created_at, created_at
     from (
       select gen_random_uuid() as asset_id,
         case when n <= ${ownCount} then $2::uuid else md5('owner ' || n / ${perOwner})::uuid end as owner_id,
         't' || n / 10 as scope_id,
         now() - n * interval '1 second' as created_at
       from generate_series(1, $1::int) n
     ) as planted`,
    [rows, userId],
  );
  await client.query(
    `insert into media_tasks (task_id, owner_id, media_type, status, metadata)
     select gen_random_uuid(), md5('owner ' || n / ${perOwner})::uuid, 'video', 'completed', '{}'
     from generate_series(1, $1::int) n`,
    [rows / 10],
  );
  await client.query('vacuum analyze assets, media_tasks');
  const own = await client.query<{ asset_id: string }>('select asset_id from assets where owner_id = $1', [userId]);
  return own.rows.map(({ asset_id }) => asset_id);
}
