/** The embedded engine: PGlite, PostgreSQL in this process, and what becomes of it when it breaks. */

import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { PGlite, type PGliteOptions, types } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { vector } from '@electric-sql/pglite-pgvector';
import { createPacer } from '../concurrency.ts';
import type { Log } from '../log.ts';
import { problems } from '../problem.ts';
import type { Database } from './db.ts';
import {
  createDatabase,
  type Engine,
  elementTypes,
  parsers,
  refuseBareJson,
  type Session,
  type SessionResult,
} from './dialect.ts';
import { translateError } from './errors.ts';
import { applyMigrations, type Migration, withinTransaction } from './migrations.ts';

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

interface PgliteLife {
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

// PGlite's files: readable by their owner only, and synced to disk. PGlite's own Node file system ignores syncs.

// Syncs of a log file in a thread, one for all callers that wait (group commit).

const syncInThread = promisify(fdatasync);

export class LogSync {
  /** A descriptor of our own: PostgreSQL closes its one while a thread may still sync. */
  #file: { readonly path: string; readonly descriptor: number } | undefined;
  #requests = 0;
  #synced = 0;
  #running: Promise<void> | undefined;
  #failure: unknown;

  get isPending(): boolean {
    return this.#synced < this.#requests;
  }

  /** Requests a sync of the file. A sync of an earlier file is finished first. */
  defer(path: string): void {
    if (this.#file?.path !== path) {
      this.close();
      this.#file = { path, descriptor: openSync(path, 'r') };
    }
    this.#requests += 1;
  }

  /** Syncs at once, and blocks until the disk has everything. Throws the error of the operating system. */
  finish(): void {
    if (!this.isPending || this.#file === undefined) return;
    if (this.#failure !== undefined) throw this.#failure;
    try {
      fdatasyncSync(this.#file.descriptor);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
    this.#synced = this.#requests;
  }

  /**
   * Resolves when everything requested so far is on the disk. Rejects after the first failure for good: the operating
   * system may have dropped the pages that it could not write, and would report success the next time.
   */
  async synced(): Promise<void> {
    const target = this.#requests;
    while (this.#synced < target) {
      if (this.#failure !== undefined) throw this.#failure;
      this.#running ??= this.#run();
      await this.#running;
    }
  }

  /** After a failure, nothing is synced: what was requested since then was never acknowledged. */
  close(): void {
    const file = this.#file;
    if (file === undefined) return;
    if (this.#failure === undefined) this.finish();
    this.#file = undefined;
    void Promise.resolve(this.#running).then(() => closeSync(file.descriptor));
  }

  async #run(): Promise<void> {
    const target = this.#requests;
    try {
      if (this.#file !== undefined) await syncInThread(this.#file.descriptor);
      this.#synced = Math.max(this.#synced, target);
    } catch (error) {
      this.#failure = error;
    } finally {
      this.#running = undefined;
    }
  }
}

type Options = Parameters<NodeFS['init']>[1];

interface Attributes {
  readonly mode?: number;
}

interface FileNode {
  readonly name: string;
  readonly parent: FileNode;
  readonly mount: { readonly opts: { readonly root: string } };
}

interface Stream {
  readonly node: FileNode;
}

type Write = (stream: Stream, buffer: unknown, offset: number, length: number, position: number) => number;

interface NodeFilesystem {
  readonly node_ops: { setattr(node: unknown, attributes: Attributes): void };
  readonly stream_ops: { write: Write; fsync?: (stream: Stream) => number };
}

type Emscripten = object & {
  readonly filesystems?: { readonly NODEFS: NodeFilesystem };
  readonly ErrnoError?: new (errno: number) => Error;
};

/** EIO, by the numbers of WebAssembly's system interface. */
const inputOutputError = 29;

/** The default of 128 MiB is zeroed at each start and stays resident. The operating system caches files anyway. */
const startParams: readonly string[] = [...PGlite.defaultStartParams, '-c', 'shared_buffers=16MB'];

/** PGlite turns syncing off (`-F`). Its build of PostgreSQL forwards `fsync`, but not the default, `fdatasync`. */
const syncingStartParams: readonly string[] = [
  ...startParams.filter((parameter) => parameter !== '-F'),
  '-c',
  'wal_sync_method=fsync',
];

/**
 * A commit syncs the write-ahead log, which would block the event loop for as long as the disk takes. That sync is
 * deferred: PostgreSQL continues, and callers wait in `synced` before they acknowledge. No page of a table may
 * reach the disk before the log that describes it, so a write to any other file finishes a deferred sync first.
 */
export class SyncedFiles extends NodeFS {
  readonly #log = new LogSync();

  /** Resolves when every commit so far survives a power failure. */
  synced(): Promise<void> {
    return this.#log.synced();
  }

  override async init(lite: PGlite, options: Options) {
    const { emscriptenOpts } = await super.init(lite, options);
    const preRun: Options['preRun'] = [({ FS }) => this.#extend(FS), ...(emscriptenOpts.preRun ?? [])];
    return { emscriptenOpts: { ...emscriptenOpts, preRun } };
  }

  override async closeFs(): Promise<void> {
    await super.closeFs();
    this.#log.close();
  }

  #extend({ filesystems, ErrnoError }: Emscripten): void {
    if (filesystems === undefined || ErrnoError === undefined) throw new Error('PGlite has no file system of Node');
    const { node_ops, stream_ops } = filesystems.NODEFS;
    keepPrivate(node_ops);
    const { write } = stream_ops;
    const log = this.#log;
    const orInputOutputError = (operation: () => void) => {
      try {
        operation();
      } catch {
        throw new ErrnoError(inputOutputError);
      }
    };
    stream_ops.write = (stream, ...parameters) => {
      if (log.isPending && !isLogSegment(stream.node)) orInputOutputError(() => log.finish());
      return write(stream, ...parameters);
    };
    stream_ops.fsync = ({ node }) => {
      const path = pathOf(node);
      orInputOutputError(() => (isLogSegment(node) ? log.defer(path) : syncFile(path)));
      return 0;
    };
  }
}

/** Emscripten sets the mode of each file that it creates (0666), whatever the umask is. */
function keepPrivate(operations: NodeFilesystem['node_ops']): void {
  const { setattr } = operations;
  operations.setattr = (node, attributes) => {
    const { mode } = attributes;
    setattr(node, typeof mode === 'number' ? { ...attributes, mode: mode & ~0o077 } : attributes);
  };
}

/** Opened again, because the file system of Node has no descriptor of a folder. */
function syncFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** The write-ahead log consists of segments, named by 24 hexadecimal digits. A draft of one has another name. */
function isLogSegment({ name, parent }: FileNode): boolean {
  return parent.name === 'pg_wal' && /^[0-9A-F]{24}$/.test(name);
}

function pathOf(node: FileNode): string {
  const names: string[] = [];
  let current = node;
  for (; current.parent !== current; current = current.parent) names.unshift(current.name);
  return [current.mount.opts.root, ...names].join('/');
}
