/** The build of the program (docs/performance.md#start): when it is created, and the interruptions that it survives. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findBuild } from '../../build.mjs';
import { root } from './running.fixture.ts';

let folder: string;
let builds: string;
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'atelier-build-')));
  builds = join(folder, 'node_modules/.cache/atelier/builds');
  await mkdir(join(folder, 'src/greeting'), { recursive: true });
  await mkdir(join(folder, 'node_modules'));
  const manifest = { name: 'greeting', version: '1.0.0', type: 'module', imports: { '#*': './src/*' } };
  const settings = {
    engines: { node: '>=22.19' },
    scripts: { start: 'node launch.mjs start', test: 'node launch.mjs test' },
  };
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...manifest, ...settings }));
  await writeFile(join(folder, 'package-lock.json'), JSON.stringify({ packages: {} }));
  await writeFile(join(folder, 'node_modules/.package-lock.json'), JSON.stringify({ packages: {} }));
  for (const name of ['build.mjs', 'launch.mjs']) await copyFile(join(root, name), join(folder, name));
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
const outputOf = (build: string) => output(join(build, 'main.mjs'));
/** Starts the program as a user does. */
async function launch(env: Readonly<Record<string, string>> = {}) {
  const options = { env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(folder, 'launch.mjs')], options);
  return { stdout: stdout.trim(), stderr: stderr.trim() };
}

it('contains the program, its chunks, and the files that it reads, and links dist to the build', async () => {
  const build = findBuild(folder);
  expect((await readdir(build)).sort()).toEqual([
    'chunks',
    'launch.mjs',
    'main.mjs',
    'main.mjs.map',
    'name.txt',
    'package-lock.json',
    'package.json',
    'third-party-licenses.txt',
  ]);
  expect(await outputOf(build)).toBe('Hello, Ada');
  expect(findBuild(folder)).toBe(build);
  expect(await realpath(join(folder, 'dist'))).toBe(build);
});

it('starts a worker that is named by the URL of its source, and that names a file', async () => {
  const main = await readFile(join(folder, 'src/main.ts'), 'utf8');
  await writeFile(
    join(folder, 'src/greeting/thread.ts'),
    `import { readFileSync } from 'node:fs';
     import { greeting } from './greeting.ts';
     console.log(greeting + readFileSync(new URL('../name.txt', import.meta.url), 'utf8'));`,
  );
  await writeFile(
    join(folder, 'src/main.ts'),
    `import { Worker } from 'node:worker_threads';
     new Worker(new URL('./greeting/thread.ts', import.meta.url));`,
  );
  expect(await outputOf(findBuild(folder))).toBe('Hello, Ada');
  await writeFile(join(folder, 'src/main.ts'), main);
});

it('records the version, the commit, and the commands of a release', async () => {
  const manifest = JSON.parse(await readFile(join(findBuild(folder), 'package.json'), 'utf8'));
  expect(manifest).toMatchObject({ name: 'greeting', version: '1.0.0', commit: 'unknown' });
  expect(manifest.scripts).toEqual({ start: 'node launch.mjs start' });
});

it('creates another build for changed sources or packages, and preserves the one that may be in use', async () => {
  const before = findBuild(folder);
  await greet('Welcome');
  const after = findBuild(folder);
  expect([await outputOf(before), await outputOf(after)]).toEqual(['Hello, Ada', 'Welcome, Ada']);
  await writeFile(join(folder, 'src/name.txt'), 'Grace');
  expect(await outputOf(findBuild(folder))).toBe('Welcome, Grace');
  await writeFile(join(folder, 'src/name.txt'), 'Ada');
  await writeFile(join(folder, 'node_modules/.package-lock.json'), '{ "packages": {} }');
  expect([before, after]).not.toContain(findBuild(folder));
});

it('creates one build if two programs start at the same time', async () => {
  await greet('Good morning');
  const builder = join(folder, 'build.mjs');
  const [one, other] = await Promise.all([output(builder), output(builder)]);
  expect(other).toBe(one);
  expect(await outputOf(one)).toBe('Good morning, Ada');
  expect((await readdir(builds)).filter((name) => name.includes('.'))).toEqual([]);
  expect((await readdir(folder)).filter((name) => name.startsWith('dist'))).toEqual(['dist']);
});

it('creates a whole build after a process was killed while it wrote one', async () => {
  await greet('Good night');
  const before = await readdir(builds);
  const child = spawn(process.execPath, [join(folder, 'build.mjs')], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  await expect.poll(async () => (await readdir(builds)).length, { interval: 1 }).toBeGreaterThan(before.length);
  child.kill('SIGKILL');
  await ended;
  expect(await outputOf(findBuild(folder))).toBe('Good night, Ada');
});

it('removes builds that were not among the last five used', async () => {
  const first = findBuild(folder);
  for (const word of ['a', 'b', 'c', 'd']) {
    await greet(word);
    findBuild(folder);
  }
  expect(await outputOf(first)).toBe('Good night, Ada');
  await greet('e');
  const last = findBuild(folder);
  expect(await readdir(builds)).toContain(basename(last));
  expect(await readdir(builds)).toHaveLength(5);
});

it('starts the build with one line of progress for a new one, and the sources if they are asked for', async () => {
  await greet('Good day');
  expect(await launch()).toEqual({ stdout: 'Good day, Ada', stderr: 'Building the program …' });
  expect(await launch()).toEqual({ stdout: 'Good day, Ada', stderr: '' });
  const build = await readlink(join(folder, 'dist'));
  await greet('Good evening');
  expect(await launch({ ATELIER_SOURCES: 'true' })).toEqual({ stdout: 'Good evening, Ada', stderr: '' });
  expect(await readlink(join(folder, 'dist'))).toBe(build);
});

it('starts the sources if the folder for builds cannot be written, and prints the reason', async () => {
  await rm(join(folder, 'node_modules/.cache'), { recursive: true });
  // A file in its place also stops root.
  await writeFile(join(folder, 'node_modules/.cache'), '');
  const { stdout, stderr } = await launch();
  expect(stdout).toBe('Good evening, Ada');
  expect(stderr).toMatch(/^The program cannot be built, so the sources run instead: .*not a directory/m);
  await rm(join(folder, 'node_modules/.cache'));
});

it('names the file of a fault in the sources', async () => {
  await writeFile(join(folder, 'src/greeting/greeting.ts'), 'export const greeting: string = ;');
  expect(() => findBuild(folder)).toThrow('src/greeting/greeting.ts');
  await greet('Hello');
});

it('installs nothing in production, and names the command', async () => {
  await writeFile(
    join(folder, 'package-lock.json'),
    '{ "packages": { "node_modules/greetings": { "version": "1.0.0" } } }',
  );
  await expect(launch({ NODE_ENV: 'production' })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/greetings .*installs nothing.*npm ci --omit=dev/),
  });
});
