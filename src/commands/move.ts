/**
 * `npm run move`: moves a data folder to PostgreSQL and, with S3_ENDPOINT, to S3 (docs/operations.md). If it is killed, the next run
 * continues. The source is only read, and no instance may be running on it.
 */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import mimeTypes from 'mime';
import { type Config, readConfig } from '#app/config.ts';
import { migrations } from '#app/migrations.ts';
import * as store from '#media/reconciling/relocationstore.ts';
import { createEpochs, type EpochTables } from '#platform/cache/epochs.ts';
import { systemClock as clock } from '#platform/clock.ts';
import { mapConcurrently } from '#platform/concurrency.ts';
import { type Database, type Db, transaction } from '#platform/db/db.ts';
import { installationId } from '#platform/db/installation.ts';
import { assertKnown, loadPostgres, openDatabase } from '#platform/db/open.ts';
import { Closers, StartFault } from '#platform/lifecycle.ts';
import { createLog } from '#platform/log.ts';
import type { ListedObject, Objects } from '#platform/objects/objects.ts';
import { openObjects } from '#platform/objects/open.ts';
import { Problem } from '#platform/problem.ts';
import { retry } from '#platform/resilience.ts';
import { moveRows } from './move/rows.ts';
import { beginNotes, countRows, endNotes, hasRows, longestMs, readNote, readTables, writeNote } from './move/store.ts';
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
  const state = await targetState(target, sourceId, tables.has('moving'));
  if (state === 'done') return undefined;
  if (state === 'empty') {
    if (movesObjects) await assertEmpty(targetObjects);
    await beginNotes(target.queries());
    await writeNote(target.queries(), 'source', { id: sourceId });
  }
  await store.createRelocations(target.queries());
  return { source, target, sourceObjects, targetObjects, movesObjects };
}

/** Returns the state of the move into this target. Throws StartFault if the target belongs to another installation. */
async function targetState(
  target: Database,
  sourceId: string,
  isMoving: boolean,
): Promise<'empty' | 'moving' | 'done'> {
  const db = target.queries<object>();
  const started = isMoving ? await readNote<{ id: string }>(db, 'source') : undefined;
  if (started?.id === sourceId) return 'moving';
  if (started !== undefined)
    throw new StartFault('DATABASE_URL: another installation is being moved into this database.');
  const tables = await readTables(db);
  // A key that only a migration generated has not been used yet.
  for (const { name } of tables.filter(({ name }) => name !== 'unsubscribe_keys'))
    if (await hasRows(db, name)) {
      if ((await installationId(target.queries())) === sourceId) return 'done';
      throw new StartFault(`DATABASE_URL: the database already contains rows (${name}). Use an empty one.`);
    }
  return 'empty';
}

async function assertEmpty(objects: Objects): Promise<void> {
  for await (const { key } of objects.list(''))
    throw new StartFault(
      `S3_BUCKET: the bucket "${objects.bucket}" already contains objects (${key}). Use an empty one.`,
    );
}

async function moveAll({ source, target, sourceObjects, targetObjects, movesObjects }: MoveEnds): Promise<void> {
  const notes = target.queries<object>();
  if (movesObjects) {
    const progress = startProgress('Objects', await bytesOf(sourceObjects));
    const count = await moveObjects({ source: sourceObjects, target: targetObjects, notes, progress });
    progress.end();
    console.log(`${count} objects moved and verified.`);
  }
  const progress = startProgress('Rows', await rowsOf(source));
  const rows = await moveRows(source, target, progress);
  progress.end();
  console.log(`${rows} rows moved and verified.`);
  // A Redis that is still in use may contain URLs of the old files.
  await createEpochs(target.queries<EpochTables>(), 'media').raise();
  await transaction(
    notes,
    async (tx) => {
      await store.relocateAssets(tx, sourceObjects.bucket, targetObjects.bucket);
      await endNotes(tx);
    },
    longestMs,
  );
}

async function bytesOf(objects: Objects): Promise<number> {
  let bytes = 0;
  for await (const { size } of objects.list('')) bytes += size;
  return bytes;
}

