/** `npm run build:client [-- folder]`: builds the client as its own package, JavaScript and declarations, for `npm pack`. */
import { spawnSync } from 'node:child_process';
import { copyFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const [folder] = process.argv.slice(2);
const target = folder === undefined ? join(root, 'build/client') : resolve(folder);
await rm(target, { recursive: true, force: true });
const compiler = join(root, 'node_modules/typescript/bin/tsc');
const words = [compiler, '--project', join(root, 'src/client'), '--outDir', target];
const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' });
if (status === 0) {
  await Promise.all([
    copyFile(join(root, 'packages/client/package.json'), join(target, 'package.json')),
    copyFile(join(root, 'packages/client/README.md'), join(target, 'README.md')),
    copyFile(join(root, 'LICENSE'), join(target, 'LICENSE')),
  ]);
  console.log(`The client is in ${target}. Run \`npm pack ${target}\` to create a tarball.`);
} else {
  console.error('Cannot compile the client. See the compiler output above.');
  process.exitCode = 1;
}
