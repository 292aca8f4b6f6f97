/** The distributed engine: PostgreSQL 15 or newer, through a bounded pool of pg. */

import pg from 'pg';
import { systemClock } from '../clock.ts';
import { ConfigFault } from '../config.ts';
import { StartFault } from '../lifecycle.ts';
import type { Log } from '../log.ts';
import { problems } from '../problem.ts';
import { createBreaker, retry, waitAtMost } from '../resilience.ts';
import type { Database } from './db.ts';
import {
  createDatabase,
  type Engine,
  elementTypes,
  type Parse,
  parsers,
  type Session,
  type SessionResult,
} from './dialect.ts';
import { sqlState, translateError } from './errors.ts';
import { applyMigrations, applyOutside, beginMigrating, type Migration, type MigrationSession } from './migrations.ts';
import { describePgvector, ensurePgvector, examinePgvector, makeVisible } from './pgvector.ts';
import { honorsStartupParameters, localSettings, withoutCompilation } from './pooler.ts';

export interface PostgresOptions {
  readonly url: string;
  readonly poolSize: number;
  readonly migrations: readonly Migration[];
  readonly log: Log;
  /** 0: no limit. */
  readonly statementTimeoutMs?: number;
  /** Opens the database also while rows are being moved into it. */
  readonly unfinished?: boolean;
  /** Runs in the transaction of the migrations, after them. A failure is logged and undone; the start goes on. */
  readonly whenMigrated?: (session: MigrationSession) => Promise<void>;
}

/**
 * Queue and connect, or queue and statement, stay below the 10 s within which every caller gets a response. Who waits longest finds a
 * connection that another caller has just used.
 */
const waitTimeoutMs = 4_000;
const connectTimeoutMs = 3_000;
const statementTimeoutMs = 5_000;
/** For a server that does not respond: a little longer than its own timeout. */
const answerTimeoutMs = 5_500;
/** Exists while rows are being moved into the database. */
export const movingTable = 'moving';
/** Longer than the timeout of `transaction`: for a process that hangs. */
const idleInTransactionTimeoutMs = 15_000;
const oldestVersion = 150_000;

export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const timeoutMs = options.statementTimeoutMs ?? statementTimeoutMs;
  await migratePostgres(options);
  const settings = connectionSettings(options.url);
  const isPooled = !(await honorsStartupParameters(settings).catch(refuseToStart));
  if (isPooled) options.log.info('the database is behind a pooler: each transaction sets its own timeouts');
  const pool = new pg.Pool({
    ...settings,
    max: options.poolSize,
    idleTimeoutMillis: 30_000,
    query_timeout: timeoutMs === 0 ? 0 : timeoutMs + answerTimeoutMs - statementTimeoutMs,
    ...(isPooled
      ? {}
      : {
          statement_timeout: timeoutMs,
          idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
          options: withoutCompilation,
        }),
  });
  // Log the message only: pg attaches the whole client to the error, password included.
  pool.on('error', ({ message }) => options.log.warn({ reason: message }, 'an idle database connection broke'));
  const afterBegin = isPooled ? localSettings(timeoutMs, idleInTransactionTimeoutMs) : undefined;
  return createDatabase('postgres', createEngine(pool, afterBegin), {
    width: options.poolSize,
    maxWaiting: options.poolSize * 100,
    waitTimeoutMs,
  });
}

function connectionSettings(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'atelier',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser },
  };
}

/** One sentence about the server. Throws ConfigFault. */
export async function probePostgres(url: string): Promise<string> {
  const isPooled = !(await honorsStartupParameters(connectionSettings(url)).catch(refuseToStart));
  return withOwnConnection(url, async (client) => {
    const version = await assertServerFits(client);
    const pgvector = describePgvector(await examinePgvector(sessionOf(client)));
    return `PostgreSQL ${version} responds${isPooled ? ' behind a pooler' : ''}; ${pgvector}`;
  });
}

function migratePostgres(options: PostgresOptions): Promise<void> {
  return withOwnConnection(options.url, async (client) => {
    await assertServerFits(client);
    if (!options.unfinished && (await tablesOf(client)).has(movingTable))
      throw new ConfigFault(['DATABASE_URL: rows are being moved into this database; repeat `npm run move`']);
    await migrateOver(client, options);
  });
}

/** The names of its tables. Throws ConfigFault. */
export async function tablesOfPostgres(url: string): Promise<ReadonlySet<string>> {
  return withOwnConnection(url, async (client) => {
    await assertServerFits(client);
    return tablesOf(client);
  });
}

