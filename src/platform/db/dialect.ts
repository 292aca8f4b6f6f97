/**
 * Kysely on either engine. It has everything that both drivers promise: the transaction guard, the bounded queue, the
 * one repeat of a read whose connection was found dead, and that nothing runs on a connection whose transaction is over.
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
import { createGate, type Gate, type GateOptions } from '../concurrency.ts';
import { assertBegunByTransaction, assertOutsideTransaction, type Database } from './db.ts';

/** What a driver provides. Its failures are already translated (errors.ts). */
export interface Engine {
  /** Sent in one message with each `begin`; begins with a semicolon. */
  readonly afterBegin?: string;
  connect(): Promise<Session>;
  /** Throws if it cannot write, although it responds. */
  check?(): Promise<void>;
  close(): Promise<void>;
}

/** One connection, for one caller until it is released. */
export interface Session {
  /** The connection broke; whether the last statement was carried out is not known. */
  readonly lost: boolean;
  /** Without parameters the text may hold several statements; the result is then the last one's. */
  query(text: string, parameters: readonly unknown[]): Promise<SessionResult>;
  /**
   * Gives the connection back at once. Resolves when what was committed survives a power failure; rejects if it may not.
   * Further calls do nothing.
   */
  release(): Promise<void>;
}

export interface SessionResult {
  readonly rows: readonly unknown[];
  /** The first word of the command tag: `INSERT`, `COMMIT`, … */
  readonly command: string | undefined;
  readonly affectedRows: number | undefined;
}

/** Milliseconds that closing waits for what is in flight. */
const closeTimeoutMs = 8_000;

/** The opened engine as the rest of the code uses it. */
export function createDatabase(driver: Database['driver'], engine: Engine, gateOptions: GateOptions): Database {
  const gate = createGate(gateOptions);
  const kysely = new Kysely<object>({ dialect: createDialect(engine, gate) });
  let closed: Promise<void> | undefined;
  let checking: Promise<void> | undefined;
  return {
    driver,
    queries: <Tables>() => kysely as unknown as Kysely<Tables>,
    // The services of a process are often checked at the same time. They share a statement.
    check: () => {
      checking ??= sql`select 1`
        .execute(kysely)
        .then(() => engine.check?.())
        .finally(() => {
          checking = undefined;
        });
      return checking;
    },
    // Not Kysely's `destroy`, which closes nothing before the first query.
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
    // Also for PGlite: Kysely's own queue for single connections would make the caller wait before our guard runs.
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
      return new Connection(this.#engine, await this.#engine.connect(), leave);
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
    await connection.release();
  }

  async destroy(): Promise<void> {
    throw new Error('Close the Database, not the query builder');
  }
}

class Connection implements DatabaseConnection {
  readonly #engine: Engine;
  readonly #leave: () => void;
  #session: Session;
  #used = false;
  #over = false;

  constructor(engine: Engine, session: Session, leave: () => void) {
    this.#engine = engine;
    this.#session = session;
    this.#leave = leave;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    // A statement that a failed transaction left behind (a sibling in Promise.all) must not run outside of it.
    if (this.#over) throw new Error('The transaction is over');
    const { rows, command, affectedRows } = await this.#run(query.sql, query.parameters, isPlainRead(query));
    const writes = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE' || command === 'MERGE';
    return { rows: rows as Row[], ...(writes ? { numAffectedRows: BigInt(affectedRows ?? 0) } : {}) };
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('Streaming is not supported: page through the rows instead');
  }

  async begin(settings: TransactionSettings): Promise<void> {
    const level = settings.isolationLevel === undefined ? '' : ` isolation level ${settings.isolationLevel}`;
    await this.#run(`begin${level}${this.#engine.afterBegin ?? ''}`, [], true);
  }

  async end(how: 'commit' | 'rollback'): Promise<void> {
    this.#over = true;
    // The server rolled the transaction back when the connection broke.
    if (how === 'rollback' && this.#session.lost) return;
    const { command } = await this.#session.query(how, []);
    // PostgreSQL responds to a commit with ROLLBACK if a statement failed and the failure was ignored.
    if (how === 'commit' && command === 'ROLLBACK') throw new AbortedTransactionError();
  }

  async release(): Promise<void> {
    const released = this.#session.release();
    // Others may use the connection while this caller waits for the disk.
    this.#leave();
    await released;
  }

  /** A connection may have died while it was idle: its first statement is repeated once, if it changes nothing. */
  async #run(text: string, parameters: readonly unknown[], harmless: boolean): Promise<SessionResult> {
    assertParameters(parameters);
    const first = !this.#used;
    this.#used = true;
    try {
      return await this.#session.query(text, parameters);
    } catch (error) {
      if (!first || !harmless || !this.#session.lost) throw error;
    }
    await this.#session.release();
    this.#session = await this.#engine.connect();
    return this.#session.query(text, parameters);
  }
}

/** A select without `with`, whose parts could write. */
function isPlainRead({ query }: CompiledQuery): boolean {
  return query.kind === 'SelectQueryNode' && query.with === undefined;
}

// The same JavaScript values on both engines, by type OID. Besides what both do (numbers, booleans, timestamptz as
// Date, jsonb parsed, arrays of these): int8 is a safe integer, bytea a Buffer; date, timestamp without zone, interval and
// numeric stay text.

export type Parse = (text: string) => unknown;

const asText: Parse = (text) => text;

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`int8 ${text} exceeds the safe integers; select it as text`);
  return value;
}

export const parsers: Readonly<Record<number, Parse>> = {
  17: (text) => Buffer.from(text.slice(2), 'hex'), // bytea: \x…
  20: parseInt8,
  ...{ 1082: asText, 1114: asText, 1186: asText, 1700: asText }, // date, timestamp, interval, numeric
};

/** Array type → element type. The engines have parsers of their own for the elements that `parsers` lacks. */
export const elementTypes: Readonly<Record<number, number>> = {
  ...{ 1000: 16, 1001: 17, 1005: 21, 1007: 23, 1009: 25, 3807: 3802 }, // boolean, bytea, smallint, integer, text, jsonb
  ...{ 1003: 19, 1015: 1043, 1016: 20, 1021: 700, 1022: 701, 2951: 2950 }, // name, varchar, bigint, real, double, uuid
  ...{ 1115: 1114, 1182: 1082, 1185: 1184, 1187: 1186, 1231: 1700 }, // timestamp, date, timestamptz, interval, numeric
};

/**
 * What a parameter may be. Bare objects are refused because the engines disagree on them; so PGlite's jsonb takes text
 * alone (`refuseBareJson`): an array that pg would send as a PostgreSQL array must not pass the tests there.
 */
function assertParameters(parameters: readonly unknown[]): void {
  for (const value of parameters) {
    const plain = typeof value !== 'object' || value === null || Array.isArray(value);
    if (!plain && !(value instanceof Date) && !(value instanceof Uint8Array))
      throw new TypeError('An object cannot be a query parameter; use json() for jsonb');
  }
}

export function refuseBareJson(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('Use json() for jsonb parameters');
  return value;
}
