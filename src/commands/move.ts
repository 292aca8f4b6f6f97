/**
 * `npm run move`: moves a data folder to PostgreSQL and, with S3_ENDPOINT, to S3 (docs/operations.md). Each run compares the target
 * with the source and copies what differs, so a run that was killed is repeated. The source is only read, and no instance may be
 * running on it.
 */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import mimeTypes from 'mime';
import { type Config, readConfig } from '#app/config.ts';
import { migrations } from '#app/migrations.ts';
import { createEpochs, type EpochTables } from '#platform/cache/epochs.ts';
import { systemClock as clock } from '#platform/clock.ts';
import { mapConcurrently } from '#platform/concurrency.ts';
import { type Database, transaction } from '#platform/db/db.ts';
import { installationId } from '#platform/db/installation.ts';
import { assertKnown, loadPostgres, openDatabase } from '#platform/db/open.ts';
import { Closers, StartFault } from '#platform/lifecycle.ts';
import { createLog } from '#platform/log.ts';
import type { ListedObject, Objects } from '#platform/objects/objects.ts';
import { openObjects } from '#platform/objects/open.ts';
import { Problem } from '#platform/problem.ts';
import { retry } from '#platform/resilience.ts';
import { moveRows } from './move/rows.ts';
import * as store from './move/store.ts';
import { type Progress, startProgress } from './progress.ts';
import { withReadableErrors } from './readableerrors.ts';
import { readArguments } from './usage.ts';

interface MoveEnds {
  readonly source: Database;
  readonly target: Database;
  readonly sourceObjects: Objects;
  readonly targetObjects: Objects;
  /** If `false`, the files stay where they are. */
  readonly movesObjects: boolean;
}

export async function move(args: readonly string[]): Promise<number> {
  readArguments('move', args, { most: 0 });
  const config = readConfig(process.env, [], { keepSecrets: false });
  if (config.database.url === 'embedded')
    throw new StartFault(
      'DATABASE_URL: set the target database. To move objects too, set S3_ENDPOINT and its settings.',
    );
  const closers = new Closers();
  try {
    await withReadableErrors(async () => {
      const ends = await open(config, closers);
      if (ends === undefined) return console.log('The target already contains this installation. Nothing was changed.');
      await moveAll(ends);
      printRequiredSecrets(config);
    });
    return 0;
  } finally {
    await closers.closeAll();
  }
}

/** Returns `undefined` if the move is already complete. A target of another installation is not changed. */
async function open(config: Config, closers: Closers): Promise<MoveEnds | undefined> {
  const { dataDir } = config.process;
  if (!existsSync(join(dataDir, 'database')))
    throw new StartFault(`ATELIER_DATA_DIR: ${dataDir} contains no database, so there is nothing to move.`);
  const tables = await (await loadPostgres()).tablesOfPostgres(config.database.url);
  if (tables.size > 0 && !tables.has('moving') && !tables.has('migrations'))
    throw new StartFault('DATABASE_URL: the database contains tables of another program. Use an empty one.');
  const log = createLog({ level: 'error' });
  const common = { dataDir, migrations, log, statementTimeoutMs: 0 };
  const openOne = async (where: string, url: string, unfinished: boolean) => {
    const opened = await openDatabase({ ...common, url, unfinished });
    closers.add(where, () => opened.close());
    await assertKnown(opened, migrations, where);
    return opened;
  };
  const source = await openOne('ATELIER_DATA_DIR', 'embedded', false);
  const sourceId = await installationId(source.queries());
  const files = { dataDir, clock, log, production: config.process.production };
  const { originals: sourceObjects } = await openObjects({
    ...files,
    settings: { ...config.objects, endpoint: 'embedded' },
  });
  const objects = await openObjects({ ...files, settings: config.objects });
  closers.add('objects', () => objects.close());
  const targetObjects = objects.originals;
  const movesObjects = objects.driver === 's3';
  await targetObjects.check();
  const target = await openOne('DATABASE_URL', config.database.url, true);
  const begun = tables.has('moving') ? await store.readMove(target.queries()) : undefined;
  if (begun === undefined && (await isMoved(target, sourceId))) return undefined;
  if (begun !== undefined && begun.id !== sourceId)
    throw new StartFault('DATABASE_URL: another installation is being moved into this database.');
  const bucket = `${config.objects.endpoint}/${targetObjects.bucket}`;
  if (movesObjects && begun?.bucket !== bucket) await assertEmpty(targetObjects);
  await store.beginMove(target.queries(), { id: sourceId, ...(movesObjects && { bucket }) });
  return { source, target, sourceObjects, targetObjects, movesObjects };
}

/** Returns `false` if the target is empty. Throws StartFault if it contains rows of another installation. */
async function isMoved(target: Database, sourceId: string): Promise<boolean> {
  const db = target.queries<object>();
  const tables = await store.readTables(db);
  // A key that only a migration generated has not been used yet.
  for (const { name } of tables.filter(({ name }) => name !== 'unsubscribe_keys'))
    if ((await store.countRows(db, name)) > 0) {
      if ((await installationId(target.queries())) === sourceId) return true;
      throw new StartFault(`DATABASE_URL: the database already contains rows (${name}). Use an empty one.`);
    }
  return false;
}

async function assertEmpty(objects: Objects): Promise<void> {
  for await (const { key } of objects.list(''))
    throw new StartFault(
      `S3_BUCKET: the bucket "${objects.bucket}" already contains objects (${key}). Use an empty one.`,
    );
}

