/** The ways in which data folders are copied, for the tests. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface FolderCopy {
  readonly name: string;
  copy(from: string, to: string): Promise<unknown>;
}

const run = promisify(execFile);

export const folderCopies: readonly FolderCopy[] = [
  { name: 'cp -a', copy: (from, to) => run('cp', ['-a', from, to]) },
  { name: 'cp -r', copy: (from, to) => run('cp', ['-r', from, to]) },
  { name: 'tar', copy: copyByTar },
  { name: 'a sync that keeps whole seconds', copy: copyWholeSeconds },
];

/** By an archive in the format that keeps whole seconds. */
async function copyByTar(from: string, to: string): Promise<void> {
  await run('tar', ['--format=ustar', '-cf', `${to}.tar`, '-C', from, '.']);
  await mkdir(to);
  await run('tar', ['-xf', `${to}.tar`, '-C', to]);
}

/** As `rsync -rt` to a file system with coarse times, with permissions of its own. */
async function copyWholeSeconds(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true });
  for (const name of await readdir(from, { recursive: true })) {
    const { mtimeMs } = await stat(join(from, name));
    await utimes(join(to, name), Math.floor(mtimeMs / 1000), Math.floor(mtimeMs / 1000));
  }
  await run('chmod', ['-R', 'u=rwX,go=rX', to]);
}
