/** `npm run move` of a used installation to PostgreSQL and S3: killed at many points, repeated, verified, and with bad input. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { move } from '#commands/move.ts';
import { lockFolder } from '#platform/db/lock.ts';
import { openDatabase } from '#platform/db/open.ts';
import { createLog } from '#platform/log.ts';
import { faultOf, inProcess } from '../acceptance/inprocess.fixture.ts';
import { newPlace, type Place } from '../acceptance/running.fixture.ts';
import { createPostgresDatabase, databaseEngines } from '../database.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import { listed } from '../platform/objects/objects.fixture.ts';
import { openTestBucket, skipWithoutS3, testServer } from '../platform/objects/s3.fixture.ts';
import { programEnv, programPath } from '../programs.fixture.ts';
import { limitMs, snapshotOf, type Traces, use, whileRunning } from './installation.fixture.ts';

const log = createLog({ level: 'silent' });
const missing = databaseEngines.some((engine) => engine.name === 'postgres' && engine.missing) || skipWithoutS3;

type Bucket = Awaited<ReturnType<typeof openTestBucket>>;
interface Target {
  readonly url: string;
  readonly bucket: Bucket;
  readonly env: Readonly<Record<string, string>>;
}

let place: Place;
const closers: (() => Promise<unknown>)[] = [];
const endings: (() => Promise<unknown>)[] = [];

async function newTarget(ends: (() => Promise<unknown>)[]): Promise<Target> {
  const [database, bucket, variants] = await Promise.all([
    createPostgresDatabase(),
    openTestBucket(),
    openTestBucket({ isPublic: true }),
  ]);
  ends.push(database.drop, bucket.close, variants.close);
  return {
    url: database.url,
    bucket,
    env: {
      ...place.env,
      DATABASE_URL: database.url,
      S3_ENDPOINT: testServer.endpoint,
      S3_REGION: testServer.region,
      S3_BUCKET: bucket.bucket,
      S3_PUBLIC_BUCKET: variants.bucket,
      S3_ACCESS_KEY_ID: testServer.accessKeyId,
      S3_SECRET_ACCESS_KEY: testServer.secretAccessKey,
    },
  };
}

async function onServer<Row extends pg.QueryResultRow>(url: string, statement: string): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(statement)).rows;
  } finally {
    await client.end();
  }
}

/** Each change of a row of an asset takes a second longer than the one before. */
const slowDown = `create sequence pauses;
  create function pause() returns trigger language plpgsql as $$ begin perform pg_sleep(nextval('pauses')); return new; end $$;
  create trigger pause before update of bucket on assets for each row execute function pause()`;
const speedUp = 'drop function pause cascade; drop sequence pauses';

/** Kills the command when `isDue` resolves to `true`. */
async function moveKilledWhen({ env }: Target, isDue: () => Promise<boolean>): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, [programPath, 'move'], {
    env: { ...programEnv, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.on('exit', (_, signal) => resolve(signal)));
  while (child.exitCode === null && !(await isDue())) await sleep(5);
  child.kill('SIGKILL');
  return ended;
}

async function atSource(...statements: readonly string[]): Promise<void> {
  const database = await openDatabase({ url: 'embedded', dataDir: place.dataDir, migrations: [], log });
  for (const statement of statements) await sql.raw(statement).execute(database.queries());
  await database.close();
}

