/** A user deletes their account. The program is killed at each step of the deletion, which goes on and happens once. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addressesOf, readConfig, type ServiceName } from '#app/config.ts';
import { migrations } from '#app/migrations.ts';
import { type Database, transaction } from '#platform/db/db.ts';
import { openPostgres } from '#platform/db/postgres.ts';
import { createLog } from '#platform/log.ts';
import type { Redis } from '#platform/redis/redis.ts';
import { type Desk, openDesk, type Person } from '../console/desk.fixture.ts';
import { findTraces, leaveTraces, type Traces } from '../console/traces.fixture.ts';
import { createMigratedDatabase, databaseEngines } from '../database.fixture.ts';
import { everyNth } from '../lane.fixture.ts';
import { openTestRedis, redisUrl, skipWithoutRedis } from '../redis.fixture.ts';
import { startReceiver } from '../webhooks/receiver.fixture.ts';
import { newPlace, type Place, type Program, run } from './running.fixture.ts';

/** Programs start slowly on a busy machine. */
const limitMs = 60_000;
const services: readonly ServiceName[] = ['auth', 'idp', 'agent', 'media', 'memory', 'notify', 'edge', 'image'];
const engine = databaseEngines.find(({ name }) => name === 'postgres');

interface Moment {
  /** The table whose change the program waits for when it is killed. */
  readonly table: string;
  /** Blocks that change. By default: nobody can use the table. */
  readonly lock?: string;
}

/** In the order of the erasure. */
const moments: readonly Moment[] = [
  { table: 'account_deletions', lock: 'select from account_deletions for update' },
  { table: 'agent_threads' },
  { table: 'agent_events' },
  { table: 'agent_videos' },
  { table: 'agent_generations' },
  { table: 'agent_user_events' },
  { table: 'agent_usage' },
  { table: 'assets' },
  { table: 'media_tasks' },
  { table: 'shares' },
  { table: 'screening_incidents' },
  { table: 'memory_entities' },
  { table: 'notify_sends' },
  { table: 'notify_events' },
  { table: 'suppressed_addresses' },
  { table: 'credit_ledger' },
  { table: 'user_settings' },
  { table: 'referrals' },
  { table: 'user_profiles' },
  // The services are empty, but the stage is not set.
  { table: 'account_deletions', lock: 'select from account_deletions for update' },
  // The mail was sent, but the row is not deleted.
  { table: 'account_deletions', lock: 'select from account_deletions for key share' },
];

