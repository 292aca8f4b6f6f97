/** What of a data folder belongs into its backup. */
import { lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { folderFile } from '#platform/datafolder/identity.ts';
import { lockFiles, unfinishedMark } from '#platform/db/lock.ts';

export interface Contents {
  /** Relative to the folder, with forward slashes. */
  readonly files: readonly { readonly path: string; readonly size: number }[];
  /** PostgreSQL does not open a folder that lacks one of its empty ones. */
  readonly emptyFolders: readonly string[];
}

/** Belongs to the process or to this very folder, or is made again: variants and half-written files. */
const passing: readonly string[] = [
  ...lockFiles,
  folderFile,
  '.incoming',
  'public',
  'database.new',
  'lost+found',
  unfinishedMark,
];

export async function contentsOf(folder: string): Promise<Contents> {
  const files: { path: string; size: number }[] = [];
  const emptyFolders: string[] = [];

  async function look(path: string): Promise<void> {
    const names = await readdir(join(folder, path));
    if (names.length === 0) emptyFolders.push(path);
    for (const name of names.sort()) await add(`${path}/${name}`, lstat);
  }

  async function add(path: string, statOf: typeof stat): Promise<void> {
    const found = await statOf(join(folder, path));
    if (found.isDirectory()) await look(path);
    else if (found.isFile()) files.push({ path, size: found.size });
  }

  // What stands at the top may be a link to another disk; the store follows none below.
  for (const name of (await readdir(folder)).sort()) if (!passing.includes(name)) await add(name, stat);
  return { files, emptyFolders };
}
