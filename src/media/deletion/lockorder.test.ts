/** Concurrent deletions lock rows in one order, so that no two wait for each other. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { type Database, type Db, transaction } from '#platform/db/db.ts';
import type { JobTables } from '#platform/jobs/jobs.ts';
import { withdrawJobs } from '#platform/jobs/rows.ts';
import { databaseEngines } from '../../../test/database.fixture.ts';
import { expectOrderedLocks } from '../../../test/lockorder.fixture.ts';
import { dropAssets } from '../assets/assetstore.ts';
import { forgetOwner } from '../people/peoplestore.ts';
import { refuseUnready } from '../sweeping/sweepstore.ts';
import type { MediaTables } from '../tables.ts';
import { dropWatermarkRecords, writeWatermarkRecord } from '../watermarks/watermarkstore.ts';

const postgres = databaseEngines.find(({ name }) => name === 'postgres');
const bucket = 'legacy';

describe.skipIf(postgres?.missing ?? true)('locks rows in one order', () => {
  let database: Database;
  let db: Db<MediaTables>;
  beforeAll(async () => {
    database = (await postgres?.open(migrations)) as Database;
    db = database.queries();
  });
  afterAll(() => database.close());

  /** The last path first, which is also the order of the rows in the table. */
  const newPaths = () => {
    const folder = randomUUID();
    return [`${folder}/2.bin`, `${folder}/1.bin`] as const;
  };

  it('the erasure of a person, in the claims of earlier versions', async () => {
    const paths = newPaths();
    for (const path of paths)
      await sql`insert into legacy_removals (bucket, path, holder) values (${bucket}, ${path}, ${randomUUID()})`.execute(
        db,
      );
    const rows = { first: sql<boolean>`path = ${paths[1]}`, last: sql<boolean>`path = ${paths[0]}` };
    await expectOrderedLocks(database, 'legacy_removals', rows, () => forgetOwner(db, paths[0].slice(0, 36)));
  });

  it.each([
    ['deletions of watermark records', (keys: readonly string[]) => dropWatermarkRecords(db, bucket, keys)],
    ['the erasure of a person', ([key = '']: readonly string[]) => forgetOwner(db, key.slice(0, 36))],
  ])('%s', async (_name, statement) => {
    const keys = newPaths();
    for (const key of keys) await writeWatermarkRecord(db, bucket, key, { etag: 'a', sourceEtag: 'b' });
    const rows = { first: sql<boolean>`storage_key = ${keys[1]}`, last: sql<boolean>`storage_key = ${keys[0]}` };
    await expectOrderedLocks(database, 'legacy_watermarks', rows, () => statement(keys));
  });

  it.each([
    ['deletions of assets', dropAssets],
    ['refusals of assets that are not ready', refuseUnready],
  ])('%s', async (_name, statement) => {
    const [first = '', last = ''] = [randomUUID(), randomUUID()].toSorted();
    const { rows: seen } = await sql<{ assetId: string; revision: string }>`
      insert into assets (asset_id, owner_id, scope_kind, scope_id, kind, requested_mime, mime, backend, bucket, storage_key, etag, byte_size)
      select id, ${randomUUID()}::uuid, 'thread', '1', 'image', 'image/png', 'image/png', 'objects', 'originals', id::text, 'e', 1
      from unnest(${[last, first]}::uuid[]) with ordinality as planted(id, place) order by place
      returning asset_id as "assetId", xmin::text as revision`.execute(db);
    const rows = { first: sql<boolean>`asset_id = ${first}`, last: sql<boolean>`asset_id = ${last}` };
    // A lock is no change of the row.
    await expectOrderedLocks(database, 'assets', rows, () => statement(db, seen));
  });

  it('withdrawals of jobs', async () => {
    const jobs = database.queries<JobTables>();
    const [first = '', last = ''] = [randomUUID(), randomUUID()].toSorted();
    for (const id of [last, first])
      await sql`
        insert into jobs (job_id, queue, payload, unique_key, lane) values (${id}, 'test/withdrawn', '{}', ${id}, '')`.execute(
        jobs,
      );
    const rows = { first: sql<boolean>`job_id = ${first}`, last: sql<boolean>`job_id = ${last}` };
    await expectOrderedLocks(database, 'jobs', rows, () =>
      transaction(jobs, (tx) => withdrawJobs(tx, 'test/withdrawn', [last, first])),
    );
  });
});
