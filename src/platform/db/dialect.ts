/**
 * Kysely on either engine. Everything that both promise alike stands here: the transaction guard, the bounded queue, the
 * translation of failures, and that nothing runs on a connection whose transaction is over.
 */
import {
  AbortedTransactionError,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  sql,
  type TransactionSettings,
} from 'kysely';
import { assertBegunByTransaction, assertOutsideTransaction, type Database } from './db.ts';
import { createGate, type Gate, type GateOptions } from './gate.ts';

/** One connection, ours alone until it is released. */
export interface Session {
  /** Without parameters the text may hold several statements; the result is then not defined. */
  query(sql: string, parameters: readonly unknown[]): Promise<SessionResult>;
  release(): void;
}

export interface SessionResult {
  readonly rows: readonly unknown[];
  /** The first word of the command tag: `INSERT`, `COMMIT`, … */
  readonly command: string | undefined;
  readonly affectedRows: number | undefined;
}

/** What a driver gives. Errors are translated already. */
export interface Engine {
  connect(): Promise<Session>;
  close(): Promise<void>;
}

/** Milliseconds that closing waits for what is in flight. */
const closeTimeoutMs = 8_000;

/** The opened engine as the rest of the code knows it. */
export function createDatabase(driver: Database['driver'], engine: Engine, gateOptions: GateOptions): Database {
  const gate = createGate(gateOptions);
  const kysely = new Kysely<object>({ dialect: createDialect(engine, gate) });
  let closed: Promise<void> | undefined;
  return {
    driver,
    queries: <Tables>() => kysely as unknown as Kysely<Tables>,
    check: async () => {
      await sql`select 1`.execute(kysely);
    },
    // Not Kysely's `destroy`, which closes nothing when nothing was asked yet.
    close: () => {
      closed ??= gate.close(closeTimeoutMs).then(() => engine.close());
      return closed;
    },
  };
}

function createDialect(engine: Engine, gate: Gate): Dialect {
  return {
    createDriver: () => new SessionDriver(engine, gate),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    // Also for PGlite: Kysely's own queue for single connections would wait before our guard is asked.
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  };
}

class SessionDriver implements Driver {
  readonly #engine: Engine;
  readonly #gate: Gate;

  constructor(engine: Engine, gate: Gate) {
    this.#engine = engine;
    this.#gate = gate;
  }

  async init(): Promise<void> {
    // Engines are opened before Kysely sees them.
  }

  async acquireConnection(): Promise<Connection> {
    assertOutsideTransaction('the outer database handle');
    const leave = await this.#gate.enter();
    try {
      return new Connection(await this.#engine.connect(), leave);
    } catch (error) {
      leave();
      throw error;
    }
  }

  async beginTransaction(connection: Connection, settings: TransactionSettings): Promise<void> {
    assertBegunByTransaction();
    await connection.begin(settings);
  }

  async commitTransaction(connection: Connection): Promise<void> {
    await connection.end('commit');
  }

  async rollbackTransaction(connection: Connection): Promise<void> {
    await connection.end('rollback');
  }

  async releaseConnection(connection: Connection): Promise<void> {
    connection.release();
  }

  async destroy(): Promise<void> {
    throw new Error('Close the Database, not the query builder');
  }
}

class Connection implements DatabaseConnection {
  readonly #session: Session;
  readonly #leave: () => void;
  #over = false;

  constructor(session: Session, leave: () => void) {
    this.#session = session;
    this.#leave = leave;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    // What a failed transaction left running (a sibling in Promise.all) must not go on outside of it.
    if (this.#over) throw new Error('The transaction is over');
    const { rows, command, affectedRows } = await this.#session.query(query.sql, query.parameters);
    const writes = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE' || command === 'MERGE';
    return { rows: rows as Row[], ...(writes ? { numAffectedRows: BigInt(affectedRows ?? 0) } : {}) };
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Streaming is not supported: page through the rows instead');
  }

  async begin(settings: TransactionSettings): Promise<void> {
    const level = settings.isolationLevel === undefined ? '' : ` isolation level ${settings.isolationLevel}`;
    await this.#session.query(`begin${level}`, []);
  }

  async end(how: 'commit' | 'rollback'): Promise<void> {
    this.#over = true;
    const { command } = await this.#session.query(how, []);
    // PostgreSQL answers a commit with ROLLBACK when a statement had failed and the failure was swallowed.
    if (how === 'commit' && command === 'ROLLBACK') throw new AbortedTransactionError();
  }

  release(): void {
    this.#session.release();
    this.#leave();
  }
}
