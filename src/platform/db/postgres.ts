/** The distributed engine: PostgreSQL 15 or newer, through a bounded pool of pg. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { systemClock } from '../clock.ts';
import { ConfigFault } from '../config.ts';
import { StartFault } from '../lifecycle.ts';
import type { Log } from '../log.ts';
import { problems } from '../problem.ts';
import { createBreaker } from '../resilience/breaker.ts';
import { retry } from '../resilience/retry.ts';
import type { Database } from './db.ts';
import { createDatabase, type Engine, type Session, type SessionResult } from './dialect.ts';
import { sqlState, translateError } from './errors.ts';
import { applyMigrations, type Migration } from './migrations.ts';
import { elementTypes, type Parse, parsers } from './values.ts';

export interface PostgresOptions {
  readonly url: string;
  readonly poolSize: number;
  readonly migrations: readonly Migration[];
  readonly log: Log;
  /** 0: as long as it takes. */
  readonly statementTimeoutMs?: number;
  /** Also while rows are being moved into it. */
  readonly unfinished?: boolean;
}

/** Queue, connect and statement together stay below the 10 s after which every caller has its answer. */
const waitTimeoutMs = 2_000;
const connectTimeoutMs = 3_000;
const statementTimeoutMs = 5_000;
/** For a server that no longer answers at all: a little after it should have given up by itself. */
const answerTimeoutMs = 5_500;
/** A table that is there as long as rows are being moved into the database. */
export const movingTable = 'moving';
/** Beyond the timeout of `transaction`, for a process that hangs. */
const idleInTransactionTimeoutMs = 15_000;
const oldestVersion = 150_000;

