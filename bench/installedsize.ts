/** The size of a release: the build of the program, and the packages that it names. */
import { globSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBuild } from '../build.mjs';
import { atMost, type Bench } from './bench.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const bytesPerBlock = 512;
const mebibyte = 1024 ** 2;

export const installedSize: Bench = {
  run: async () => [
    atMost(110, {
      goal: 'a release with its packages, on disk in MiB',
      measured: releasedBytes() / mebibyte,
      against: 'a limit; 18 are the table of the embedder',
    }),
  ],
};

function releasedBytes(): number {
  const build = findBuild();
  const { packages } = JSON.parse(readFileSync(join(build, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, unknown>>;
  };
  const folders = Object.keys(packages).map((path) => (path === '' ? build : join(root, path)));
  return folders.reduce((sum, folder) => sum + bytesIn(folder), 0);
}

/** Packages of other platforms are not installed. The compiled code of V8 is not part of a release. */
function bytesIn(folder: string): number {
  const paths = globSync('**', { cwd: folder, exclude: ['compiled/**', 'node_modules/**'] });
  return paths.reduce((sum, path) => sum + lstatSync(join(folder, path)).blocks * bytesPerBlock, 0);
}