describe.skipIf(engine?.missing !== false || skipWithoutRedis)('the deletion of an account', () => {
  let place: Place;
  let database: Database;
  let drop: () => Promise<void>;
  let redis: Redis;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let env: Record<string, string>;
  let program: Program;
  let desk: Desk;
  let person: Person;
  let traces: Traces;

  beforeAll(async () => {
    place = await newPlace();
    const created = await createMigratedDatabase(migrations);
    drop = created.drop;
    database = await openPostgres({
      url: created.url,
      poolSize: 3,
      migrations: [],
      log: createLog({ level: 'silent' }),
    });
    const prefix = `test:${randomUUID()}:`;
    redis = await openTestRedis({ prefix });
    const secret = `whsec_${Buffer.from(randomUUID()).toString('base64')}`;
    receiver = await startReceiver(secret);
    env = {
      ...place.env,
      DATABASE_URL: created.url,
      REDIS_URL: redisUrl,
      REDIS_PREFIX: prefix.slice(0, -1),
      WEBHOOK_URL: receiver.url,
      WEBHOOK_SECRET: secret,
    };
    await start();
    await program.waitFor('Atelier is ready', limitMs);
    const secrets = JSON.parse(await readFile(join(place.dataDir, 'secrets.json'), 'utf8'));
    const addresses = addressesOf(readConfig(env, services));
    desk = await openDesk({ url: addresses.console, addresses, secret: async (name) => secrets[name] });
    person = await desk.person();
    expect((await person.call('agent', 'GET', '/models')).status).toBe(200);
  }, limitMs);
  afterAll(async () => {
    await kill();
    await Promise.all([database.close(), redis.close(), receiver.close()]);
    await Promise.all([drop(), place.remove()]);
  });

  async function start(): Promise<void> {
    program = run('start', [...services, 'console'], env);
  }

  async function kill(): Promise<void> {
    program.child.kill('SIGKILL');
    await program.ended();
  }

  const db = () => database.queries();
  const stages = async () =>
    (await sql<{ stage: string }>`select stage from account_deletions`.execute(db())).rows.map(({ stage }) => stage);
  const subjects = async () => {
    const folder = join(place.dataDir, 'outbox');
    const names = (await readdir(folder)).filter((name) => name.endsWith('.eml'));
    const mails = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
    return mails.filter((text) => text.includes(person.email)).map((text) => /^Subject: (.*)$/m.exec(text)?.[1] ?? '');
  };
  const deletedEvents = () =>
    receiver.received
      .filter(({ body }) => body.includes('account.deleted'))
      .map(({ headers }) => headers['webhook-id']);
  const outsideTransactions = AsyncLocalStorage.snapshot();

  /** Kills the program while it waits for a lock that this process holds. */
  const killAt = (
    { table, lock = `lock table ${table} in access exclusive mode` }: Moment,
    begin: () => Promise<unknown>,
  ) =>
    transaction(
      db(),
      async (tx) => {
        await sql.raw(lock).execute(tx);
        await outsideTransactions(async () => {
          await begin();
          await expect.poll(() => isWaitingFor(table), { timeout: limitMs, message: table }).toBe(true);
          await kill();
          // Time goes by: the leases of the dead program end.
          await sql`update jobs set expires_at = now() where status = 'running'`.execute(db());
        });
      },
      2 * limitMs,
    );

  async function isWaitingFor(table: string): Promise<boolean> {
    await comeDue();
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and query ~ ${table} and query ~* '(delete|update|insert)'`.execute(db());
    return rows.length > 0;
  }

  /** Time goes by: nothing waits for a retry. */
  const comeDue = () => sql`update jobs set run_at = now() where status = 'waiting' and run_at > now()`.execute(db());

  it('can be taken back', async () => {
    const first = await person.call<{ deletesAt: string }>('auth', 'DELETE', '/account');
    expect(first.status).toBe(202);
    expect((Date.parse(first.body.deletesAt) - Date.now()) / 86_400_000).toBeCloseTo(14, 1);
    expect((await person.call('auth', 'DELETE', '/account')).body).toEqual(first.body);
    await expect.poll(stages, { timeout: limitMs }).toEqual(['announced']);
    expect(await subjects()).toEqual([expect.stringContaining('will be deleted on')]);
    expect((await person.call('auth', 'POST', '/account/restore')).status).toBe(204);
    expect(await stages()).toEqual([]);
  });

  it('is carried out once although the program is killed again and again', async () => {
    traces = await leaveTraces({ rig: place, desk, database }, person);
    expect((await person.call('auth', 'DELETE', '/account')).status).toBe(202);
    await expect.poll(stages, { timeout: limitMs }).toEqual(['announced']);
    const where = { rig: place, desk, database, redis: { connection: redis, prefix: redis.prefix }, buckets: [] };
    expect(await findTraces(where, person, traces)).not.toEqual([]);
    await sql`update account_deletions set deletes_at = now()`.execute(db());

    const [first, ...others] = everyNth(moments, 7);
    if (first !== undefined) await killAt(first, comeDue);
    for (const moment of others) await killAt(moment, start);
    await start();
    const isOver = async () => {
      await comeDue();
      return stages();
    };
    await expect.poll(isOver, { timeout: limitMs }).toEqual([]);

    const last = await findTraces(where, person, traces);
    // The last mail is in the outbox, and for a day in the record of emails.
    expect(last.map((trace) => trace.split(/[: ]/)[0]).toSorted()).toEqual(['file', 'notify_sends']);
    expect(await subjects()).toEqual([expect.stringContaining('was deleted')]);
    expect(new Set(deletedEvents()).size).toBe(1);
    expect((await desk.internal('auth', 'GET', `/v1/people/${person.id}`)).status).toBe(404);
  }, 600_000);
});
