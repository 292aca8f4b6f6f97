/**
 * Loads a release from outside: `node shipped.child.ts FOLDER`, with the work on the standard input. Prints what is wrong, one line
 * each. Its own imports are Node's, so everything else comes from the release.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { DynamicImport } from './shipped.fixture.ts';

export interface Work {
  readonly modules: readonly string[];
  readonly workers: readonly string[];
  readonly dynamicImports: readonly DynamicImport[];
}

const [folder = ''] = process.argv.slice(2);
const work = JSON.parse(await text(process.stdin)) as Work;
const urlOf = (path: string) => pathToFileURL(join(folder, path)).href;
const faults: string[] = [];
const check = async (subject: string, doing: () => Promise<string | undefined>) => {
  const fault = await doing().catch((error: unknown) => String(error));
  if (fault !== undefined) faults.push(`${subject}: ${fault}`);
};

for (const path of work.modules) await check(`import of ${path}`, async () => void (await import(urlOf(path))));

const texts = globSync('**/*.mjs', { cwd: folder, exclude: ['node_modules'] }).map((file) => ({
  file,
  text: readFileSync(join(folder, file), 'utf8'),
}));

for (const { module, position, specifier, names } of work.dynamicImports)
  await check(`${module} imports ${specifier}`, async () => {
    // A comment names the source of each part of a file. Imports of packages outside of the build come first, with a comment of their own.
    const comment = `\n// src/${module}\n`;
    const found = texts.find(({ text }) => text.includes(comment));
    if (found === undefined) return 'the build has no such module';
    const imports = found.text.slice(found.text.lastIndexOf(comment)).match(/\bimport\([^)]*\)/g);
    const built = /^import\("(.+)"\)$/.exec(imports?.[position] ?? '')?.[1];
    if (built === undefined) return 'the build has no such import';
    const loaded: Readonly<Record<string, unknown>> = await import(new URL(built, urlOf(found.file)).href);
    const missing = names.filter((name) => !(name in loaded));
    if (missing.length > 0) return `${missing.join(', ')} is missing`;
    return Object.keys(loaded).some((name) => name !== 'default' || names.includes(name))
      ? undefined
      : 'it has no names';
  });

for (const path of work.workers)
  await check(`thread ${path}`, async () => {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const worker = new Worker(new URL(urlOf(path)), { workerData: {}, stderr: true });
    // It has no data, so an error of its own shows as much as an answer that it runs.
    worker.once('error', (error) =>
      resolve(/Cannot find (module|package '(?!undefined'))/.exec(String(error)) ? String(error) : undefined),
    );
    worker.once('message', () => resolve(undefined));
    worker.once('exit', () => resolve('it ended without an answer'));
    worker.postMessage({});
    const fault = await promise;
    await worker.terminate();
    return fault;
  });

console.log(faults.join('\n'));
process.exit();
