/**
 * Where files are written before they get their names: beside the objects on the same file system, never inside a
 * bucket, so that no listing shows a part. What a killed writer left behind is removed by a later writer.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, lstat, mkdir, open, readdir, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { ignore } from './folders.ts';

/** A writer touches its file with every chunk, and a link its file when it is made: a file that is idle for this long has no owner. */
const abandonedAfterMs = 60 * 60 * 1000;

export interface Staging {
  /** A new, empty file, open for writing. The caller closes the handle, and renames or discards the file. */
  create(): Promise<{ readonly path: string; readonly handle: FileHandle }>;
  /** A name that nothing has yet, in the folder. If the folder has gone, `restore` it. */
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

/** By the time of the last change of any kind (ctime): a link to an old object is young. */
async function removeAbandoned(folder: string, beforeMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const stat = await lstat(path).catch(() => undefined); // Gone: its writer is done.
    if (stat?.isFile() && stat.ctimeMs < beforeMs) await rm(path, { force: true });
  }
}