/** The rows of one statement, which must change nothing. */
export async function readPostgres<Row>(
  url: string,
  statement: string,
  parameters: readonly unknown[],
): Promise<Row[]> {
  return withOwnConnection(url, (client) => sessionOf(client).query<Row>(statement, parameters));
}

/** The names of the migrations that were applied. Undefined: the database is new. Changes nothing. */
export async function appliedOnPostgres(url: string): Promise<readonly string[] | undefined> {
  return withOwnConnection(url, async (client) => {
    if (!(await tablesOf(client)).has('migrations')) return undefined;
    const { rows } = await client.query<{ name: string }>('select name from migrations');
    return rows.map(({ name }) => name);
  });
}

async function tablesOf(client: pg.Client): Promise<ReadonlySet<string>> {
  const { rows } = await client.query(
    `select relname from pg_class where relnamespace = current_schema()::text::regnamespace and relkind in ('r', 'p')`,
  );
  return new Set(rows.map(({ relname }) => relname));
}

/** A connection of its own without the pool's limits: a migration may take longer than any query should. */
async function withOwnConnection<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client(connectionSettings(url));
  // Without a listener, a connection that breaks between two statements would end the process.
  client.on('error', () => undefined);
  await client.connect().catch(refuseToStart);
  try {
    return await work(client);
  } catch (error) {
    if (error instanceof StartFault) throw error;
    // Commonly a role that may not create tables.
    throw new ConfigFault([`DATABASE_URL: the database cannot be prepared (${reasonOf(error)})`]);
  } finally {
    // The server rolls back an open transaction when its connection closes.
    await client.end();
  }
}

function refuseToStart(error: unknown): never {
  throw new ConfigFault([`DATABASE_URL: cannot use the database (${reasonOf(error)})`]);
}

/** Where a name has several addresses, Node's error has a code and no message. */
function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || String(code);
}

const sessionOf = (client: pg.Client): MigrationSession => ({
  run: async (text) => {
    await client.query(text);
  },
  query: async <Row>(text: string, parameters: readonly unknown[]) =>
    (await client.query(text, [...parameters])).rows as Row[],
});

async function migrateOver(client: pg.Client, { url, migrations, whenMigrated, log }: PostgresOptions): Promise<void> {
  const session = sessionOf(client);
  const pgvector = await ensurePgvector(session);
  log.info(describePgvector(pgvector));
  const applyUntilOutside = async () => {
    await beginMigrating(session);
    if (!('missing' in pgvector)) await makeVisible(session, pgvector);
    return applyMigrations(session, migrations);
  };
  for (let next = await applyUntilOutside(); next !== undefined; next = await applyUntilOutside()) {
    await session.run('commit');
    await buildAlone(url, session, migrations, next);
  }
  if (whenMigrated !== undefined) {
    await session.run('savepoint migrated');
    await whenMigrated(session).catch(async (error: unknown) => {
      log.warn({ reason: reasonOf(error) }, 'could not store vectors with pgvector; the next start tries again');
      await session.run('rollback to savepoint migrated');
    });
  }
  await session.run('commit');
}

/** A second connection holds the lock of the migrations, which is bound to a transaction. */
async function buildAlone(
  url: string,
  session: MigrationSession,
  migrations: readonly Migration[],
  migration: Migration,
): Promise<void> {
  await withOwnConnection(url, async (client) => {
    const guard = sessionOf(client);
    await beginMigrating(guard);
    // Another process may have applied it before this one had the lock.
    const pending = await applyMigrations(guard, migrations.slice(0, migrations.indexOf(migration) + 1));
    if (pending === migration) await applyOutside(session, migration);
    await guard.run('commit');
  });
}

/** Returns the server's major version. */
async function assertServerFits(client: pg.Client): Promise<number> {
  const { rows } = await client.query({
    text: `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`,
    query_timeout: answerTimeoutMs,
  } as pg.QueryConfig);
  const { version, encoding } = rows[0];
  if (version < oldestVersion)
    throw new ConfigFault([`DATABASE_URL: PostgreSQL 15 or newer is needed, this is ${Math.floor(version / 10_000)}`]);
  if (encoding !== 'UTF8') throw new ConfigFault([`DATABASE_URL: the database's encoding is ${encoding}, not UTF8`]);
  return Math.floor(version / 10_000);
}

