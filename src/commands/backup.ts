/**
 * `npm run backup -- <folder>`: copies the data folder of the embedded engines, completely or not at all (docs/operations.md).
 * The rows of the database are copied as text, so another version of PostgreSQL can read them.
 * The command takes the folder's lock, so no instance may be running.
 */
import { existsSync } from 'node:fs';
import { lstat, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { readConfig } from '#app/config.ts';
import type { Database } from '#platform/db/db.ts';
import { type FolderLock, lockFiles, lockFolder, unfinishedMark } from '#platform/db/lock.ts';
import { openDatabase } from '#platform/db/open.ts';
import { StartFault } from '#platform/lifecycle.ts';
import { createLog } from '#platform/log.ts';
import { copyEach, copyFile, writeManifest } from './backup/copying.ts';
import { writeRowFiles } from './backup/rows.ts';
import { startProgress } from './progress.ts';
import { withReadableErrors } from './readableerrors.ts';
import { readArguments, usageOf } from './usage.ts';

const usage = `${usageOf('backup')}. The folder must not exist yet.`;

export async function backup(args: readonly string[]): Promise<number> {
  const [named = ''] = readArguments('backup', args, { least: 1, most: 1 }).words;
  const { database, process: settings } = readConfig(process.env, [], { keepSecrets: false });
  const [folder, { dataDir }] = [resolve(named), settings];
  if (database.url !== 'embedded')
    throw new StartFault('DATABASE_URL: PostgreSQL data is not in the data folder. Use pg_dump to copy it.');
  if (!existsSync(join(dataDir, 'database')))
    throw new StartFault(`ATELIER_DATA_DIR: ${dataDir} contains no database, so there is nothing to copy.`);
  if (existsSync(folder)) throw new StartFault(`${folder} already exists. ${usage}`);
  if (!relative(dataDir, folder).startsWith('..'))
    throw new StartFault(`${folder} is inside the data folder. ${usage}`);
  const lock = await lockFolder(dataDir);
  try {
    const { files, bytes } = await withReadableErrors(() => copy(dataDir, folder, lock));
    console.log(`${folder}: ${files} files, ${bytes} bytes. The backup contains keys and secrets: store it securely.`);
    return 0;
  } finally {
    lock.release();
  }
}

async function withDatabase<Result>(dataDir: string, lock: FolderLock, work: (database: Database) => Promise<Result>) {
  const log = createLog({ level: 'silent' });
  const database = await openDatabase({ url: 'embedded', dataDir, migrations: [], log, lock });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Uses a temporary name until the copy is complete. Leftovers of a killed run are replaced. */
async function copy(dataDir: string, folder: string, lock: FolderLock) {
  const draft = `${folder}.unfinished`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true, mode: 0o700 });
  const { files, emptyFolders } = await contentsOf(dataDir);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const progress = startProgress('Copying', bytes);
  const copied = await copyEach(files, async ({ path }) => {
    const file = await copyFile(join(dataDir, path), join(draft, path));
    progress.add(file.size);
    return { path, ...file };
  });
  progress.end();
  const all = [...copied, ...(await withDatabase(dataDir, lock, (database) => writeRowFiles(database, draft)))];
  const total = all.reduce((sum, { size }) => sum + size, 0);
  await writeManifest(draft, { createdAt: new Date().toISOString(), files: all, emptyFolders, bytes: total });
  await rename(draft, folder);
  return { files: all.length, bytes: total };
}

// Which contents of a data folder belong in its backup.

interface Contents {
  /** Relative to the folder, with forward slashes. */
  readonly files: readonly { readonly path: string; readonly size: number }[];
  readonly emptyFolders: readonly string[];
}

/** Belongs to the process or to this folder only, or can be regenerated: variants and half-written files. */
const excluded: readonly string[] = [
  ...lockFiles,
  // Earlier versions wrote it.
  'folder.json',
  '.incoming',
  'public',
  // Other versions of PostgreSQL cannot read these files (rows.ts).
  'database',
  'database.new',
  'lost+found',
  unfinishedMark,
];

async function contentsOf(folder: string): Promise<Contents> {
  const files: { path: string; size: number }[] = [];
  const emptyFolders: string[] = [];

  async function visit(path: string): Promise<void> {
    const names = await readdir(join(folder, path));
    if (names.length === 0) emptyFolders.push(path);
    for (const name of names.sort()) await add(`${path}/${name}`, lstat);
  }

  async function add(path: string, statOf: typeof stat): Promise<void> {
    const found = await statOf(join(folder, path));
    if (found.isDirectory()) await visit(path);
    else if (found.isFile()) files.push({ path, size: found.size });
  }

  // Top-level entries may be links to another disk. The store follows no links below them.
  for (const name of (await readdir(folder)).sort()) if (!excluded.includes(name)) await add(name, stat);
  return { files, emptyFolders };
}