async function rowsOf(source: Database): Promise<number> {
  let rows = 0;
  for (const { name } of await readTables(source.queries())) rows += await countRows(source.queries(), name);
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

// Moves the objects. Each is read back and compared before it is recorded as moved, so a repeated run continues.

interface ObjectsMove {
  readonly source: Objects;
  readonly target: Objects;
  /** The database that records the location of each object. */
  readonly notes: Db<object>;
  readonly progress: Progress;
}

const pageLength = 200;
const objectsAtOnce = 8;
const retryOptions = {
  attempts: 5,
  baseDelayMs: 500,
  maxDelayMs: 8000,
  isRetryable: (error: unknown) => error instanceof Problem,
};

/** Returns the number of objects. Throws StartFault if the target contains an object that the source does not have. */
async function moveObjects(move: ObjectsMove): Promise<number> {
  let count = 0;
  for await (const page of pagesOf(move.source)) {
    await moveMissing(move, page);
    count += page.length;
  }
  const found = await verifyTarget(move);
  if (found !== count)
    throw new StartFault(`S3_BUCKET: the bucket has only ${found} of ${count} objects. Run \`npm run move\` again.`);
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

async function moveMissing(move: ObjectsMove, page: readonly ListedObject[]): Promise<void> {
  const { source, target, notes, progress } = move;
  const noted = await store.findRelocations(
    notes,
    page.map(({ key }) => key),
  );
  await mapConcurrently(page, objectsAtOnce, async (object) => {
    const { key, etag, size } = object;
    const known = noted.get(key);
    if (known?.etag !== etag || known.newBucket !== target.bucket) {
      const moved = await retry(() => moveObject(move, object), retryOptions);
      const place = { backend: 'objects', bucket: source.bucket, newBucket: target.bucket } as const;
      await store.noteRelocations(notes, [{ ...place, key, etag, size, ...moved }]);
    }
    progress.add(size);
  });
}

/** Returns the object's ETag in the target and its digest. */
async function moveObject(
  { source, target }: ObjectsMove,
  { key, etag, size }: ListedObject,
): Promise<Pick<store.Relocation, 'newEtag' | 'sha256'>> {
  const body = await source.get(key, { ifMatch: etag });
  if (body === undefined)
    throw new StartFault(`${key} disappeared during the move: an instance is still running on the source.`);
  const sent = createHash('sha256');
  const stream = Readable.from(hashed(body.stream, sent), { objectMode: false });
  const contentType = mimeTypes.getType(key) ?? 'application/octet-stream';
  const written = await target.put(key, stream, { contentType, size });
  const back = await target.get(key, { ifMatch: written.etag });
  const received = createHash('sha256');
  for await (const chunk of back?.stream ?? []) received.update(chunk);
  const sha256 = sent.digest('hex');
  if (sha256 !== received.digest('hex'))
    throw new StartFault(`S3_ENDPOINT: ${key} has different bytes after the upload.`);
  return { newEtag: written.etag, sha256 };
}

async function* hashed(stream: Readable, digest: ReturnType<typeof createHash>) {
  for await (const chunk of stream) {
    digest.update(chunk);
    yield chunk;
  }
}

/** Counts the objects that the target contains as recorded. Removes objects that the source no longer has. */
async function verifyTarget({ source, target, notes }: ObjectsMove): Promise<number> {
  let count = 0;
  for await (const page of pagesOf(target)) {
    const noted = await store.findRelocations(
      notes,
      page.map(({ key }) => key),
    );
    for (const { key, etag, size } of page) {
      const note = noted.get(key);
      if (note === undefined)
        throw new StartFault(
          `S3_BUCKET: the bucket "${target.bucket}" contains ${key}, which does not belong to this installation. Remove it.`,
        );
      const original = await source.head(key);
      if (original === undefined) {
        await target.remove([key]);
        await store.forgetRelocation(notes, key);
      } else if (note.newEtag === etag && original.size === size) count += 1;
    }
  }
  return count;
}
