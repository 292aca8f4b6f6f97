/** Tests run the build: an import of a module of `src/` loads the file that it became. */
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vitest/config';
import { builtFile, testedFolders } from './modules.mjs';

const sources = fileURLToPath(new URL('../../src', import.meta.url));
const folders = testedFolders();

/** Vite leaves the modules to Node, because the build is a folder in node_modules. */
export const testedBuild: Plugin = {
  name: 'tested-build',
  enforce: 'pre',
  // Vitest stores the resolved paths of imports between runs.
  configureVitest: ({ defineCacheKeyGenerator }) => defineCacheKeyGenerator(() => folders),
  resolveId(id, importer) {
    if (importer === undefined || !/^[#./].*\.ts$/.test(id)) return undefined;
    return builtFile(folders, id.startsWith('#') ? join(sources, id.slice(1)) : resolve(dirname(importer), id));
  },
};

/** The environment of programs that tests start, which do the same. */
export const useBuild = {
  NODE_OPTIONS: `--import=${new URL('usebuild.mjs', import.meta.url)}`,
  TESTED_BUILD: folders,
};
