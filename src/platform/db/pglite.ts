/** The embedded engine: PGlite, one instance in one process, in a folder or in memory. */
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import type { Database } from './db.ts';
import { createDatabase, type Engine, type SessionResult } from './dialect.ts';
import { translateError } from './errors.ts';
import { type FolderLock, lockFolder } from './lock.ts';
import { applyMigrations, type Migration } from './migrations.ts';
import { migratedTemplate } from './template.ts';
import { parsers } from './types.ts';

/** One connection, and a running statement blocks the event loop: the wait for a turn is the only deadline to be had. */
const gateOptions = { width: 1, maxWaiting: 1_000, waitTimeoutMs: 5_000 };

/** The database of a data folder, which is locked as long as it is open. */
export async function openPglite(dataDir: string, migrations: readonly Migration[]): Promise<Database> {
  const lock = await lockFolder(dataDir);
  try {
    const folder = join(dataDir, 'database');
    if (!existsSync(folder)) await makeFolder(folder, migrations);
    return await openLite(await createPglite({ dataDir: folder }), migrations, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** A database of its own, gone when it is closed. */
export async function openPgliteInMemory(migrations: readonly Migration[]): Promise<Database> {
  return openLite(await createPglite({ loadDataDir: await migratedTemplate(migrations) }), migrations);
}

/** Whole or not at all: a start that dies on the way leaves only the `.new` folder, which the next one replaces. */
async function makeFolder(folder: string, migrations: readonly Migration[]): Promise<void> {
  const draft = `${folder}.new`;
  await rm(draft, { recursive: true, force: true });
  const lite = await createPglite({ dataDir: draft, loadDataDir: await migratedTemplate(migrations) });
  await lite.close();
  await rename(draft, folder);
}

export function createPglite(options: PGliteOptions): Promise<PGlite> {
  return PGlite.create({ ...options, parsers: { ...parsers } });
}

async function openLite(lite: PGlite, migrations: readonly Migration[], lock?: FolderLock): Promise<Database> {
  try {
    await migratePglite(lite, migrations);
  } catch (error) {
    await lite.close();
    throw error;
  }
  return createDatabase('pglite', createEngine(lite, lock), gateOptions);
}

export async function migratePglite(lite: PGlite, migrations: readonly Migration[]): Promise<readonly string[]> {
  return lite.transaction((tx) =>
    applyMigrations(
      {
        run: async (text) => {
          await tx.exec(text);
        },
        query: async <Row>(text: string, parameters: readonly unknown[]) =>
          (await tx.query<Row>(text, [...parameters])).rows,
      },
      migrations,
    ),
  );
}

function createEngine(lite: PGlite, lock?: FolderLock): Engine {
  const query = async (text: string, parameters: readonly unknown[]): Promise<SessionResult> => {
    try {
      // As pg does: without parameters the simple protocol, which takes several statements.
      const result = parameters.length === 0 ? (await lite.exec(text)).at(-1) : await lite.query(text, [...parameters]);
      return { rows: result?.rows ?? [], command: result?.command, affectedRows: result?.affectedRows };
    } catch (error) {
      throw translateError(error);
    }
  };
  const release = (): void => {
    // The one connection stays.
  };
  return {
    connect: async () => ({ query, release }),
    close: async () => {
      await lite.close();
      lock?.release();
    },
  };
}
