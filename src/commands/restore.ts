/**
 * `npm run restore -- <folder>`: restores a backup into an empty data folder (docs/operations.md). All files are compared with the
 * manifest. A failure leaves the folder empty, and a killed run leaves a folder on which nothing starts. Restored objects have other
 * ETags than their rows: the media service settles that when it first uses a row.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { migrations } from '#app/migrations.ts';
import { createEpochs, type EpochTables } from '#platform/cache/epochs.ts';
import { type FolderLock, isUnfinished, lockFiles, lockFolder, unfinishedMark } from '#platform/db/lock.ts';
import { assertKnown, assertKnownMigrations, openDatabase } from '#platform/db/open.ts';
import { StartFault } from '#platform/lifecycle.ts';
import { createLog } from '#platform/log.ts';
import { type BackedUpFile, copyEach, copyFile, type Manifest, readManifest } from './backup/copying.ts';
import { loadRowFiles, readNeededMigrations, rowsFolder } from './backup/rows.ts';
import { startProgress } from './progress.ts';
import { withReadableErrors } from './readableerrors.ts';
import { readArguments } from './usage.ts';

/** Files of the lock, and of a separate disk. */
const ignoredNames: readonly string[] = [...lockFiles, 'lost+found'];

export async function restore(args: readonly string[]): Promise<number> {
  const [named = ''] = readArguments('restore', args, { least: 1, most: 1 }).words;
  // Reading the whole configuration would generate secrets, where those of the backup belong.
  const dataDir = resolve(process.env.ATELIER_DATA_DIR || 'data');
  if ((process.env.DATABASE_URL || 'embedded') !== 'embedded')
    throw new StartFault(
      'DATABASE_URL: a backup can only be restored into a data folder. Use `npm run move` to move it to PostgreSQL.',
    );
  const manifest = await readManifest(resolve(named));
  const lock = await lockFolder(dataDir);
  try {
    await withReadableErrors(() => restoreInto(dataDir, resolve(named), manifest, lock));
  } finally {
    lock.release();
  }
  console.log(`${dataDir}: ${manifest.files.length} files, ${manifest.bytes} bytes, as of ${manifest.createdAt}.`);
  return 0;
}

async function restoreInto(dataDir: string, folder: string, manifest: Manifest, lock: FolderLock): Promise<void> {
  if (isUnfinished(dataDir)) await clear(dataDir);
  const [found] = (await readdir(dataDir)).filter((name) => !ignoredNames.includes(name));
  if (found !== undefined)
    throw new StartFault(
      `ATELIER_DATA_DIR: ${dataDir} is not empty (${found}). Restore the backup into an empty folder.`,
    );
  await writeFile(join(dataDir, unfinishedMark), '', { flush: true });
  try {
    await copyAll(folder, dataDir, manifest);
    if (manifest.files.some(({ path }) => path.startsWith(`${rowsFolder}/`))) await loadRows(dataDir, lock);
    await complete(dataDir, lock);
  } catch (error) {
    await clear(dataDir);
    throw error;
  }
}

/** Removes the mark last, so that it remains if the process is killed. */
async function clear(dataDir: string): Promise<void> {
  const rest = (await readdir(dataDir)).filter((name) => !ignoredNames.includes(name) && name !== unfinishedMark);
  for (const name of [...rest, unfinishedMark]) await rm(join(dataDir, name), { recursive: true, force: true });
}

async function copyAll(folder: string, dataDir: string, manifest: Manifest): Promise<void> {
  const progress = startProgress('Restoring', manifest.bytes);
  for (const empty of manifest.emptyFolders) await mkdir(join(dataDir, empty), { recursive: true, mode: 0o700 });
  await copyEach(manifest.files, async (file) => {
    await copyBackedUp(folder, dataDir, file);
    progress.add(file.size);
  });
  progress.end();
}

async function copyBackedUp(folder: string, dataDir: string, file: BackedUpFile): Promise<void> {
  const { path, sha256, modifiedAtMs } = file;
  if (!existsSync(join(folder, path))) throw new StartFault(`${folder} is damaged: ${path} is missing.`);
  const copied = await copyFile(join(folder, path), join(dataDir, path), modifiedAtMs);
  if (copied.sha256 !== sha256)
    throw new StartFault(`${folder} is damaged: ${path} differs from the file that was backed up.`);
}

/** Creates the database. Backups of earlier versions have its files instead of its rows. */
async function loadRows(dataDir: string, lock: FolderLock): Promise<void> {
  const only = await readNeededMigrations(dataDir);
  await assertKnownMigrations(only, migrations, 'The backup');
  const log = createLog({ level: 'silent' });
  // The folder stays locked.
  const held: FolderLock = { ...lock, release: () => undefined };
  const options = { url: 'embedded', dataDir, migrations, only, log, lock: held, unfinished: true };
  const database = await openDatabase(options);
  try {
    await loadRowFiles(database, dataDir);
  } finally {
    await database.close();
  }
  await rm(join(dataDir, rowsFolder), { recursive: true });
}

/** Applies later migrations, and releases the folder for use. */
async function complete(dataDir: string, lock: FolderLock): Promise<void> {
  const log = createLog({ level: 'silent' });
  const database = await openDatabase({ url: 'embedded', dataDir, migrations, log, lock, unfinished: true });
  try {
    await assertKnown(database, migrations, 'The backup');
    // A Redis that is still in use may contain URLs of the old files.
    await createEpochs(database.queries<EpochTables>(), 'media').raise();
    // Remove the mark while the folder is still locked.
    await rm(join(dataDir, unfinishedMark));
  } finally {
    await database.close();
  }
}
