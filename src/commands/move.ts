/**
 * `npm run move`: moves a data folder to PostgreSQL and, with S3_ENDPOINT, to S3 (docs/operations.md). If it is killed, the next run
 * continues. The source is only read, and no instance may be running on it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, readConfig } from '#app/config.ts';
import { migrations } from '#app/migrations.ts';
import { createRelocations, relocateAssets } from '#media/reconciling/relocationstore.ts';
import { createEpochs, type EpochTables } from '#platform/cache/epochs.ts';
import { systemClock as clock } from '#platform/clock.ts';
import { type Database, transaction } from '#platform/db/db.ts';
import { installationId } from '#platform/db/installation.ts';
import { assertKnown, openDatabase, tablesOfPostgres } from '#platform/db/open.ts';
import { Closers, StartFault } from '#platform/lifecycle.ts';
import { createLog } from '#platform/log.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { openObjects } from '#platform/objects/open.ts';
import { moveObjects } from './move/objects.ts';
import { moveRows } from './move/rows.ts';
import { beginNotes, countRows, endNotes, hasRows, longestMs, readNote, readTables, writeNote } from './move/store.ts';
import { startProgress } from './progress.ts';
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
  const tables = await tablesOfPostgres(config.database.url);
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
  await createRelocations(target.queries());
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
      await relocateAssets(tx, sourceObjects.bucket, targetObjects.bucket);
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
