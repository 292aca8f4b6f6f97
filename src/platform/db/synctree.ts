import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { mapConcurrently } from '../concurrency/mapconcurrently.ts';

/** Syncs a folder, and every file and folder below it, to the disk. */
export async function syncTree(folder: string): Promise<void> {
  const below = await readdir(folder, { recursive: true });
  await mapConcurrently(below, 16, (name) => syncPath(join(folder, name)));
  await syncPath(folder);
}

/** Syncs a file, or the names in a folder. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
