/** The embedded driver: PGlite in a data folder, or in memory for tests; from the migrated template where it is new. */

import { existsSync } from 'node:fs';
import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { mapConcurrently } from '../concurrency/mapconcurrently.ts';
import { ConfigFault } from '../config.ts';
import { createSpaceCheck, hasNoRoom, reserveForRows } from '../diskspace.ts';
import type { Log } from '../log.ts';
import type { Database } from './db.ts';
import { type FolderLock, fullDisk, isUnfinished, lockFolder } from './lock.ts';
import type { Migration } from './migrations.ts';
import { createPglite, migratePglite, type OpenPglite, openFolder, pgliteDatabase } from './pglite-engine.ts';
import { migratedTemplate } from './template.ts';
import { vacuumRegularly } from './vacuuming.ts';

export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly migrations: readonly Migration[];
  readonly log: Log;
  /** When the caller has it already. */
  readonly lock?: FolderLock;
  readonly unfinished?: boolean;
}

/** The database of a data folder, which is locked as long as it is open. */
export async function openEmbedded({ dataDir, migrations, log, ...options }: EmbeddedOptions): Promise<Database> {
  const lock = options.lock ?? (await lockFolder(dataDir));
  try {
    if (isUnfinished(dataDir) && options.unfinished !== true)
      throw new ConfigFault([`ATELIER_DATA_DIR ${dataDir} is partly restored; run \`npm run restore\` again`]);
    const folder = join(dataDir, 'database');
    if (!existsSync(folder)) await makeFolder(folder, migrations);
    await assertMajor(dataDir, folder);
    const reopen = () => openFolder(folder);
    const open = await reopen();
    await migrateOrClose(open, migrations);
    const afterClose = () => {
      stopVacuuming();
      lock.release();
    };
    const assertSpace = createSpaceCheck(dataDir, reserveForRows);
    const database = pgliteDatabase(open, { assertSpace, reopen, afterClose, log });
    const stopVacuuming = vacuumRegularly(database, log);
    return database;
  } catch (error) {
    lock.release();
    if (hasNoRoom(dataDir, reserveForRows)) throw fullDisk(dataDir);
    throw error;
  }
}

/** A database of its own, gone when it is closed. */
export async function openInMemory(migrations: readonly Migration[], log: Log): Promise<Database> {
  const lite = await createPglite({ loadDataDir: await migratedTemplate(migrations) });
  const reopen = (): Promise<never> => Promise.reject(new Error('the data in memory was lost'));
  return pgliteDatabase({ lite }, { reopen, afterClose: () => undefined, log });
}

/** The major version of PostgreSQL in PGlite. Another one has other files (PG_VERSION). */
const postgresMajor = '18';

async function assertMajor(dataDir: string, folder: string): Promise<void> {
  const found = (await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => '')).trim();
  if (found === '' || found === postgresMajor) return;
  throw new ConfigFault([
    `ATELIER_DATA_DIR ${dataDir} has data of PostgreSQL ${found}, and this version has PostgreSQL ${postgresMajor}; run ` +
      '`npm run backup` with the version of Atelier that wrote it, and `npm run restore` with this version',
  ]);
}

/** Whole or not at all: a start that dies on the way leaves only the `.new` folder, which the next one replaces. */
async function makeFolder(folder: string, migrations: readonly Migration[]): Promise<void> {
  const draft = `${folder}.new`;
  await rm(draft, { recursive: true, force: true });
  const { lite } = await openFolder(draft, { loadDataDir: await migratedTemplate(migrations) });
  await lite.close();
  await syncTree(draft);
  await rename(draft, folder);
  await syncPath(dirname(folder));
}

async function migrateOrClose({ lite, synced }: OpenPglite, migrations: readonly Migration[]): Promise<void> {
  try {
    await migratePglite(lite, migrations);
    await synced?.();
  } catch (error) {
    await lite.close();
    throw error;
  }
}

/** Syncs a folder, and every file and folder below it, to the disk. */
async function syncTree(folder: string): Promise<void> {
  const below = await readdir(folder, { recursive: true });
  await mapConcurrently(below, 16, (name) => syncPath(join(folder, name)));
  await syncPath(folder);
}

/** Syncs a file, or the names in a folder. */
async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
