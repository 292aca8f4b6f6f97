/** A person with traces everywhere is exported and erased: with objects in files, and on an S3 server. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ErasureReport, PersonDetails } from '#accounts/people/api.ts';
import { systemClock } from '#platform/clock.ts';
import type { Database } from '#platform/db/db.ts';
import { openPostgres } from '#platform/db/postgres.ts';
import { createLog } from '#platform/log.ts';
import { openS3Store } from '#platform/objects/s3/s3.ts';
import { type Desk, openDesk } from '../../../test/console/desk.fixture.ts';
import { type ConsoleRig, startConsole } from '../../../test/console/rig.fixture.ts';
import { findTraces, leaveMultipart, leaveTraces, type Place } from '../../../test/console/traces.fixture.ts';
import { createPostgresDatabase } from '../../../test/database.fixture.ts';
import { dropBucket, skipWithoutS3, testServer } from '../../../test/platform/objects/s3.fixture.ts';
import { openTestRedis, redisUrl, skipWithoutRedis } from '../../../test/redis.fixture.ts';

interface Part {
  readonly isThere: boolean;
  readonly value?: Record<string, unknown>;
}
type View = { readonly record: PersonDetails } & Readonly<Record<string, Part>>;

const [bucket, publicBucket] = [`test-${randomUUID()}`, `test-${randomUUID()}`];
interface Store {
  readonly objects: string;
  readonly buckets: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
  readonly isMissing: boolean;
}
const stores: readonly Store[] = [
  { objects: 'files', buckets: [], settings: {}, isMissing: skipWithoutRedis },
  {
    objects: 'an S3 server',
    buckets: [bucket, publicBucket],
    settings: {
      S3_ENDPOINT: testServer.endpoint,
      S3_REGION: testServer.region,
      S3_BUCKET: bucket,
      S3_PUBLIC_BUCKET: publicBucket,
      S3_ACCESS_KEY_ID: testServer.accessKeyId,
      S3_SECRET_ACCESS_KEY: testServer.secretAccessKey,
    },
    isMissing: skipWithoutRedis || skipWithoutS3,
  },
];

describe.each(stores)('a person with objects in $objects', ({ buckets, settings, isMissing }) => {
  let rig: ConsoleRig;
  let desk: Desk;
  let database: Database;
  let place: Place;
  const cleanUps: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    if (isMissing) return;
    const created = await createPostgresDatabase();
    cleanUps.unshift(created.drop);
    const store = openS3Store({ ...testServer, clock: systemClock });
    for (const name of buckets) {
      await store.create(name, { isPublic: name === publicBucket });
      cleanUps.unshift(() => dropBucket(name));
    }
    await store.close();
    const prefix = `test:${randomUUID()}:`;
    const redis = await openTestRedis({ prefix });
    rig = await startConsole({
      DATABASE_URL: created.url,
      REDIS_URL: redisUrl,
      REDIS_PREFIX: prefix.slice(0, -1),
      // Nothing listens there, so events wait to be delivered.
      WEBHOOK_URL: 'http://127.0.0.1:9/events',
      WEBHOOK_SECRET: `whsec_${Buffer.from(randomUUID()).toString('base64')}`,
      ...settings,
    });
    const log = createLog({ level: 'silent' });
    database = await openPostgres({ url: created.url, poolSize: 2, migrations: [], log });
    cleanUps.unshift(
      () => rig.close(),
      () => database.close(),
      () => redis.close(),
    );
    desk = await openDesk(rig);
    place = { rig, desk, database, redis: { connection: redis, prefix }, buckets };
  });
  afterAll(async () => {
    for (const cleanUp of cleanUps) await cleanUp();
  });

  it.skipIf(isMissing)(
    'is erased from every service without a trace',
    async () => {
      const person = await desk.person();
      const traces = await leaveTraces(place, person);
      const { threadId } = traces;
      const [originals] = place.buckets;
      if (originals !== undefined) await leaveMultipart(originals, `u/${person.id}/${randomUUID()}`);
      const shown = (await desk.send<View>('GET', `/api/people/${person.id}`)).body;
      expect(shown.threads?.value).toMatchObject({ threads: [{ threadId }] });
      expect(shown.assets?.value?.assets).not.toEqual([]);
      expect(shown.memories?.value?.memories).not.toEqual([]);
      expect(shown.mails?.value).toMatchObject({ mails: [{ subject: 'Hello' }] });
      // A blocked person is erased like others, with the reason.
      expect((await desk.send('POST', `/api/people/${person.id}/block`, { reason: person.id })).status).toBe(200);
      expect(await findTraces(place, person, traces)).toContainEqual(expect.stringContaining('account_blocks'));

      const exported = await desk.send<Record<string, unknown>>('POST', `/api/people/${person.id}/export`);
      expect(exported.headers.get('content-disposition')).toBe(`attachment; filename="${person.id}.json"`);
      expect(exported.body).toMatchObject({
        record: { person: { email: person.email } },
        threads: [{ threadId, messages: [{ role: 'user' }, { role: 'assistant' }] }],
        assets: expect.arrayContaining([expect.objectContaining({ url: expect.stringContaining('http') })]),
        generations: expect.arrayContaining([expect.objectContaining({ kind: 'video' })]),
        shares: [expect.anything()],
        reports: [{ assetId: traces.reportedId }],
        memory: { memories: expect.any(Array) },
        mails: { mails: [{ subject: 'Hello' }] },
      });

      const erase = async () =>
        (await desk.send<ErasureReport>('POST', `/api/people/${person.id}/erasure`, { confirm: true })).body;
      expect((await desk.send('POST', `/api/people/${person.id}/erasure`, {})).status).toBe(400);
      const report = await erase();
      expect(report.steps.map(({ service, status, message }) => [service, status, message])).toEqual(
        ['agent', 'media', 'memory', 'notify', 'auth'].map((service) => [service, 'done', null]),
      );
      expect(report.provider).toBe('removed');
      const of = (service: string) => report.steps.find((step) => step.service === service)?.removed;
      expect(of('agent')).toMatchObject({ threads: 1 });
      expect(of('notify')).toMatchObject({ mails: 1, files: 1 });
      expect(of('auth')).toMatchObject({ profiles: 1, referrals: 1 });
      expect((await desk.send('GET', `/api/people/${person.id}`)).status).toBe(404);
      // What a late process may have written is cleared by a job, which is due later.
      await sql`update jobs set run_at = now() where status = 'waiting'`.execute(database.queries());
      const finish = async () => (await erase()).pendingJobs;
      // Only the event of the erasure is left, because its receiver does not listen.
      await expect.poll(finish, { timeout: 30_000 }).toBe(1);
      expect((await erase()).isComplete).toBe(true);
      expect((await findTraces(place, person, traces)).toSorted()).toEqual([
        expect.stringMatching(/^account_deletions: /),
        expect.stringMatching(/^jobs: .*account\.deleted/),
      ]);
      const { body } = await desk.send<{ actions: { action: string; target: string }[] }>('GET', '/api/actions');
      expect(body.actions.find(({ action }) => action === 'POST /people/:userId/erasure')?.target).toMatch(/^sha256 /);
    },
    120_000,
  );
});
