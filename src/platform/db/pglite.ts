/** The embedded driver: PGlite in a data folder, made from the migrated template where it is new. */

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { mapConcurrently } from '../concurrency.ts';
import { ConfigFault } from '../config.ts';
import { createSpaceCheck, hasNoRoom, reserveForRows } from '../diskspace.ts';
import { withFile, writeWhole } from '../files.ts';
import type { Log } from '../log.ts';
import type { Database } from './db.ts';
import { type FolderLock, fullDisk, isUnfinished, lockFolder } from './lock.ts';
import type { Migration } from './migrations.ts';
import { createPglite, migratePglite, type OpenPglite, openFolder, pgliteDatabase } from './pglite-engine.ts';

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
const syncPath = (path: string): Promise<void> => withFile(path, 'r', (handle) => handle.sync());

// Does what autovacuum does on a PostgreSQL server. PGlite has no background workers: without this it never reuses the
// space of changed and removed rows, and its tables only grow.

const everyMs = 10 * 60_000;
/** Like autovacuum's scale factor and threshold. */
const deadShare = 0.2;
const fewRows = 200;

/** Returns a function that stops it. */
function vacuumRegularly(database: Database, log: Log): () => void {
  const timer = setInterval(() => {
    vacuumDead(database).catch((error: unknown) => log.warn({ err: error }, 'a table could not be vacuumed'));
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** Vacuums tables of which a fifth is dead, one statement each: other callers get the only connection in between. */
export async function vacuumDead(database: Database): Promise<readonly string[]> {
  const db = database.queries();
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_stat_user_tables
    where n_dead_tup > ${fewRows} + ${deadShare}::float8 * n_live_tup`.execute(db);
  for (const { name } of rows) await sql`vacuum (analyze) ${sql.table(name)}`.execute(db);
  return rows.map(({ name }) => name);
}

// A fresh PGlite costs seconds (initdb). So a migrated database is dumped once, stored in a cache under node_modules, and
// loaded wherever a new one is needed: for each test file, and at the first start in an empty folder. The cache is only
// ever a shortcut: absent, broken or read-only, the database is created without it.

/** What a dump depends on: another version of any of them makes a new dump. */
const enginePackages = ['@electric-sql/pglite', '@electric-sql/pglite-pgvector'] as const;

/** In the folder node_modules that contains the engine: of the checkout, or of the release. */
const templateCache = fileURLToPath(new URL('../../../.cache/atelier/', import.meta.resolve(enginePackages[0])));

const digestBytes = 32;
const keptMs = 7 * 24 * 3600 * 1000;

/** A database with these migrations applied, for PGlite's `loadDataDir`. */
export async function migratedTemplate(migrations: readonly Migration[], cache = templateCache): Promise<Blob> {
  const file = join(cache, `database-${await templateKey(migrations)}`);
  const kept = await readTemplate(file);
  if (kept !== undefined) return new Blob([kept], { type: 'application/x-gzip' });
  const made = await makeTemplate(migrations);
  await keepTemplate(cache, file, new Uint8Array(await made.arrayBuffer())).catch(() => {
    // A read-only installation: the next start makes it again.
  });
  return made;
}

async function makeTemplate(migrations: readonly Migration[]): Promise<Blob> {
  const lite = await createPglite({});
  try {
    await migratePglite(lite, migrations);
    return await lite.dumpDataDir('gzip');
  } finally {
    await lite.close();
  }
}

async function templateKey(migrations: readonly Migration[]): Promise<string> {
  const versions = await Promise.all(enginePackages.map(versionOf));
  const content = JSON.stringify([versions, migrations.map(({ name, digest }) => [name, digest])]);
  return createHash('sha256').update(content).digest('hex').slice(0, 32);
}

async function versionOf(engine: (typeof enginePackages)[number]): Promise<string> {
  const manifest = new URL('../package.json', import.meta.resolve(engine));
  return JSON.parse(await readFile(manifest, 'utf8')).version;
}

/** The file is the SHA-256 of the dump, then the dump; `undefined` when it is not there or not whole. */
async function readTemplate(file: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  let content: Uint8Array<ArrayBuffer>;
  try {
    content = new Uint8Array(await readFile(file));
  } catch {
    // Absent or unreadable: it is created again in both cases.
    return undefined;
  }
  const dump = content.subarray(digestBytes);
  return Buffer.from(content.subarray(0, digestBytes)).equals(sha256(dump)) ? dump : undefined;
}

async function keepTemplate(cache: string, file: string, dump: Uint8Array): Promise<void> {
  await mkdir(cache, { recursive: true });
  await writeWhole(file, Buffer.concat([sha256(dump), dump]));
  await removeOldTemplates(cache);
}

/** Each change of a migration leaves a template of some megabytes behind. */
async function removeOldTemplates(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    if (/^\.?database-/.test(name) && (await stat(path)).mtimeMs < Date.now() - keptMs) await rm(path, { force: true });
  }
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
