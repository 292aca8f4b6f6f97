/**
 * Rows name their files by ETags, which contain inodes and times: in a copy of the data folder all of them differ. After a
 * start on another folder than the last one, rows are compared with their files by content, in the background and before
 * anyone reads them, and follow the files that have the same content (docs/objects.md, "Copies of the data folder").
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cache } from '#platform/cache/cache.ts';
import { type FolderState, readFolder, writeFolder } from '#platform/datafolder/identity.ts';
import type { Db } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import { Problem, problems } from '#platform/problem.ts';
import { withDeadline } from '#platform/resilience/deadline.ts';
import { inTurns } from '#platform/turns.ts';
import { bucketOf, type PlacesDeps } from '../locating.ts';
import { type Comparison, compareFile } from './comparing.ts';
import {
  type FolderTables,
  type FollowedFile,
  findFolder,
  findPin,
  findPinned,
  followFiles,
  noteFolder,
  type Pin,
  type PinnedRow,
} from './store.ts';

export interface ReconcilingDeps extends PlacesDeps {
  readonly db: Db<FolderTables>;
  readonly answers: Pick<Cache, 'driver' | 'clear'>;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly folder: FilesFolder;
}

/** Where files are: never empty, as without files there is nothing to reconcile. */
export interface FilesFolder {
  readonly dataDir: string;
  readonly backends: readonly PinnedRow['backend'][];
}

/** From before rows are read until they are used: rows that were read during a comparison may have old ETags. */
export interface Reading {
  /**
   * The rows with the ETags that their files have now. Leaves out rows whose files are missing or have other content.
   * Throws `engine_unavailable` when large files take long to compare; the comparison goes on for the next call.
   */
  current<Row extends PinnedRow>(rows: readonly Row[]): Promise<readonly Row[]>;
}

export interface Reconciler {
  /** To be called before the rows are read. */
  startReading(): Reading;
  /** To be called before requests are served. */
  begin(): Promise<void>;
  /** Resolves when nothing is compared any more. */
  end(): Promise<void>;
}

const rowsPerPage = 500;
/** Requests come first. */
const filesAtOnce = 4;
const longestWaitMs = 10_000;
const retryAfterMs = 5000;
/** If more files are missing or different, every read looks at its file. */
const maxLost = 100_000;
/** Lines in the log for one file each. */
const maxReported = 1000;

interface Counts {
  compared: number;
  moved: number;
  /** Of those moved: rows without a digest. */
  assumed: number;
  missing: number;
  different: number;
  unreadable: number;
}

