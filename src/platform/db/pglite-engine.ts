/** The embedded engine: PGlite, PostgreSQL in this process, and what becomes of it when it breaks. */
import { PGlite, type PGliteOptions, types } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { createPacer } from '../concurrency.ts';
import type { Log } from '../log.ts';
import { problems } from '../problem.ts';
import type { Database } from './db.ts';
import type { Engine, Session, SessionResult } from './dialect.ts';
import { createDatabase, elementTypes, parsers, refuseBareJson } from './dialect.ts';
import { translateError } from './errors.ts';
import { applyMigrations, type Migration, withinTransaction } from './migrations.ts';
import { SyncedFiles, startParams, syncingStartParams } from './pglite-files.ts';

/** One connection, and a running statement blocks the event loop: the wait for a turn is the only deadline to be had. */
const gateOptions = { width: 1, maxWaiting: 1_000, waitTimeoutMs: 5_000 };
/** Opening takes the event loop for half a second and more. */
const reopenEveryMs = 2_000;
const longestIntervalMs = 2 ** 31 - 1;

export interface OpenPglite {
  readonly lite: PGlite;
  /** Resolves when every commit so far survives a power failure; absent for a database in memory. */
  readonly synced?: () => Promise<void>;
}

/** A database in a folder, for one process. */
export async function openFolder(folder: string, options: PGliteOptions = {}): Promise<OpenPglite> {
  const fs = new SyncedFiles(folder);
  const lite = await createPglite({ ...options, fs, startParams: [...syncingStartParams] });
  return { lite, synced: () => fs.synced() };
}

export async function createPglite(options: PGliteOptions): Promise<PGlite> {
  // V8 compiles WebAssembly outside of the event loop. If the loop is empty, Node blocks until V8 has optimized the code, too.
  const busy = setInterval(() => undefined, longestIntervalMs);
  try {
    const lite = new Lite({
      startParams: [...startParams],
      ...options,
      // There for migrations to create (memory); costs nothing where none does.
      extensions: { vector },
      parsers: { ...parsers },
      serializers: { 114: refuseBareJson, 3802: refuseBareJson },
    });
    await lite.waitReady;
    return lite;
  } finally {
    clearInterval(busy);
  }
}

/** PGlite would query the catalog for the array types, which takes a twentieth of a start. The types in use never change. */
class Lite extends PGlite {
  override async _initArrayTypes(): Promise<void> {
    for (const [array = 0, element = 0] of Object.entries(elementTypes).map((pair) => pair.map(Number))) {
      this.parsers[array] = (text) => types.arrayParser(text, this.parsers[element] ?? String, array);
      this.serializers[array] = (value) => types.arraySerializer(value, this.serializers[element], array);
    }
  }
}

export async function migratePglite(lite: PGlite, migrations: readonly Migration[]): Promise<void> {
  await lite.transaction(async (tx) => {
    await applyMigrations(
      {
        run: async (text) => void (await tx.exec(text)),
        query: async <Row>(text: string, parameters: readonly unknown[]) =>
          (await tx.query<Row>(text, [...parameters])).rows,
      },
      withinTransaction(migrations),
    );
  });
}

export interface PgliteLife {
  /** Throws `storage_full`. Absent for a database in memory. */
  readonly assertSpace?: () => void;
  /** Opens the same data again, after the instance in use broke. */
  readonly reopen: () => Promise<OpenPglite>;
  readonly afterClose: () => void;
  readonly log: Log;
}

/** From now on nothing else may use the instance: transactions are plain statements on its one connection. */
export function pgliteDatabase(open: OpenPglite, life: PgliteLife): Database {
  return createDatabase('pglite', new PgliteEngine(open, life), gateOptions);
}

/** One session at a time (the gate is one wide). */
class PgliteEngine implements Engine {
  readonly #life: PgliteLife;
  /** Queries return without a turn of the event loop, so callers that wait for each other would block everything else. */
  readonly #pace = createPacer();
  #open: OpenPglite;
  #broken = false;
  #triedAtMs = 0;

  constructor(open: OpenPglite, life: PgliteLife) {
    this.#open = open;
    this.#life = life;
  }

  async connect(): Promise<Session> {
    await this.#pace();
    if (this.#broken) await this.#reopen();
    const used = this.#open;
    return new PgliteSession(used, this.#life.assertSpace, (error) => {
      if (this.#open !== used || this.#broken) return;
      this.#broken = true;
      this.#life.log.error({ reason: error.message }, 'the embedded database failed; reopening it');
    });
  }

  async check(): Promise<void> {
    this.#life.assertSpace?.();
  }

  async close(): Promise<void> {
    if (!this.#open.lite.closed) await this.#open.lite.close();
    this.#life.afterClose();
  }

  async #reopen(): Promise<void> {
    const sinceMs = performance.now() - this.#triedAtMs;
    if (sinceMs < reopenEveryMs) throw problems.engine_unavailable({ cause: new Error('not yet opened again') });
    this.#triedAtMs = performance.now();
    try {
      // A broken instance may be unable to close. Its files are then recovered from the log.
      if (!this.#open.lite.closed) await this.#open.lite.close().catch(() => undefined);
      this.#open = await this.#life.reopen();
    } catch (error) {
      throw problems.engine_unavailable({ cause: error });
    }
    this.#broken = false;
    this.#life.log.info('reopened the embedded database');
  }
}

class PgliteSession implements Session {
  readonly #open: OpenPglite;
  readonly #assertSpace: PgliteLife['assertSpace'];
  readonly #onBreak: (error: Error) => void;
  lost = false;

  constructor(open: OpenPglite, assertSpace: PgliteLife['assertSpace'], onBreak: (error: Error) => void) {
    this.#assertSpace = assertSpace;
    this.#open = open;
    this.#onBreak = onBreak;
  }

  async query(text: string, parameters: readonly unknown[]): Promise<SessionResult> {
    // A broken instance may never respond to a second query.
    if (this.lost) throw problems.engine_unavailable({ cause: new Error('the embedded database broke') });
    if (!needsNoSpace.test(text)) this.#assertSpace?.();
    const { lite } = this.#open;
    try {
      // As pg does: without parameters the simple protocol, which takes several statements.
      const result = parameters.length === 0 ? (await lite.exec(text)).at(-1) : await lite.query(text, [...parameters]);
      return { rows: result?.rows ?? [], command: result?.command, affectedRows: result?.affectedRows };
    } catch (error) {
      throw this.#judge(error);
    }
  }

  /** The one connection stays, and the next caller may use it while the disk still syncs. */
  async release(): Promise<void> {
    try {
      await this.#open.synced?.();
    } catch (error) {
      this.#onBreak(error instanceof Error ? error : new Error(String(error)));
      throw problems.engine_unavailable({ cause: error });
    }
  }

  #judge(error: unknown): unknown {
    if (!isBreak(error)) return translateError(error);
    this.lost = true;
    this.#onBreak(error);
    return problems.engine_unavailable({ cause: error });
  }
}

/** Deletions make room. */
const needsNoSpace = /^\s*(select|delete|begin|commit|rollback|set|show)\b/i;

/** A panic (for example, no space for the write-ahead log), or a fault of the WebAssembly itself. */
function isBreak(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const severity = 'severity' in error ? error.severity : undefined;
  return severity === 'PANIC' || severity === 'FATAL' || error.name === 'RuntimeError' || error.name === 'ExitStatus';
}
