/** Gives complete files their names in a bucket. */
import { link, rename } from 'node:fs/promises';
import { ObjectExists, type WriteOptions } from '../objects.ts';
import { codeOf, type Folders } from './folders.ts';

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
