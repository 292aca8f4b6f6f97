/** Compares the file of a row with the registered one, by its ETag, else by its SHA-256. */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { bucketFolder } from '#platform/objects/open.ts';
import type { MediaStores } from '../context.ts';
import { bucketOf } from '../lookup/assetlookup.ts';
import { findPin, type PinnedRow } from './folderstore.ts';
import type { ReadingReply, ReadingRequest, SeenFile } from './messages.ts';

export type Comparison =
  /** The current file of the row, with this ETag. */
  | { readonly found: 'same'; readonly etag: string }
  /** The same content under another ETag. `isAssumed`: the row has no digest, so the size alone decides. */
  | { readonly found: 'moved'; readonly etag: string; readonly sha256: string; readonly isAssumed: boolean }
  | { readonly found: 'missing' }
  /** Other content, under this ETag. */
  | { readonly found: 'different'; readonly etag: string }
  /** The row has changed. */
  | { readonly found: 'changed' };

/** A row, with its digest if the caller has read it. */
export type ComparedRow = PinnedRow & { readonly sha256?: string | null };

/** Each has a thread, so that requests do not wait for background reads. */
type Purpose = 'request' | 'background';

export interface Comparer {
  /** One of several concurrent calls for a row reads the file. Rejects if it cannot be read. */
  compare(row: ComparedRow, purpose: Purpose): Promise<Comparison>;
  /** Remembers and logs that a row has lost its file. */
  report(row: PinnedRow, comparison: Comparison): void;
  reportUnreadable(row: PinnedRow, error: unknown): void;
  /** It was reported, and the file may exist again. */
  isLost(assetId: string): boolean;
  /** More files are lost than can be remembered. */
  isFull(): boolean;
  /** Ends the current reads. */
  close(): Promise<void>;
}

const maxLost = 100_000;
/** Lines in the log for one file each. */
const maxReported = 1000;

export function createComparer(stores: MediaStores, dataDir: string): Comparer {
  const { db, log } = stores;
  const readers: Readonly<Record<Purpose, Reader>> = { request: createReader(), background: createReader() };
  const running = new Map<string, Promise<Comparison>>();
  /** The ETag of the file that replaced it, or `''`. */
  const lost = new Map<string, string>();
  let reported = 0;

  async function read(row: ComparedRow, reader: Reader): Promise<Comparison> {
    const { assetId, backend, bucket, storageKey, etag: pinned, byteSize } = row;
    const root = bucketFolder(dataDir, backend, bucket);
    const knownEtags = [pinned, lost.get(assetId) ?? ''];
    const file = await reader.look({ root, path: join(root, storageKey), byteSize, knownEtags });
    if (file?.etag === pinned) return { found: 'same', etag: pinned };
    if (file?.sha256 !== undefined && file.sha256 === row.sha256)
      return { found: 'moved', etag: file.etag, sha256: file.sha256, isAssumed: false };
    const pin = await findPin(db, assetId);
    // Another comparison was first.
    if (pin !== undefined && pin.etag === file?.etag) return { found: 'same', etag: pin.etag };
    if (pin?.etag !== pinned) return { found: 'changed' };
    if (file === undefined) return { found: 'missing' };
    const { etag, sha256 } = file;
    if (sha256 === undefined || (pin.sha256 ?? sha256) !== sha256) return { found: 'different', etag };
    return { found: 'moved', etag, sha256, isAssumed: pin.sha256 === null };
  }

  const placeOf = ({ assetId, backend, bucket, storageKey }: PinnedRow) => ({ assetId, backend, bucket, storageKey });

  return {
    compare: (row, purpose) => {
      const { assetId, etag } = row;
      // The files of a bucket that is not configured are unknown.
      if (bucketOf(stores, row) === undefined) return Promise.resolve({ found: 'same', etag });
      const name = `${purpose} ${assetId} ${etag}`;
      const comparison = running.get(name) ?? read(row, readers[purpose]).finally(() => running.delete(name));
      running.set(name, comparison);
      return comparison;
    },
    report: (row, comparison) => {
      const { assetId, backend } = row;
      if (comparison.found !== 'missing' && comparison.found !== 'different') return;
      const etag = comparison.found === 'different' ? comparison.etag : '';
      if (lost.get(assetId) === etag || (!lost.has(assetId) && lost.size >= maxLost)) return;
      lost.set(assetId, etag);
      if (++reported > maxReported) return;
      // Other systems can remove or replace legacy files.
      const level = comparison.found === 'different' && backend === 'objects' ? 'error' : 'warn';
      if (comparison.found === 'missing') log[level](placeOf(row), 'the file of an asset is missing');
      else
        log[level](
          placeOf(row),
          'the content of the file of an asset differs from the registered content; the file is not served',
        );
    },
    reportUnreadable: (row, error) => {
      if (++reported <= maxReported) log.error({ err: error, ...placeOf(row) }, 'the file of an asset cannot be read');
    },
    isLost: (assetId) => lost.has(assetId),
    isFull: () => lost.size >= maxLost,
    close: async () => {
      await Promise.all(Object.values(readers).map((reader) => reader.close()));
    },
  };
}

// Reads files in a thread, which exists while there are files to read.

interface Reader {
  /** `undefined`: there is no such file. Rejects if it cannot be read, and when the reader is closed. */
  look(task: ReadingRequest): Promise<SeenFile | undefined>;
  /** Ends the current reads. */
  close(): Promise<void>;
}

/** Starting a thread takes longer than reading a file. */
const idleMs = 1000;

function createReader(): Reader {
  /** In the order of the thread's replies. */
  const waiting: PromiseWithResolvers<SeenFile | undefined>[] = [];
  let thread: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let isClosed = false;

  function start(): Worker {
    const worker = new Worker(new URL('./thread.ts', import.meta.url));
    worker.on('message', (reply: ReadingReply) => {
      const pending = waiting.shift();
      if ('failure' in reply) pending?.reject(new Error(`the file cannot be read (${reply.failure})`));
      else pending?.resolve(reply.file);
      if (waiting.length === 0) idle = setTimeout(() => void stop(), idleMs).unref();
    });
    worker.on('error', (error: Error) => abandon(worker, error));
    worker.on('exit', () => abandon(worker, new Error('the reading thread ended')));
    return worker;
  }

  function abandon(worker: Worker, error: Error): void {
    if (thread !== worker) return;
    thread = undefined;
    for (const pending of waiting.splice(0)) pending.reject(error);
  }

  async function stop(): Promise<void> {
    clearTimeout(idle);
    const ending = thread;
    if (ending === undefined) return;
    abandon(ending, new Error('the reader is closed'));
    await ending.terminate();
  }

  return {
    look: (task) => {
      if (isClosed) return Promise.reject(new Error('the reader is closed'));
      clearTimeout(idle);
      thread ??= start();
      thread.postMessage(task);
      const pending = Promise.withResolvers<SeenFile | undefined>();
      waiting.push(pending);
      return pending.promise;
    },
    close: () => {
      isClosed = true;
      return stop();
    },
  };
}