export function createReconciler(deps: ReconcilingDeps): Reconciler {
  const { db, answers, log, folder } = deps;
  const { dataDir, backends } = folder;
  /** `comparing`: each row is compared with its file before it is read. `trusting`: only those in `lost` are. */
  let state: 'comparing' | 'trusting' = 'comparing';
  /** Rows that were found without their file, with the ETag of the file that was there instead, or `''`. */
  const lost = new Map<string, string>();
  const flights = new Map<string, Promise<Comparison>>();
  const closing = new AbortController();
  let background: Promise<void> = Promise.resolve();
  let reported = 0;
  /** The identity of the folder as this process wrote it. */
  let written: string | undefined;

  /** Of several calls for one row, one compares. */
  function compare(row: PinnedRow, pinOf: () => Promise<Pin | undefined>): Promise<Comparison> {
    const objects = bucketOf(deps, row);
    if (objects === undefined) return Promise.resolve({ found: 'same' });
    const { assetId } = row;
    const running = flights.get(assetId);
    if (running !== undefined) return running;
    const flight = compareFile(objects, { row, pinOf, knownDifferent: lost.get(assetId) }, closing.signal)
      .then((comparison) => note(row, comparison))
      .finally(() => flights.delete(assetId));
    flights.set(assetId, flight);
    return flight;
  }

  function note(row: PinnedRow, comparison: Comparison): Comparison {
    const { assetId, backend, bucket, storageKey } = row;
    const { found } = comparison;
    if (found !== 'missing' && found !== 'different') return comparison;
    const etag = found === 'different' ? comparison.etag : '';
    if (lost.get(assetId) === etag || (!lost.has(assetId) && lost.size >= maxLost)) return comparison;
    lost.set(assetId, etag);
    if (++reported > maxReported) return comparison;
    const what = { assetId, backend, bucket, storageKey };
    if (found === 'missing') log.warn(what, 'the file of an asset is missing');
    else log.error(what, 'the file of an asset has other content than was registered and is not served');
    return comparison;
  }

  async function follow<Row extends PinnedRow>(row: Row): Promise<Row | undefined> {
    const comparison = await compare(row, () => findPin(db, row.assetId));
    if (comparison.found === 'same') return row;
    if (comparison.found !== 'moved') return undefined;
    await followFiles(db, [fileOf(row, comparison)]);
    return { ...row, etag: comparison.newEtag };
  }

  async function compareAll(counts: Counts): Promise<void> {
    let after: string | undefined;
    do {
      const rows = await findPinned(db, backends, after, rowsPerPage);
      const compared = await inTurns(rows, filesAtOnce, (row) => compareOne(row, counts));
      const files = compared.filter((file) => file !== undefined);
      if (files.length > 0) await followFiles(db, files);
      after = rows.length < rowsPerPage ? undefined : rows.at(-1)?.assetId;
    } while (after !== undefined);
  }

  async function compareOne(row: PinnedRow & Pin, counts: Counts): Promise<FollowedFile | undefined> {
    closing.signal.throwIfAborted();
    counts.compared += 1;
    try {
      const comparison = await compare(row, async () => row);
      if (comparison.found === 'moved') {
        counts.moved += 1;
        if (comparison.isAssumed) counts.assumed += 1;
        return fileOf(row, comparison);
      }
      // Others may take legacy files away or replace them.
      if (comparison.found !== 'same' && row.backend === 'objects') counts[comparison.found] += 1;
    } catch (error) {
      closing.signal.throwIfAborted();
      counts.unreadable += 1;
      const { assetId, backend, bucket, storageKey } = row;
      const what = { err: error, assetId, backend, bucket, storageKey };
      if (++reported <= maxReported) log.error(what, 'the file of an asset cannot be read');
    }
    return undefined;
  }

  async function compareInBackground(isNew: boolean): Promise<void> {
    for (;;) {
      const counts = { compared: 0, moved: 0, assumed: 0, missing: 0, different: 0, unreadable: 0 };
      const startedAt = performance.now();
      try {
        await compareAll(counts);
        const { missing, different, unreadable } = counts;
        if (unreadable === 0 && lost.size < maxLost) state = 'trusting';
        const reconciled = missing + different + unreadable === 0;
        await write({ reconciled, missing, different, unreadable });
        const told = { ...counts, tookMs: Math.round(performance.now() - startedAt) };
        if (!reconciled) log.warn(told, 'compared the data folder with its rows: some assets are not readable');
        else if (isNew || counts.moved > 0) log.info(told, 'compared the data folder with its rows');
        return;
      } catch (error) {
        if (closing.signal.aborted) return;
        log.warn({ err: error }, 'the data folder cannot be compared with its rows; trying again');
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
        !backends.includes(backend) || (startedIn === 'trusting' && !lost.has(assetId));
      return {
        current: async (rows) => {
          if (rows.every(isTrusted)) return rows;
          const followed = await withDeadline(longestWaitMs, (signal) =>
            inTurns(rows, filesAtOnce, async (row) => {
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
        // In memory there is nothing yet.
        if (answers.driver === 'redis') await answers.clear();
      }
      if (isKnown && found.state.reconciled) state = 'trusting';
      await write(isKnown ? found.state : unknownState);
      if (state === 'comparing') background = compareInBackground(isNew);
    },
    end: async () => {
      closing.abort();
      await background;
      // So that a copy of the folder from before now is not taken for this one.
      const found = await readFolder(dataDir).catch(() => undefined);
      if (found !== undefined && found.identity === written) await write(found.state);
    },
  };
}

const unknownState: FolderState = { reconciled: false, missing: 0, different: 0, unreadable: 0 };

function fileOf(row: PinnedRow, { newEtag, sha256 }: Comparison & { readonly found: 'moved' }): FollowedFile {
  return { assetId: row.assetId, etag: row.etag, newEtag, sha256 };
}
