/** `npm run build:client [-- folder]`: builds the client as its own package, JavaScript and declarations, for `npm pack`. */
import { spawnSync } from 'node:child_process';
import { copyFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartFault } from '#platform/lifecycle.ts';
import { version } from '#platform/version.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export async function buildClient([folder]: readonly string[]): Promise<number> {
  const target = folder === undefined ? join(root, 'build/client') : resolve(folder);
  await rm(target, { recursive: true, force: true });
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const words = [compiler, '--project', join(root, 'src/client'), '--outDir', target];
  const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' });
  if (status !== 0) throw new StartFault('Cannot compile the client. See the compiler output above.');
  await Promise.all([
    writeFile(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`),
    copyFile(join(root, 'docs/client.md'), join(target, 'README.md')),
    copyFile(join(root, 'LICENSE'), join(target, 'LICENSE')),
  ]);
  console.log(`The client is in ${target}. Run \`npm pack ${target}\` to create a tarball.`);
  return 0;
}

const entry = (name: string) => ({ types: `./${name}.d.ts`, default: `./${name}.js` });

const manifest = {
  name: '@atelier/client',
  version,
  description: 'The typed client of Atelier: media, images, sign-in, agent runs, memory, content, notifications',
  license: 'MIT',
  type: 'module',
  sideEffects: false,
  engines: { node: '>=20.3' },
  exports: { '.': entry('atelier'), './chat': entry('transport') },
  // Only the chat transport needs this.
  peerDependencies: { ai: '^5.0.0 || ^6.0.0 || ^7.0.0' },
  peerDependenciesMeta: { ai: { optional: true } },
};
