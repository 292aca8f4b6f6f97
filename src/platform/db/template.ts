/**
 * A fresh PGlite costs seconds (initdb). So a migrated database is dumped once, stored in a cache under node_modules, and
 * loaded wherever a new one is needed: for each test file, and at the first start in an empty folder. The cache is only
 * ever a shortcut: absent, broken or read-only, the database is created without it.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Migration } from './migrations.ts';
import { createPglite, migratePglite } from './pglite-engine.ts';

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

/** By rename, so that no reader of another process sees a part. */
async function keepTemplate(cache: string, file: string, dump: Uint8Array): Promise<void> {
  await mkdir(cache, { recursive: true });
  const draft = `${file}.${randomUUID()}`;
  try {
    await writeFile(draft, Buffer.concat([sha256(dump), dump]));
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await removeOldTemplates(cache);
}

/** Each change of a migration leaves a template of some megabytes behind. */
async function removeOldTemplates(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    if (name.startsWith('database-') && (await stat(path)).mtimeMs < Date.now() - keptMs)
      await rm(path, { force: true });
  }
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