/** `afterBegin`: sets the timeouts of each transaction, behind a pooler. */
function createEngine(pool: pg.Pool, afterBegin: string | undefined): Engine {
  // While the server is down, calls fail at once instead of each after its own connect timeout.
  const breaker = createBreaker({ failuresToOpen: 5, trialEveryMs: 1_000, isFailure: () => true, clock: systemClock });
  const connectedAtMs = new WeakMap<pg.PoolClient, number>();
  pool.on('connect', (client) => connectedAtMs.set(client, performance.now()));
  let lossAtMs = 0;
  const onLoss = (): void => {
    lossAtMs = performance.now();
  };
  return {
    ...(afterBegin !== undefined && { afterBegin }),
    connect: async () => {
      for (;;) {
        const client = await breaker.run(() => connect(pool)).catch(unavailable);
        // After a loss, older connections are probably dead too (a restart): drop them all instead of failing on each.
        if ((connectedAtMs.get(client) ?? 0) >= lossAtMs) return new PooledSession(client, onLoss, afterBegin);
        client.release(true);
      }
    },
    close: async () => {
      // A connection that is still in use after the drain ends with the process.
      await waitAtMost(1_000, pool.end());
    },
  };
}

function unavailable(error: unknown): never {
  throw problems.engine_unavailable({ cause: error });
}

/** A connection that fails at once may succeed soon (a restart, a failover): up to three attempts within a second. */
function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  const startedAtMs = performance.now();
  return retry(() => pool.connect(), {
    attempts: 3,
    baseDelayMs: 200,
    maxDelayMs: 400,
    isRetryable: () => performance.now() - startedAtMs < 1_000,
  });
}

class PooledSession implements Session {
  readonly #client: pg.PoolClient;
  readonly #onLoss: () => void;
  readonly #afterBegin: string | undefined;
  #inTransaction = false;
  #lost = false;
  #unfit = false;
  #released = false;

  constructor(client: pg.PoolClient, onLoss: () => void, afterBegin: string | undefined) {
    this.#client = client;
    this.#onLoss = onLoss;
    this.#afterBegin = afterBegin;
    client.on('error', this.#onError);
  }

  get lost(): boolean {
    return this.#lost;
  }

  async query(text: string, parameters: readonly unknown[]): Promise<SessionResult> {
    if (text.startsWith('begin')) this.#inTransaction = true;
    try {
      const needsOwn = this.#afterBegin !== undefined && !this.#inTransaction;
      const result = await (needsOwn ? this.#queryAlone(text, parameters) : this.#client.query(text, [...parameters]));
      const last = Array.isArray(result) ? result.at(-1) : result;
      return { rows: last?.rows ?? [], command: last?.command, affectedRows: last?.rowCount ?? undefined };
    } catch (error) {
      throw this.#translate(error);
    }
  }

  /** Behind a pooler, only transactions have timeouts. */
  async #queryAlone(text: string, parameters: readonly unknown[]): Promise<pg.QueryResult | pg.QueryResult[]> {
    await this.#client.query(`begin${this.#afterBegin}`);
    try {
      const result = await this.#client.query(text, [...parameters]);
      await this.#client.query('commit');
      return result;
    } catch (error) {
      // A connection that did not respond would not respond to this either.
      const rollback = async () => this.#client.query('rollback').catch(() => undefined);
      const isRolledBack = sqlState(error) !== undefined && (await rollback()) !== undefined;
      this.#unfit ||= !isRolledBack;
      throw error;
    }
  }

  async release(): Promise<void> {
    if (this.#released) return;
    this.#released = true;
    this.#client.off('error', this.#onError);
    this.#client.release(this.#lost || this.#unfit);
  }

  /** Emitted before the queries in flight are rejected. */
  readonly #onError = (): void => {
    this.#lost = true;
    this.#onLoss();
  };

  #translate(error: unknown): unknown {
    const state = sqlState(error);
    // Shut down by the administrator, or by the crash of another connection: the statement was rolled back.
    if (state === '57P01' || state === '57P02') this.#onError();
    // A demoted primary, or a late response that would be taken for the next statement's.
    const silent = error instanceof Error && error.message === 'Query read timeout';
    if (state === '25006' || silent) {
      this.#unfit = true;
      this.#onLoss();
    }
    return this.#lost || silent ? problems.engine_unavailable({ cause: error }) : translateError(error);
  }
}

function getTypeParser(oid: number, format?: 'text' | 'binary'): Parse {
  if (parsers[oid] !== undefined) return parsers[oid];
  const element = parsers[elementTypes[oid] ?? 0];
  if (element === undefined) return pg.types.getTypeParser(oid, format);
  const split = pg.types.getTypeParser(1009 as number, 'text');
  return (text) => (split(text) as (string | null)[]).map((item) => (item === null ? null : element(item)));
}
