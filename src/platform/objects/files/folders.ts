/**
 * The folders of one bucket. An object creates those that it needs, and the last object in a folder removes it. Symbolic
 * links below the root are not followed, so no key leads out of it.
 */

import type { BigIntStats } from 'node:fs';
import { type FileHandle, link, mkdir, realpath, rename, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createLru } from '../../cache/cache.ts';
import { withFile } from '../../files.ts';
import { ObjectExists, type ObjectHead, type WriteOptions } from '../objects.ts';

export type Folders = ReturnType<typeof createFolders>;

/** Of folders whose names are durable. */
const mostKnown = 10_000;

export function createFolders(root: string) {
  let known: string | undefined;
  /** Path → identity of a folder whose name was synced, with those of the folders that lead to it. */
  const durable = createLru<string, string>(mostKnown);

  async function base(): Promise<string | undefined> {
    known ??= await realpath(root).catch(ignore('ENOENT'));
    return known;
  }

  async function makeBase(): Promise<string> {
    await mkdir(root, { recursive: true });
    known ??= await realpath(root);
    return known;
  }

  /** Checks each folder before it creates one, because `mkdir -p` would follow a link. */
  async function makeBelow(top: string, path: string): Promise<void> {
    if (path === top) return void (await makeBase());
    const real = await realpath(path).catch(ignore('ENOENT'));
    if (real === path) return;
    if (real !== undefined) throw new Error('A folder of the object store is a symbolic link.');
    await makeBelow(top, dirname(path));
    await mkdir(path).catch(ignore('EEXIST'));
    await makeBelow(top, path);
  }

  /** Syncs the names in `path` and the names of the folders that lead to it, so that they survive a power cut. */
  async function sync(path: string): Promise<void> {
    const top = (await base()) ?? (await makeBase());
    const synced = new Map<string, string>();
    for (let folder = path; ; folder = dirname(folder)) {
      const identity = await syncFolder(folder);
      if (identity === undefined && folder === path) return;
      // If it is the folder that was synced before, those that lead to it were never empty since, so they are the same too.
      if (identity !== undefined && durable.get(folder) === identity) break;
      if (identity !== undefined) synced.set(folder, identity);
      if (folder === top) break;
    }
    for (const [folder, identity] of synced) durable.set(folder, identity);
  }

  return {
    /** Returns the path of an existing file or folder, or `undefined` if it is absent or behind a symbolic link. */
    locate: async (key: string): Promise<string | undefined> => {
      const top = await base();
      if (top === undefined) return undefined;
      const path = join(top, key);
      const real = await realpath(path).catch(ignore('ENOENT', 'ENOTDIR', 'ELOOP'));
      return real === path ? path : undefined;
    },
    /** Creates the folder of `key`. Another process may prune it at any time, so the caller must be ready to repeat this. */
    make: async (key: string): Promise<string> => {
      const top = (await base()) ?? (await makeBase());
      const folder = dirname(join(top, key));
      await makeBelow(top, folder);
      return folder;
    },
    /** Removes the empty folders from `path` upwards, except the root. Returns the first folder that is left. */
    prune: async (path: string): Promise<string> => {
      const top = (await base()) ?? (await makeBase());
      let folder = path;
      while (folder !== top && (await isRemoved(folder))) folder = dirname(folder);
      return folder;
    },
    sync,
  };
}

/** The kernel decides whether the folder is empty, so an object that is created at the same moment is safe. */
async function isRemoved(folder: string): Promise<boolean> {
  try {
    await rmdir(folder);
    return true;
  } catch (error) {
    switch (codeOf(error)) {
      case 'ENOENT':
        return true;
      case 'ENOTEMPTY':
      case 'EEXIST':
        return false;
      default:
        throw error;
    }
  }
}

/** Returns the identity of the folder, or `undefined` if it is gone or the file system records no time of creation. */
export function syncFolder(path: string): Promise<string | undefined> {
  const sync = async (handle: FileHandle) => {
    const { ino, birthtimeNs } = await handle.stat({ bigint: true });
    await handle.sync();
    return birthtimeNs === 0n ? undefined : `${ino} ${birthtimeNs}`;
  };
  // Another process removed what was in the folder, and pruned it.
  return withFile(path, 'r', sync).catch(ignore('ENOENT'));
}

/** Returns a handler for `catch` that returns `undefined` for these codes, and throws any other error again. */
export function ignore(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    const code = codeOf(error);
    if (code === undefined || !codes.includes(code)) throw error;
    return undefined;
  };
}

export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

// Gives complete files their names in a bucket.

/** Gives a complete, synced file its name. Tries again if another process prunes the folder at the same moment. */
export async function place(
  folders: Folders,
  path: string,
  key: string,
  { createOnly, reproducible }: Pick<WriteOptions, 'createOnly' | 'reproducible'>,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const folder = await folders.make(key);
      const target = `${folder}/${key.slice(key.lastIndexOf('/') + 1)}`;
      // A link fails if the name exists, and a rename replaces what has the name.
      await (createOnly ? link(path, target) : rename(path, target));
      if (!reproducible) await folders.sync(folder);
      return;
    } catch (error) {
      if (createOnly && codeOf(error) === 'EEXIST') throw new ObjectExists(key);
      if (codeOf(error) !== 'ENOENT' || attempt === 100) throw error;
    }
  }
}

// An object's metadata, read from its file.

/** Every write makes a new file, so inode, size and time together change with the bytes. */
export function headOf(stat: BigIntStats): ObjectHead {
  const parts = [stat.ino, stat.size, stat.mtimeNs].map((part) => part.toString(36));
  return { size: Number(stat.size), etag: `"${parts.join('-')}"`, modifiedAt: stat.mtime };
}
