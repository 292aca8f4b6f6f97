// Loads the build instead of the sources in a program that a test or a benchmark starts: `node --import <this file> <program>`.
// Other versions of Node, such as the one that runs npm, ignore it.
import module from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { builtFile, testedFolders } from './modules.mjs';

if (module.registerHooks !== undefined) {
  process.env.TESTED_BUILD ??= testedFolders();
  // The programs that it starts do the same.
  process.env.NODE_OPTIONS ??= `--import=${import.meta.url}`;
  module.registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const built =
        resolved.url.startsWith('file:') && builtFile(process.env.TESTED_BUILD, fileURLToPath(resolved.url));
      return built ? { ...resolved, url: pathToFileURL(built).href, format: 'module' } : resolved;
    },
  });
}
