/**
 * One process per data folder (docs/specification/system.md#data-folder): two PGlites on one folder would lose data silently. The lock is the operating
 * system's, held through SQLite on an empty file, so it dies with its process however that ends; no pid file can be stale.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigFault } from '../config.ts';

export interface FolderLock {
  release(): void;
}

const busy = 5;

/** Refuses with one line that names the folder and the process that has it. */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const lock = tryLock(folder);
  if (lock !== undefined) return lock;
  // The holder may be between taking the lock and writing its name.
  await sleep(100);
  throw new ConfigFault([`ATELIER_DATA_DIR ${folder} is in use by ${describeHolder(folder)}`]);
}

/** What a lock puts into the folder. */
export const lockFiles: readonly string[] = ['lock', 'lock-journal', 'instance.json'];

/** Stands in a data folder as long as it is being restored, and where that was broken off. */
export const unfinishedMark = 'restoring';

export const isUnfinished = (folder: string): boolean => existsSync(join(folder, unfinishedMark));

/** For doctor: looks without taking it. */
export function isFolderInUse(folder: string): boolean {
  const file = join(folder, 'lock');
  if (!existsSync(file)) return false;
  const handle = new DatabaseSync(file, { readOnly: true });
  try {
    handle.prepare('select count(*) from sqlite_schema').get();
    return false;
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== busy) throw error;
    return true;
  } finally {
    handle.close();
  }
}

/** `undefined`: another process has it. */
function tryLock(folder: string): FolderLock | undefined {
  const instance = join(folder, 'instance.json');
  let handle: DatabaseSync | undefined;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Not at once: doctor may be looking.
    handle = new DatabaseSync(join(folder, 'lock'), { timeout: 200 });
    handle.exec('pragma locking_mode = exclusive; begin exclusive');
    const draft = `${instance}.${randomUUID()}`;
    writeFileSync(draft, `${JSON.stringify({ pid: process.pid, startedAt: new Date().toISOString() })}\n`);
    renameSync(draft, instance);
  } catch (error) {
    handle?.close();
    if ((error as { errcode?: number }).errcode === busy) return undefined;
    throw new ConfigFault([`ATELIER_DATA_DIR ${folder} cannot be locked: ${(error as Error).message}`]);
  }
  const held = handle;
  return {
    release: () => {
      if (!held.isOpen) return;
      rmSync(instance, { force: true });
      held.close();
    },
  };
}

function describeHolder(folder: string): string {
  try {
    const { pid, startedAt } = JSON.parse(readFileSync(join(folder, 'instance.json'), 'utf8'));
    return `process ${pid}, started ${startedAt}`;
  } catch {
    // It has just gone, or cannot be read by us.
    return 'another process';
  }
}
