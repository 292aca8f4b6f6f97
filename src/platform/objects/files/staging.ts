/**
 * The folder where files are written before they get their names. It is on the file system of the objects, but outside
 * every bucket, so that no listing shows an incomplete file. A later writer removes the files of a killed one.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, lstat, mkdir, open, readdir, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { ignore } from './folders.ts';

/** Each chunk, and each link, updates the time of its file, so a file that is idle for this long has no owner. */
const abandonedAfterMs = 60 * 60 * 1000;

export interface Staging {
  /** Opens a new, empty file for writing. The caller closes the handle, and renames or discards the file. */
  create(): Promise<{ readonly path: string; readonly handle: FileHandle }>;
  /** Returns an unused path in the folder. If the folder is gone, `restore` it. */
  reserve(): Promise<string>;
  /** Creates the folder again if it is gone. */
  restore(): Promise<void>;
  discard(path: string): Promise<void>;
}

export function createStaging(folder: string, clock: Clock): Staging {
  let sweptAt = Number.NEGATIVE_INFINITY;

  async function restore(): Promise<void> {
    await mkdir(folder, { recursive: true });
  }

  async function reserve(): Promise<string> {
    if (clock.now() - sweptAt > abandonedAfterMs) {
      sweptAt = clock.now();
      await restore();
      await removeAbandoned(folder, clock.now() - abandonedAfterMs);
    }
    return join(folder, randomUUID());
  }

  return {
    reserve,
    restore,
    create: async () => {
      const path = await reserve();
      const handle = await open(path, 'wx').catch(ignore('ENOENT'));
      if (handle !== undefined) return { path, handle };
      await restore();
      return { path, handle: await open(path, 'wx') };
    },
    discard: async (path) => {
      await unlink(path).catch(ignore('ENOENT'));
    },
  };
}

/** The age counts from the last change of any kind (ctime), so a new link to an old object is young. */
async function removeAbandoned(folder: string, beforeMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const stat = await lstat(path).catch(() => undefined); // Gone: its writer is done.
    if (stat?.isFile() && stat.ctimeMs < beforeMs) await rm(path, { force: true });
  }
}