export async function openPostgres(options: PostgresOptions): Promise<Database> {
  await migratePostgres(options);
  const timeoutMs = options.statementTimeoutMs ?? statementTimeoutMs;
  const pool = new pg.Pool({
    ...connectionSettings(options.url),
    max: options.poolSize,
    idleTimeoutMillis: 30_000,
    statement_timeout: timeoutMs,
    query_timeout: timeoutMs === 0 ? 0 : timeoutMs + answerTimeoutMs - statementTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
  });
  // Never the error itself: pg hangs the whole client on it, password included.
  pool.on('error', ({ message }) => options.log.warn({ reason: message }, 'an idle database connection broke'));
  return createDatabase('postgres', createEngine(pool), {
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

export function probePostgres(url: string): Promise<void> {
  return withOwnConnection(url, assertServerFits);
}

function migratePostgres({ url, migrations, unfinished }: PostgresOptions): Promise<void> {
  return withOwnConnection(url, async (client) => {
    await assertServerFits(client);
    if (!unfinished && (await tablesOf(client)).has(movingTable))
      throw new ConfigFault(['DATABASE_URL: rows are being moved into this database; repeat `npm run move`']);
    await migrateOver(client, migrations);
  });
}

export async function tablesOfPostgres(url: string): Promise<ReadonlySet<string>> {
  let tables: ReadonlySet<string> = new Set();
  await withOwnConnection(url, async (client) => {
    await assertServerFits(client);
    tables = await tablesOf(client);
  });
  return tables;
}

async function tablesOf(client: pg.Client): Promise<ReadonlySet<string>> {
  const { rows } = await client.query(
    `select relname from pg_class where relnamespace = current_schema()::text::regnamespace and relkind in ('r', 'p')`,
  );
  return new Set(rows.map(({ relname }) => relname));
}

/** Beside the pool and without its limits, since a migration may take longer than any query should. */
async function withOwnConnection(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client(connectionSettings(url));
  // Without a listener, a connection that breaks between two statements would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    throw new ConfigFault([`DATABASE_URL: the database does not answer (${reasonOf(error)})`]);
  }
  try {
    await work(client);
  } catch (error) {
    if (error instanceof StartFault) throw error;
    // Commonly a role that may not create tables.
    throw new ConfigFault([`DATABASE_URL: the database cannot be prepared (${reasonOf(error)})`]);
  } finally {
    // A transaction that is still open goes with its connection.
    await client.end();
  }
}

/** Where a name has several addresses, Node's error has a code and no message. */
function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return message || String(code);
}

async function migrateOver(client: pg.Client, migrations: readonly Migration[]): Promise<void> {
  await client.query('begin');
  await applyMigrations(
    {
      run: async (text) => {
        await client.query(text);
      },
      query: async <Row>(text: string, parameters: readonly unknown[]) =>
        (await client.query(text, [...parameters])).rows as Row[],
    },
    migrations,
  );
  await client.query('commit');
}

async function assertServerFits(client: pg.Client): Promise<void> {
  const { rows } = await client.query({
    text: `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`,
    query_timeout: answerTimeoutMs,
  } as pg.QueryConfig);
  const { version, encoding } = rows[0];
  if (version < oldestVersion)
    throw new ConfigFault([`DATABASE_URL: PostgreSQL 15 or newer is needed, this is ${Math.floor(version / 10_000)}`]);
  if (encoding !== 'UTF8') throw new ConfigFault([`DATABASE_URL: the database's encoding is ${encoding}, not UTF8`]);
}

function createEngine(pool: pg.Pool): Engine {
  // Callers of a server that is away are told at once, and not each after its own connect timeout.
  const breaker = createBreaker({ failuresToOpen: 5, trialEveryMs: 1_000, isFailure: () => true, clock: systemClock });
  const connectedAtMs = new WeakMap<pg.PoolClient, number>();
  pool.on('connect', (client) => connectedAtMs.set(client, performance.now()));
  let lossAtMs = 0;
  const onLoss = (): void => {
    lossAtMs = performance.now();
  };
  return {
    connect: async () => {
      for (;;) {
        const client = await breaker.run(() => connect(pool)).catch(unavailable);
        // Where one connection was lost, its elders are probably dead too (a restart) and would be found out one by one.
        if ((connectedAtMs.get(client) ?? 0) >= lossAtMs) return new PooledSession(client, onLoss);
        client.release(true);
      }
    },
    close: async () => {
      // A connection that is still out after the drain ends with the process.
      await Promise.race([pool.end(), sleep(1_000, undefined, { ref: false })]);
    },
  };
}

function unavailable(error: unknown): never {
  throw problems.engine_unavailable({ cause: error });
}

/** What fails at once may be over at once (a restart, a failover): tried three times, unless a try took its time. */
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
  #lost = false;
  #unfit = false;
  #released = false;

  constructor(client: pg.PoolClient, onLoss: () => void) {
    this.#client = client;
    this.#onLoss = onLoss;
    client.on('error', this.#onError);
  }

  get lost(): boolean {
    return this.#lost;
  }

  async query(text: string, parameters: readonly unknown[]): Promise<SessionResult> {
    try {
      const result: pg.QueryResult | pg.QueryResult[] = await this.#client.query(text, [...parameters]);
      const last = Array.isArray(result) ? result.at(-1) : result;
      return { rows: last?.rows ?? [], command: last?.command, affectedRows: last?.rowCount ?? undefined };
    } catch (error) {
      throw this.#judge(error);
    }
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#client.off('error', this.#onError);
    this.#client.release(this.#lost || this.#unfit);
  }

  /** Emitted before the queries under way are rejected. */
  readonly #onError = (): void => {
    this.#lost = true;
    this.#onLoss();
  };

  #judge(error: unknown): unknown {
    const state = sqlState(error);
    // Shut down by the administrator, or through the crash of another connection: the statement was rolled back.
    if (state === '57P01' || state === '57P02') this.#onError();
    // A primary that was demoted, or an answer that never came and would be taken for the next statement's.
    const silent = error instanceof Error && error.message === 'Query read timeout';
    if (state === '25006' || silent) {
      this.#unfit = true;
      this.#onLoss();
    }
    return this.#lost || silent ? problems.engine_unavailable({ cause: error }) : translateError(error);
  }
}

const textArrayType: number = 1009;

function getTypeParser(oid: number, format?: 'text' | 'binary'): Parse {
  const parse = parsers[oid];
  if (parse !== undefined) return parse;
  const element = parsers[elementTypes[oid] ?? 0];
  if (element === undefined) return pg.types.getTypeParser(oid, format);
  const split = pg.types.getTypeParser(textArrayType, 'text');
  return (text) => (split(text) as (string | null)[]).map((item) => (item === null ? null : element(item)));
}
