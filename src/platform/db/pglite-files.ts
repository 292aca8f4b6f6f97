/** PGlite's files: readable by their owner only, and synced to disk. PGlite's own Node file system ignores syncs. */
import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync } from 'node:fs';
import { promisify } from 'node:util';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

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
export const startParams: readonly string[] = [...PGlite.defaultStartParams, '-c', 'shared_buffers=16MB'];

/** PGlite turns syncing off (`-F`). Its build of PostgreSQL forwards `fsync`, but not the default, `fdatasync`. */
export const syncingStartParams: readonly string[] = [
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
