/**
 * One process per data folder (docs/specification/system.md#data-folder): two PGlites on one folder would lose data silently. The lock is the operating
 * system's, held through SQLite on an empty file, so it ends with its process in every case; there is no pid file that could be stale.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigFault } from '../config.ts';
import { asStorageFull } from '../diskspace.ts';

export interface FolderLock {
  release(): void;
}

const busy = 5;
/** SQLite's code for a full disk. */
const noSpace = 13;

/** Throws a ConfigFault that names the folder and the process that holds it. */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const lock = tryLock(folder);
  if (lock !== undefined) return lock;
  // The holder may be between taking the lock and writing its name.
  await sleep(100);
  throw new ConfigFault([`ATELIER_DATA_DIR ${folder} is in use by ${describeHolder(folder)}`]);
}

/** The files that a lock writes into the folder. */
export const lockFiles: readonly string[] = ['lock', 'lock-journal', 'instance.json'];

/** Present in a data folder during a restore, and after one that did not finish. */
export const unfinishedMark = 'restoring';

export const isUnfinished = (folder: string): boolean => existsSync(join(folder, unfinishedMark));

/** For doctor: does not take the lock. */
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

/** `undefined`: another process holds it. */
function tryLock(folder: string): FolderLock | undefined {
  const instance = join(folder, 'instance.json');
  let handle: DatabaseSync | undefined;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // Wait a little: doctor may be reading.
    handle = new DatabaseSync(join(folder, 'lock'), { timeout: 200 });
    handle.exec('pragma locking_mode = exclusive; begin exclusive');
    writeHolder(instance);
  } catch (error) {
    handle?.close();
    if ((error as { errcode?: number }).errcode === busy) return undefined;
    if (asStorageFull(error) || (error as { errcode?: number }).errcode === noSpace) throw fullDisk(folder);
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

/** The lock holds without it. */
function writeHolder(instance: string): void {
  const draft = `${instance}.${randomUUID()}`;
  try {
    writeFileSync(draft, `${JSON.stringify({ pid: process.pid, startedAt: new Date().toISOString() })}\n`);
    renameSync(draft, instance);
  } catch (error) {
    rmSync(draft, { force: true });
    if (asStorageFull(error) === undefined) throw error;
  }
}

export function fullDisk(folder: string): ConfigFault {
  return new ConfigFault([`ATELIER_DATA_DIR: the disk of ${folder} is full; free some space and start again`]);
}

function describeHolder(folder: string): string {
  try {
    const { pid, startedAt } = JSON.parse(readFileSync(join(folder, 'instance.json'), 'utf8'));
    return `process ${pid}, started ${startedAt}`;
  } catch {
    // The file has just been removed, or we may not read it.
    return 'another process';
  }
}
