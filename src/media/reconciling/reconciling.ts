/**
 * Rows identify files by ETags, which contain inodes and times. In a copy of the data folder, all of them differ. After
 * a start on another folder than before, rows are compared with their files by content, in the background and before
 * they are used, and get the new ETags of files with the same content (docs/objects.md#copies-of-the-data-folder).
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mapConcurrently } from '#platform/concurrency/mapconcurrently.ts';
import { type FolderState, readFolder, writeFolder } from '#platform/datafolder/identity.ts';
import { Problem, problems } from '#platform/problem.ts';
import { withDeadline } from '#platform/resilience/deadline.ts';
import type { MediaStores, Reading } from '../context.ts';
import { type ComparedRow, type Comparison, createComparer } from './comparing.ts';
import { type FollowedFile, findFolder, findPinned, followFiles, noteFolder, type PinnedRow } from './folderstore.ts';

/** The buckets with files. Never empty: without files there is nothing to reconcile. */
export interface FilesFolder {
  readonly dataDir: string;
  readonly backends: readonly PinnedRow['backend'][];
}

export interface Reconciler {
  /** Call it before the rows are read. */
  startReading(): Reading;
  /** Call it before requests are served. */
  begin(): Promise<void>;
  /** Resolves when no comparison is running. */
  end(): Promise<void>;
}

const rowsPerPage = 500;
/** The limit of one request. */
const filesAtOnce = 4;
/** The number of requests that wait for the thread, so that it never waits for the event loop. */
const filesInLine = 64;
/** In a wrong folder, every row is doubtful. */
const maxDoubtful = 10_000;
const longestWaitMs = 10_000;
const retryAfterMs = 5000;

interface Counts {
  compared: number;
  moved: number;
  /** Of those moved: rows without a digest. */
  assumed: number;
  missing: number;
  different: number;
  unreadable: number;
}

