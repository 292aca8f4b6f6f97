/** Which contents of a data folder belong in its backup. */
import { lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { folderFile } from '#platform/datafolder/identity.ts';
import { lockFiles, unfinishedMark } from '#platform/db/lock.ts';

export interface Contents {
  /** Relative to the folder, with forward slashes. */
  readonly files: readonly { readonly path: string; readonly size: number }[];
  readonly emptyFolders: readonly string[];
}

/** Belongs to the process or to this folder only, or can be regenerated: variants and half-written files. */
const excluded: readonly string[] = [
  ...lockFiles,
  folderFile,
  '.incoming',
  'public',
  // Other versions of PostgreSQL cannot read these files (rows.ts).
  'database',
  'database.new',
  'lost+found',
  unfinishedMark,
];

export async function contentsOf(folder: string): Promise<Contents> {
  const files: { path: string; size: number }[] = [];
  const emptyFolders: string[] = [];

  async function visit(path: string): Promise<void> {
    const names = await readdir(join(folder, path));
    if (names.length === 0) emptyFolders.push(path);
    for (const name of names.sort()) await add(`${path}/${name}`, lstat);
  }

  async function add(path: string, statOf: typeof stat): Promise<void> {
    const found = await statOf(join(folder, path));
    if (found.isDirectory()) await visit(path);
    else if (found.isFile()) files.push({ path, size: found.size });
  }

  // Top-level entries may be links to another disk. The store follows no links below them.
  for (const name of (await readdir(folder)).sort()) if (!excluded.includes(name)) await add(name, stat);
  return { files, emptyFolders };
}
