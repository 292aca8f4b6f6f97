/** The program on PostgreSQL and Redis with a user of it, for tests that kill it while it waits for the database. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { addressesOf, readConfig, type ServiceName } from '#app/config.ts';
import { migrations } from '#app/migrations.ts';
import { transaction } from '#platform/db/db.ts';
import { openPostgres } from '#platform/db/postgres.ts';
import { createLog } from '#platform/log.ts';
import { openDesk } from '../console/desk.fixture.ts';
import { createMigratedDatabase, databaseEngines } from '../database.fixture.ts';
import { openTestRedis, redisUrl, skipWithoutRedis } from '../redis.fixture.ts';
import { startReceiver } from '../webhooks/receiver.fixture.ts';
import { newPlace, type Program, run } from './running.fixture.ts';

/** Programs start slowly on a busy machine. */
export const limitMs = 120_000;
const services: readonly ServiceName[] = ['auth', 'idp', 'agent', 'media', 'memory', 'notify', 'edge', 'image'];

export const skipWithoutEngines =
  databaseEngines.find(({ name }) => name === 'postgres')?.missing !== false || skipWithoutRedis;

export interface Moment {
  /** The table whose change the program waits for when it is killed. */
  readonly table: string;
  /** Blocks that change. By default: no one else can use the table. */
  readonly lock?: string;
}

export type AccountRig = Awaited<ReturnType<typeof startAccountRig>>;

export async function startAccountRig() {
  const place = await newPlace();
  const created = await createMigratedDatabase(migrations);
  const log = createLog({ level: 'silent' });
  const database = await openPostgres({ url: created.url, poolSize: 3, migrations: [], log });
  const db = database.queries();
  const prefix = `test:${randomUUID()}:`;
  const redis = await openTestRedis({ prefix });
  const secret = `whsec_${Buffer.from(randomUUID()).toString('base64')}`;
  const receiver = await startReceiver(secret);
  const env = {
    ...place.env,
    DATABASE_URL: created.url,
    REDIS_URL: redisUrl,
    REDIS_PREFIX: prefix.slice(0, -1),
    WEBHOOK_URL: receiver.url,
    WEBHOOK_SECRET: secret,
  };
  let program: Program;
  const start = async () => {
    program = run('start', [...services, 'console'], env);
  };
  const kill = async () => {
    program.child.kill('SIGKILL');
    await program.ended();
  };
  await start();
  const ready = async () => program.waitFor('Atelier is ready', limitMs);
  await ready();
  const secrets = JSON.parse(await readFile(join(place.dataDir, 'secrets.json'), 'utf8'));
  const addresses = addressesOf(readConfig(env, services));
  const desk = await openDesk({ url: addresses.console, addresses, secret: async (name) => secrets[name] });
  const person = await desk.person();
  expect((await person.call('agent', 'GET', '/models')).status).toBe(200);

  /** Time goes by: nothing waits for a retry. */
  const comeDue = () => sql`update jobs set run_at = now() where status = 'waiting' and run_at > now()`.execute(db);
  /** A session waits for a lock that the session `holder` has. */
  const isWaitingFor = async (holder: number) => {
    await comeDue();
    const { rows } = await sql`
      select from pg_stat_activity
      where datname = current_database() and ${holder}::int = any(pg_blocking_pids(pid))`.execute(db);
    return rows.length > 0;
  };
  const outsideTransactions = AsyncLocalStorage.snapshot();

  return {
    rig: { dataDir: place.dataDir },
    database,
    redis: { connection: redis, prefix: redis.prefix },
    buckets: [],
    desk,
    person,
    addresses,
    receiver,
    start,
    ready,
    comeDue,
    waitingJobs: async () => {
      const { rows } = await sql<{ queue: string }>`
        select queue from jobs where status in ('waiting', 'running') and queue like 'media/decision%'`.execute(db);
      return rows.map(({ queue }) => queue);
    },
    /** The subjects of the emails to the person. */
    subjects: async () => {
      const folder = join(place.dataDir, 'outbox');
      const names = (await readdir(folder)).filter((name) => name.endsWith('.eml'));
      const mails = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
      return mails
        .filter((text) => text.includes(person.email))
        .map((text) => /^Subject: (.*)$/m.exec(text)?.[1] ?? '');
    },
    /** Kills the program while it waits for a lock that this process holds. */
    killAt: (
      { table, lock = `lock table ${table} in access exclusive mode` }: Moment,
      begin: () => Promise<unknown>,
    ): Promise<void> =>
      transaction(
        db,
        async (tx) => {
          await sql.raw(lock).execute(tx);
          const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
          const holder = Number(rows[0]?.pid);
          await outsideTransactions(async () => {
            await begin();
            await expect.poll(() => isWaitingFor(holder), { timeout: limitMs, message: table }).toBe(true);
            await kill();
            // Time goes by: the leases of the dead program end.
            await sql`update jobs set expires_at = now() where status = 'running'`.execute(db);
          });
        },
        2 * limitMs,
      ),
    close: async () => {
      await kill();
      await Promise.all([database.close(), redis.close(), receiver.close()]);
      await Promise.all([created.drop(), place.remove()]);
    },
  };
}
