/** Processes of the agent on one PostgreSQL and one Redis of their own, and users who may ask any of them. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { LedgerTables } from '#accounts/ledger/credits.ts';
import { ensureProfile, findProfile } from '#accounts/store.ts';
import type { AgentTables } from '#agent/tables.ts';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { collectMigrations } from '#platform/db/migrations.ts';
import { platformMigrations } from '#platform/db/open.ts';
import { openPostgres } from '#platform/db/postgres.ts';
import { createLog } from '#platform/log.ts';
import { newPlace } from '../acceptance/running.fixture.ts';
import { setPlanAndCredits } from '../credits.fixture.ts';
import { createMigratedDatabase, databaseEngines } from '../database.fixture.ts';
import { startTestIssuer } from '../platform/tokenissuer.fixture.ts';
import { freePortBase } from '../ports.fixture.ts';
import { type RedisServer, skipWithoutRedis, startRedisServer } from '../redis.fixture.ts';
import { type Instance, startInstance, userAt } from './instances.fixture.ts';
import { type Chatter, chatter } from './rig.fixture.ts';

export const skipWithoutFleet =
  skipWithoutRedis || databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);

export interface StartOptions {
  /** Instead of a free one: an instance that was there is started again. */
  readonly portBase?: number;
  readonly services?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A user, who is the same at every instance. */
export type Anywhere = (instance: Pick<Instance, 'url'>) => Chatter;

export interface Ledger {
  readonly balance: number | undefined;
  readonly reserved: number;
  readonly settled: number;
}

export interface Fleet {
  readonly databaseUrl: string;
  readonly redis: RedisServer;
  start(options?: StartOptions): Promise<Instance>;
  user(credits: number): Promise<Anywhere>;
  /** What is there, what is held for work under way, and what was paid. */
  ledger(user: Chatter): Promise<Ledger>;
  /** Ends the leases of a user's runs at once. Their instance must have been killed, or it loses them. */
  expireLeases(user: Chatter): Promise<void>;
  /** As if other processes had gone on with the run, and died, as often as `AGENT_MAX_RESTARTS` allows by default. */
  restartOften(taskId: string): Promise<void>;
  close(): Promise<void>;
}

export async function openFleet(): Promise<Fleet> {
  const { url: databaseUrl, drop } = await createMigratedDatabase(migrations);
  const [issuer, redis, place] = [await startTestIssuer(), await startRedisServer(), await newPlace()];
  const database = await openOwn(databaseUrl);
  const db = database.queries<LedgerTables>();
  const instances: Instance[] = [];
  return {
    databaseUrl,
    redis,
    async start({ portBase, services, env = {} } = {}) {
      const engines = { DATABASE_URL: databaseUrl, REDIS_URL: redis.url, JWKS_URL: issuer.jwksUrl };
      const settings = { ATELIER_DATA_DIR: place.dataDir, ...engines, ...env };
      const instance = await startInstance(portBase ?? (await freePortBase()), settings, services);
      instances.push(instance);
      return instance;
    },
    async user(credits) {
      const userId = randomUUID();
      await setPlanAndCredits(db, (await ensureProfile(db, { id: userId })).id, 'pro', credits);
      const { credential } = await userAt(issuer, '', userId);
      return ({ url }) => chatter(url, userId, credential);
    },
    async ledger({ userId }) {
      const rows = await db
        .selectFrom('credit_ledger')
        .select(['state', 'amount'])
        .where('user_id', '=', userId)
        .execute();
      const sumOf = (state: string) => rows.reduce((sum, row) => (row.state === state ? sum + row.amount : sum), 0);
      return {
        balance: (await findProfile(db, userId))?.credits,
        reserved: sumOf('reserved'),
        settled: sumOf('settled'),
      };
    },
    async expireLeases({ userId }) {
      await database
        .queries<AgentTables>()
        .updateTable('agent_runs')
        .set({ lease_expires_at: sql`now()` })
        .where('owner_id', '=', userId)
        .where('status', '=', 'running')
        .execute();
    },
    async restartOften(taskId) {
      await database
        .queries<AgentTables>()
        .updateTable('agent_runs')
        .set({ restarts: 2 })
        .where('task_id', '=', taskId)
        .execute();
    },
    async close() {
      await Promise.all(instances.map((instance) => instance.kill()));
      await database.close();
      await Promise.all([redis.close(), issuer.close(), drop()]);
      await place.remove();
    },
  };
}

async function openOwn(url: string): Promise<Database> {
  const sources = await collectMigrations([platformMigrations, ...migrations]);
  return openPostgres({ url, poolSize: 2, migrations: sources, log: createLog({ level: 'silent' }) });
}