describe.skipIf(missing)('npm run move', { timeout: 5 * limitMs }, () => {
  let traces: Traces;
  let before: Awaited<ReturnType<typeof snapshotOf>>;
  const objectFile = (name: string) => join(place.dataDir, 'objects/moved', name);

  beforeAll(async () => {
    place = await newPlace();
    [traces, before] = await whileRunning(place, {}, async () => {
      const found = await use(place);
      return [found, await snapshotOf(place, found)] as const;
    });
    const assets = (before.assets as { readonly scopeKind: string }[]).map((asset) =>
      asset.scopeKind === 'feed' ? { ...asset, sha256: null } : asset,
    );
    before = { ...before, assets };
    // More objects than are moved concurrently, and more rows than one batch, with all column types.
    await mkdir(join(place.dataDir, 'objects/moved'), { recursive: true });
    for (let at = 0; at < 60; at += 1) await writeFile(objectFile(`${at}.bin`), Buffer.alloc(at * 5000, at));
    await atSource(
      `insert into feeds (owner_id, media_type, flag, created_at)
        select gen_random_uuid(), 'a ''"\\ text', array['x,y', null, '{"}'], '2026-01-01 00:00:00.123456+02'
        from generate_series(1, 1200)`,
      // Version 1.0.0 computed no digests of videos.
      `update assets set sha256 = null where scope_kind = 'feed'`,
      `insert into agent_messages (thread_id, id, resource_id, role, parts, metadata, seq)
        values ('t', 'm', gen_random_uuid(), 'user', '[{"text":"\\u00e9\\n"}]', '{"n":1.50}', 1)`,
    );
  }, 2 * limitMs);
  afterEach(async () => {
    for (const end of endings.splice(0)) await end();
  });
  afterAll(async () => {
    for (const close of closers) await close();
    await place.remove();
  });

  it.runIf(isNightly)('reports obstacles in one line, and does not change the target', async () => {
    const target = await newTarget(endings);
    const { env, url, bucket } = target;
    const withoutDatabase = Object.fromEntries(Object.entries(env).filter(([name]) => name !== 'DATABASE_URL'));
    expect(await faultOf(move, ['--fast'], env)).toContain('--fast');
    expect(await faultOf(move, [], withoutDatabase)).toContain('DATABASE_URL: set the target');
    const nowhere = { ...env, ATELIER_DATA_DIR: join(place.dataDir, 'nowhere') };
    expect(await faultOf(move, [], nowhere)).toContain('nothing to move');
    expect(await faultOf(move, [], { ...env, DATABASE_URL: 'postgres://x@127.0.0.1:1/x' })).toContain(
      'cannot use the database',
    );
    expect(await faultOf(move, [], { ...env, S3_SECRET_ACCESS_KEY: 'wrong' })).toMatch(/S3_(PUBLIC_)?BUCKET: /);
    expect(await faultOf(move, [], { ...env, S3_ENDPOINT: 'http://127.0.0.1:1' })).toContain('run the command again');
    const lock = await lockFolder(place.dataDir);
    try {
      expect(await faultOf(move, [], env)).toMatch(/ATELIER_DATA_DIR .* is in use by process \d+/);
    } finally {
      lock.release();
    }
    expect(await onServer(url, `select relname from pg_class where relname = 'migrations'`)).toEqual([]);

    const role = `mover_${randomUUID().slice(0, 8)}`;
    await onServer(url, `create role ${role} login; revoke create on schema public from public`);
    endings.unshift(() => onServer(url, `drop role ${role}`));
    const poor = new URL(url);
    poor.username = role;
    expect(await faultOf(move, [], { ...env, DATABASE_URL: poor.href })).toMatch(/DATABASE_URL: .*permission denied/);

    await onServer(url, 'create table invoices (id integer)');
    expect(await faultOf(move, [], env)).toContain('tables of another program');
    expect(await onServer(url, `select relname from pg_class where relname = 'migrations'`)).toEqual([]);
    await onServer(url, 'drop table invoices');

    await bucket.objects.put('somebody/elses.txt', Buffer.from('x'), { contentType: 'text/plain' });
    expect(await faultOf(move, [], env)).toContain('already contains objects (somebody/elses.txt)');
    await bucket.objects.remove(['somebody/elses.txt']);

    const other = await openDatabase({ url, dataDir: '', migrations, log });
    await sql`insert into feeds default values`.execute(other.queries());
    await other.close();
    expect(await faultOf(move, [], env)).toContain('already contains rows (feeds)');
    await onServer(url, `truncate feeds; insert into migrations (name, digest) values ('media/999_later', '')`);
    expect(await faultOf(move, [], env)).toContain('media/999_later');
    await onServer(
      url,
      `create table moving (part text primary key, note jsonb);
      delete from migrations where name = 'media/999_later';
      insert into moving values ('source', '{"id":"another"}')`,
    );
    expect(await faultOf(move, [], env)).toContain('another installation is being moved');
    expect(await listed(bucket.objects, '')).toEqual([]);
  });

  it('moves everything after it was killed at many points and repeated; all responses are the same', async () => {
    const target = await newTarget(closers);
    const { url, bucket } = target;
    const hasObjects = (count: number) => async () => (await listed(bucket.objects, '')).length >= count;
    // The tables do not exist at first.
    const hasRows = (rows: string) => async () =>
      (await onServer(url, `select from ${rows} limit 1`).catch(() => [])).length > 0;
    const killWhen = async (isDue: () => Promise<boolean>) =>
      expect(await moveKilledWhen(target, isDue)).toBe('SIGKILL');
    for (const count of isNightly ? [3, 30] : [30]) await killWhen(hasObjects(count));
    // At another server, a bucket of this name is not that of the move, and its objects stay.
    const elsewhere = { ...target.env, S3_ENDPOINT: testServer.endpoint.replace('127.0.0.1', 'localhost') };
    await bucket.objects.put('somebody/elses.txt', Buffer.from('x'), { contentType: 'text/plain' });
    expect(await faultOf(move, [], elsewhere)).toContain('already contains objects');
    await bucket.objects.remove(['somebody/elses.txt']);
    // The source was used in between: a moved object has changed, and another is gone.
    await rm(objectFile('0.bin'));
    await writeFile(objectFile('1.bin'), 'other bytes');
    // The files were copied, so their ETags differ from those of the rows.
    await rename(join(place.dataDir, 'objects'), join(place.dataDir, 'before'));
    await cp(join(place.dataDir, 'before'), join(place.dataDir, 'objects'), { recursive: true });
    if (isNightly) {
      await killWhen(hasRows('(select from feeds offset 400) as later'));
      await onServer(url, slowDown);
      await killWhen(hasRows(`assets where bucket = '${bucket.bucket}'`));
      await onServer(url, speedUp);
    }
    await expect(openDatabase({ url, dataDir: '', migrations: [], log })).rejects.toThrow('npm run move');
    await atSource(`update agent_messages set metadata = '{"n":2}' where id = 'm'`, 'insert into feeds default values');
    expect(await inProcess(move, [], target.env)).toBe(0);

    const names = (await listed(bucket.objects, 'moved/')).map(({ key }) => key);
    expect(names).toHaveLength(59);
    const body = await bucket.objects.get('moved/1.bin');
    expect(Buffer.concat((await body?.stream.toArray()) ?? []).toString()).toBe('other bytes');
    const query = `select (select count(*) from feeds) as feeds,
      (select count(*) from feeds where flag = array['x,y', null, '{"}'] and media_type = 'a ''"\\ text'
        and created_at = '2026-01-01 00:00:00.123456+02') as whole,
      (select metadata::text from agent_messages where id = 'm') as metadata,
      (select count(*) from memories where seq > (select last_value from memories_seq_seq)) as beyond`;
    expect(await onServer(url, query)).toEqual([{ feeds: '1201', whole: '1200', metadata: '{"n": 2}', beyond: '0' }]);

    const after = await whileRunning(place, target.env, () => snapshotOf(place, traces));
    expect(after).toEqual(before);
    // The move is complete, and a repeated run reports that.
    expect(await inProcess(move, [], target.env)).toBe(0);
    expect(await onServer(url, `select 1 from pg_class where relname = 'moving'`)).toEqual([]);
  });
});