async function moveAll(ends: MoveEnds): Promise<void> {
  const { source, target, sourceObjects, targetObjects, movesObjects } = ends;
  if (movesObjects) {
    const progress = startProgress('Objects', await bytesOf(sourceObjects));
    const count = await moveObjects(sourceObjects, targetObjects, progress);
    progress.end();
    console.log(`${count} objects moved and verified.`);
  }
  const progress = startProgress('Rows', await rowsOf(source));
  const rows = await moveRows(source.queries(), target.queries(), progress);
  progress.end();
  console.log(`${rows} rows moved and verified.`);
  if (movesObjects) await followObjects(ends);
  // A Redis that is still in use may contain URLs of the old files.
  await createEpochs(target.queries<EpochTables>(), 'media').raise();
  await transaction(
    target.queries<object>(),
    async (tx) => {
      if (movesObjects) await store.writeBucketOfJobs(tx, sourceObjects.bucket, targetObjects.bucket);
      await store.endMove(tx);
    },
    store.longestMs,
  );
}

async function bytesOf(objects: Objects): Promise<number> {
  let bytes = 0;
  for await (const { size } of objects.list('')) bytes += size;
  return bytes;
}

async function rowsOf(source: Database): Promise<number> {
  let rows = 0;
  for (const { name } of await store.readTables(source.queries()))
    rows += await store.countRows(source.queries(), name);
  return rows;
}

/** Prints what no database contains: keys that keep sessions and URLs valid. */
function printRequiredSecrets({ process: { dataDir } }: Config): void {
  const file = join(dataDir, 'secrets.json');
  const names = existsSync(file) ? Object.keys(JSON.parse(readFileSync(file, 'utf8'))) : [];
  console.log('The move is complete. The data folder is unchanged. Do not start it with the old settings again.');
  if (names.length > 0)
    console.log(`Processes that do not share the data folder need these variables from ${file}: ${names.join(', ')}.`);
}

const pageLength = 200;
const objectsAtOnce = 8;
const retryOptions = {
  attempts: 5,
  baseDelayMs: 500,
  maxDelayMs: 8000,
  isRetryable: (error: unknown) => error instanceof Problem,
};

/** Makes the target equal to the source, and returns the number of objects. */
async function moveObjects(source: Objects, target: Objects, progress: Progress): Promise<number> {
  let count = 0;
  for await (const page of pagesOf(source)) {
    await mapConcurrently(page, objectsAtOnce, async (object) => {
      await retry(() => moveObject(source, target, object), retryOptions);
      progress.add(object.size);
    });
    count += page.length;
  }
  // The source was used after an earlier run.
  for await (const { key } of target.list('')) if ((await source.head(key)) === undefined) await target.remove([key]);
  return count;
}

async function* pagesOf(objects: Objects): AsyncGenerator<readonly ListedObject[]> {
  let page: ListedObject[] = [];
  for await (const object of objects.list('')) {
    page.push(object);
    if (page.length < pageLength) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

/** Does nothing if the target has the same bytes. A copy is read back and compared. */
async function moveObject(source: Objects, target: Objects, { key, etag, size }: ListedObject): Promise<void> {
  const digest = await digestOf(source, key);
  if (digest !== undefined && (await digestOf(target, key)) === digest) return;
  const body = await source.get(key, { ifMatch: etag });
  if (body === undefined)
    throw new StartFault(`${key} disappeared during the move: an instance is still running on the source.`);
  const contentType = mimeTypes.getType(key) ?? 'application/octet-stream';
  await target.put(key, body.stream, { contentType, size });
  if ((await digestOf(target, key)) !== digest)
    throw new StartFault(`S3_ENDPOINT: ${key} has different bytes after the upload.`);
}

/** Returns the SHA-256, or `undefined` if there is no such object. */
async function digestOf(objects: Objects, key: string): Promise<string | undefined> {
  const body = await objects.get(key);
  if (body === undefined) return undefined;
  const digest = createHash('sha256');
  for await (const chunk of body.stream) digest.update(chunk);
  return digest.digest('hex');
}

/** Gives the rows of assets the new bucket, and the ETags that the objects have there. */
async function followObjects({ target, sourceObjects, targetObjects }: MoveEnds): Promise<void> {
  const db = target.queries<object>();
  for (let after: string | undefined; ; ) {
    const assets = await store.readAssets(db, sourceObjects.bucket, after);
    await mapConcurrently(assets, objectsAtOnce, async (asset) => {
      const etag = await retry(() => newEtagOf(asset, sourceObjects, targetObjects), retryOptions);
      await store.placeAsset(db, asset.assetId, targetObjects.bucket, etag);
    });
    after = assets.at(-1)?.assetId;
    if (after === undefined) return;
  }
}

/** A row whose object has other bytes retains its ETag. In a copy of a data folder, only the digest shows which bytes are the same. */
async function newEtagOf({ key, etag, size, sha256 }: store.Asset, source: Objects, target: Objects): Promise<string> {
  const [original, copy] = await Promise.all([source.head(key), target.head(key)]);
  if (original === undefined || copy === undefined) return etag;
  const hasBytes = async () => (sha256 === null ? original.size === size : (await digestOf(source, key)) === sha256);
  return original.etag === etag || (await hasBytes()) ? copy.etag : etag;
}
