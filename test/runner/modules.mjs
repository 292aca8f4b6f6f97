// The files that tests and benchmarks run in place of the sources.
import { existsSync } from 'node:fs';
import { delimiter, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBuild } from '../../build.mjs';

const sources = fileURLToPath(new URL('../../src', import.meta.url)) + sep;

/** The folders to search: the program, and a build of each module for imports within a test's process. */
export const testedFolders = () => [findBuild(), findBuild(undefined, undefined, 'modules')].join(delimiter);

/** Returns the file that a module of the sources became, or `undefined` for any other file. */
export function builtFile(folders, path) {
  if (!path.startsWith(sources) || !path.endsWith('.ts')) return undefined;
  const name = path.slice(sources.length).replace(/\.ts$/, '.mjs');
  return folders
    .split(delimiter)
    .map((folder) => join(folder, name))
    .find(existsSync);
}