export function createReconciler(stores: MediaStores, { dataDir, backends }: FilesFolder): Reconciler {
  const { db, signedUrls, log } = stores;
  const comparer = createComparer(stores, dataDir);
  /** `comparing`: each row is compared with its file before it is used. `trusting`: only rows that lost theirs are. */
  let state: 'comparing' | 'trusting' = 'comparing';
  const closing = new AbortController();
  let background: Promise<void> = Promise.resolve();
  /** The identity of the folder that this process wrote. */
  let written: string | undefined;

  async function follow<Row extends PinnedRow>(row: Row): Promise<Row | undefined> {
    const comparison = await comparer.compare(row, 'request');
    comparer.report(row, comparison);
    if (comparison.found !== 'same' && comparison.found !== 'moved') return undefined;
    if (comparison.found === 'moved') await followFiles(db, [fileOf(row, comparison)]);
    return { ...row, etag: comparison.etag };
  }

  async function compareAll(): Promise<Counts> {
    const counts = { compared: 0, moved: 0, assumed: 0, missing: 0, different: 0, unreadable: 0 };
    const doubtful: ComparedRow[] = [];
    // Checks again: rows and files that were being deleted are gone by now.
    const judgeAll = async () => {
      for (const row of doubtful.splice(0)) await judge(row, counts);
    };
    for await (const rows of pages()) {
      counts.compared += rows.length;
      doubtful.push(...(await comparePage(rows, counts)));
      if (doubtful.length >= maxDoubtful) await judgeAll();
    }
    await judgeAll();
    return counts;
  }

  async function* pages(): AsyncGenerator<readonly ComparedRow[]> {
    let after: string | undefined;
    do {
      const rows = await findPinned(db, backends, after, rowsPerPage);
      yield rows;
      after = rows.length < rowsPerPage ? undefined : rows.at(-1)?.assetId;
    } while (after !== undefined);
  }

  /** Returns the rows whose files are lost or cannot be read. */
  async function comparePage(rows: readonly ComparedRow[], counts: Counts): Promise<readonly ComparedRow[]> {
    const doubtful: ComparedRow[] = [];
    const moved: FollowedFile[] = [];
    await mapConcurrently(rows, filesInLine, async (row) => {
      closing.signal.throwIfAborted();
      const comparison = await comparer.compare(row, 'background').catch(() => undefined);
      if (comparison === undefined || comparison.found === 'missing' || comparison.found === 'different')
        doubtful.push(row);
      if (comparison?.found !== 'moved') return;
      counts.moved += 1;
      if (comparison.isAssumed) counts.assumed += 1;
      moved.push(fileOf(row, comparison));
    });
    if (moved.length > 0) await followFiles(db, moved);
    return doubtful;
  }

  async function judge(row: ComparedRow, counts: Counts): Promise<void> {
    closing.signal.throwIfAborted();
    try {
      const comparison = await comparer.compare(row, 'background');
      comparer.report(row, comparison);
      const { found } = comparison;
      // Other systems can remove or replace legacy files.
      if ((found === 'missing' || found === 'different') && row.backend === 'objects') counts[found] += 1;
    } catch (error) {
      closing.signal.throwIfAborted();
      counts.unreadable += 1;
      comparer.reportUnreadable(row, error);
    }
  }

  async function compareInBackground(isNew: boolean): Promise<void> {
    const startedAt = performance.now();
    while (!closing.signal.aborted) {
      try {
        const counts = await compareAll();
        const { missing, different, unreadable } = counts;
        if (unreadable === 0 && !comparer.isFull()) state = 'trusting';
        const reconciled = missing + different + unreadable === 0;
        await write({ reconciled, missing, different, unreadable });
        const summary = { ...counts, tookMs: Math.round(performance.now() - startedAt) };
        if (!reconciled) log.warn(summary, 'compared the data folder with its rows: some assets are not readable');
        else if (isNew || counts.moved > 0) log.info(summary, 'compared the data folder with its rows');
        return;
      } catch (error) {
        if (closing.signal.aborted) return;
        log.warn({ err: error }, 'the data folder cannot be compared with its rows; retrying');
        await sleep(retryAfterMs, undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
  }

  /** Without it the next start compares again. */
  async function write(folderState: FolderState): Promise<void> {
    try {
      await writeFolder(dataDir, folderState);
      written = (await readFolder(dataDir))?.identity;
      if (written !== undefined) await noteFolder(db, written);
    } catch (error) {
      log.warn({ err: error }, 'the state of the data folder cannot be written');
    }
  }

  return {
    startReading: () => {
      const startedIn = state;
      const isTrusted = ({ assetId, backend }: PinnedRow) =>
        !backends.includes(backend) || (startedIn === 'trusting' && !comparer.isLost(assetId));
      return {
        current: async (rows) => {
          if (rows.every(isTrusted)) return rows;
          const followed = await withDeadline(longestWaitMs, (signal) =>
            mapConcurrently(rows, filesAtOnce, async (row) => {
              signal.throwIfAborted();
              return isTrusted(row) ? row : follow(row);
            }),
          ).catch((error: unknown) => {
            throw error instanceof Problem ? error : problems.engine_unavailable({ cause: error });
          });
          return followed.filter((row) => row !== undefined);
        },
      };
    },
    begin: async () => {
      if (backends.includes('objects')) await mkdir(join(dataDir, 'objects'), { recursive: true, mode: 0o700 });
      const noted = await findFolder(db);
      const found = await readFolder(dataDir).catch((error: unknown) => {
        log.warn({ err: error }, 'the state of the data folder cannot be read');
        return undefined;
      });
      const isKnown = found !== undefined && found.identity === noted;
      const isNew = noted !== undefined && !isKnown;
      if (isNew) {
        log.warn({ dataDir }, 'the data folder is not that of the last start; its files are compared with their rows');
        // A database in memory is empty here.
        if (signedUrls.driver === 'redis') await signedUrls.clear();
      }
      if (isKnown && found.state.reconciled) state = 'trusting';
      await write(isKnown ? found.state : unknownState);
      if (state === 'comparing') background = compareInBackground(isNew);
    },
    end: async () => {
      closing.abort();
      await comparer.close();
      await background;
      // So that an earlier copy of the folder is not taken for this one.
      const found = await readFolder(dataDir).catch(() => undefined);
      if (found !== undefined && found.identity === written) await write(found.state);
    },
  };
}

const unknownState: FolderState = { reconciled: false, missing: 0, different: 0, unreadable: 0 };

function fileOf(row: PinnedRow, { etag, sha256 }: Comparison & { readonly found: 'moved' }): FollowedFile {
  return { assetId: row.assetId, etag: row.etag, newEtag: etag, sha256 };
}
