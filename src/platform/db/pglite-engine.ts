/** The embedded engine: PGlite, PostgreSQL in this process, and what becomes of it when it breaks. */
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import type { Log } from '../log.ts';
import { problems } from '../problem.ts';
import type { Database } from './db.ts';
import { createDatabase, type Engine, type Session, type SessionResult } from './dialect.ts';
import { translateError } from './errors.ts';
import { applyMigrations, type Migration } from './migrations.ts';
import { parsers, refuseBareJson } from './values.ts';

/** One connection, and a running statement blocks the event loop: the wait for a turn is the only deadline to be had. */
const gateOptions = { width: 1, maxWaiting: 1_000, waitTimeoutMs: 5_000 };
/** Opening takes the event loop for half a second and more. */
const reopenEveryMs = 2_000;

export function createPglite(options: PGliteOptions): Promise<PGlite> {
  return PGlite.create({
    ...options,
    // There for migrations to create (memory); costs nothing where none does.
    extensions: { vector },
    parsers: { ...parsers },
    serializers: { 114: refuseBareJson, 3802: refuseBareJson },
  });
}

export async function migratePglite(lite: PGlite, migrations: readonly Migration[]): Promise<void> {
  await lite.transaction((tx) =>
    applyMigrations(
      {
        run: async (text) => {
          await tx.exec(text);
        },
        query: async <Row>(text: string, parameters: readonly unknown[]) =>
          (await tx.query<Row>(text, [...parameters])).rows,
      },
      migrations,
    ),
  );
}

export interface PgliteLife {
  /** Opens the same data again, after the instance in use broke. */
  readonly reopen: () => Promise<PGlite>;
  readonly afterClose: () => void;
  readonly log: Log;
}

/** From now on nothing else may use `lite`: transactions are plain statements on its one connection. */
export function pgliteDatabase(lite: PGlite, life: PgliteLife): Database {
  return createDatabase('pglite', new PgliteEngine(lite, life), gateOptions);
}

/** One session at a time (the gate is one wide). */
class PgliteEngine implements Engine {
  readonly #life: PgliteLife;
  #lite: PGlite;
  #broken = false;
  #triedAtMs = 0;

  constructor(lite: PGlite, life: PgliteLife) {
    this.#lite = lite;
    this.#life = life;
  }

  async connect(): Promise<Session> {
    if (this.#broken) await this.#reopen();
    return new PgliteSession(this.#lite, (error) => {
      this.#broken = true;
      this.#life.log.error({ reason: error.message }, 'the embedded database failed; reopening it');
    });
  }

  async close(): Promise<void> {
    if (!this.#lite.closed) await this.#lite.close();
    this.#life.afterClose();
  }

  async #reopen(): Promise<void> {
    const sinceMs = performance.now() - this.#triedAtMs;
    if (sinceMs < reopenEveryMs) throw problems.engine_unavailable({ cause: new Error('not yet opened again') });
    this.#triedAtMs = performance.now();
    try {
      if (!this.#lite.closed) await this.#lite.close();
      this.#lite = await this.#life.reopen();
    } catch (error) {
      throw problems.engine_unavailable({ cause: error });
    }
    this.#broken = false;
    this.#life.log.info('reopened the embedded database');
  }
}

class PgliteSession implements Session {
  readonly #lite: PGlite;
  readonly #onBreak: (error: Error) => void;
  lost = false;

  constructor(lite: PGlite, onBreak: (error: Error) => void) {
    this.#lite = lite;
    this.#onBreak = onBreak;
  }

  async query(text: string, parameters: readonly unknown[]): Promise<SessionResult> {
    // A broken instance may never respond to a second query.
    if (this.lost) throw problems.engine_unavailable({ cause: new Error('the embedded database broke') });
    try {
      // As pg does: without parameters the simple protocol, which takes several statements.
      const result =
        parameters.length === 0 ? (await this.#lite.exec(text)).at(-1) : await this.#lite.query(text, [...parameters]);
      return { rows: result?.rows ?? [], command: result?.command, affectedRows: result?.affectedRows };
    } catch (error) {
      throw this.#judge(error);
    }
  }

  release(): void {
    // The one connection stays.
  }

  #judge(error: unknown): unknown {
    if (!isBreak(error)) return translateError(error);
    this.lost = true;
    this.#onBreak(error);
    return problems.engine_unavailable({ cause: error });
  }
}

/** A panic (for example, no space for the write-ahead log), or a fault of the WebAssembly itself. */
function isBreak(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const severity = 'severity' in error ? error.severity : undefined;
  return severity === 'PANIC' || severity === 'FATAL' || error.name === 'RuntimeError' || error.name === 'ExitStatus';
}
