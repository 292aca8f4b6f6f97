/** A user deletes their account. The program is killed at each step of the deletion, which goes on and happens once. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addressesOf, readConfig, type ServiceName } from '#app/config.ts';
import { type Database, transaction } from '#platform/db/db.ts';
import { openPostgres } from '#platform/db/postgres.ts';
import { createLog } from '#platform/log.ts';
import { type Desk, openDesk, type Person } from '../console/desk.fixture.ts';
import { createPostgresDatabase } from '../database.fixture.ts';
import { newPlace, type Place, type Program, run } from './running.fixture.ts';

/** Programs start slowly on a busy machine, and a lost job is taken over when its lease ends. */
const limitMs = 120_000;
const services: readonly ServiceName[] = ['auth', 'idp', 'agent', 'media', 'memory', 'notify', 'edge', 'image'];
let place: Place;
let database: Database;
let drop: () => Promise<void>;
let env: Record<string, string>;
let program: Program;
let desk: Desk;
let person: Person;

beforeAll(async () => {
  place = await newPlace();
  const created = await createPostgresDatabase();
  drop = created.drop;
  database = await openPostgres({ url: created.url, poolSize: 3, migrations: [], log: createLog({ level: 'silent' }) });
  env = {
    ...place.env,
    DATABASE_URL: created.url,
    // Nothing listens there, so events wait to be delivered.
    WEBHOOK_URL: 'http://127.0.0.1:9/events',
    WEBHOOK_SECRET: `whsec_${Buffer.from(randomUUID()).toString('base64')}`,
  };
  await start();
  const secrets = JSON.parse(await readFile(join(place.dataDir, 'secrets.json'), 'utf8'));
  const addresses = addressesOf(readConfig(env, services));
  desk = await openDesk({ url: addresses.console, addresses, secret: async (name) => secrets[name] });
  person = await desk.person();
  expect((await person.call('agent', 'GET', '/models')).status).toBe(200);
  await sql`update user_profiles set email = ${person.email} where id = ${person.id}`.execute(database.queries());
}, limitMs);
afterAll(async () => {
  program.child.kill('SIGKILL');
  await program.ended();
  await database.close();
  await drop();
  await place.remove();
});

async function start(): Promise<void> {
  program = run('start', [...services, 'console'], env);
  await program.waitFor('Atelier is ready', limitMs);
}

async function kill(): Promise<void> {
  program.child.kill('SIGKILL');
  await program.ended();
}

const db = () => database.queries();
const subjects = async () =>
  (await sql<{ subject: string }>`select subject from notify_sends`.execute(db())).rows.map(({ subject }) => subject);
const events = async () =>
  (await sql`select from jobs where payload::text like '%account.deleted%'`.execute(db())).rows.length;
const deletions = async () =>
  (await sql<{ stage: string }>`select stage from account_deletions`.execute(db())).rows.map(({ stage }) => stage);

const outsideTransactions = AsyncLocalStorage.snapshot();

/** Kills the program while it waits for a lock that this process holds. */
async function killAt(lock: string, begin: () => Promise<unknown>): Promise<void> {
  await transaction(
    db(),
    async (tx) => {
      await sql.raw(lock).execute(tx);
      await outsideTransactions(() => killWhenBlocked(begin));
    },
    limitMs,
  );
}

async function killWhenBlocked(begin: () => Promise<unknown>): Promise<void> {
  await begin();
  const waiting = async () =>
    (
      await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and query ~ '(user_profiles|account_deletions)'`.execute(db())
    ).rows.length;
  await expect.poll(waiting, { timeout: limitMs }).toBeGreaterThan(0);
  await kill();
}

it('is scheduled, restored, and carried out once although the program is killed at each step', async () => {
  const first = await person.call<{ deletesAt: string }>('auth', 'DELETE', '/account');
  expect(first.status).toBe(202);
  expect((Date.parse(first.body.deletesAt) - Date.now()) / 86_400_000).toBeCloseTo(14, 1);
  expect((await person.call('auth', 'DELETE', '/account')).body).toEqual(first.body);
  await expect.poll(deletions, { timeout: limitMs }).toEqual(['announced']);
  expect(await subjects()).toEqual([expect.stringContaining('will be deleted on')]);
  expect((await person.call('auth', 'POST', '/account/restore')).status).toBe(204);
  expect(await deletions()).toEqual([]);

  expect((await person.call('auth', 'DELETE', '/account')).status).toBe(202);
  await expect.poll(deletions, { timeout: limitMs }).toEqual(['announced']);
  await killAt('lock table user_profiles in access exclusive mode', async () => {
    await sql`update account_deletions set deletes_at = now()`.execute(db());
    await sql`update jobs set run_at = now() where queue = 'auth/delete-account'`.execute(db());
  });
  expect(await deletions()).toEqual(['erasing']);
  // The services are empty, but the stage is not set.
  await killAt('select from account_deletions for update', start);
  expect([await deletions(), await events()]).toEqual([['erasing'], 0]);
  // The mail was sent, but the row is not deleted.
  await killAt('select from account_deletions for key share', start);
  expect([await deletions(), await events()]).toEqual([['erased'], 1]);
  expect(await subjects()).toEqual([expect.stringContaining('was deleted')]);
  await start();
  await expect.poll(deletions, { timeout: limitMs }).toEqual([]);
  expect(await subjects()).toEqual([expect.stringContaining('was deleted')]);
  expect(await events()).toBe(1);
  expect((await desk.internal('auth', 'GET', `/v1/people/${person.id}`)).status).toBe(404);
}, 600_000);
