/** Builds of a checkout (docs/releasing.md): when one is made, and the interruptions that it survives. */
import { execFile, spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findBuild } from '../../build.mjs';
import { root } from '../acceptance/running.fixture.ts';

let folder: string;
let builds: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atelier-build-'));
  builds = join(folder, 'node_modules/.cache/atelier/builds');
  await mkdir(join(folder, 'src/greeting'), { recursive: true });
  await mkdir(join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "imports": { "#*": "./src/*" } }');
  await symlink(join(root, 'node_modules/esbuild'), join(folder, 'node_modules/esbuild'));
  await copyFile(join(root, 'build.mjs'), join(folder, 'build.mjs'));
  await writeFile(
    join(folder, 'src/main.ts'),
    `import { readFileSync } from 'node:fs';
     const { greeting } = await import('#greeting/greeting.ts');
     console.log(greeting + readFileSync(new URL('./name.txt', import.meta.url), 'utf8'));`,
  );
  await writeFile(join(folder, 'src/name.txt'), 'Ada');
});
afterAll(() => rm(folder, { recursive: true }));

const greet = (word: string) =>
  writeFile(join(folder, 'src/greeting/greeting.ts'), `export const greeting: string = '${word}, ';`);
const output = async (build: string) =>
  (await promisify(execFile)(process.execPath, [join(build, 'main.mjs')])).stdout.trim();

it('are made once for the same sources, and run without them', async () => {
  await greet('Hello');
  const build = findBuild(folder);
  expect(await output(build)).toBe('Hello, Ada');
  expect(findBuild(folder)).toBe(build);
  expect(await realpath(join(folder, 'dist'))).toBe(await realpath(build));
});

it('leave the build of a running instance as it is when the sources change', async () => {
  await greet('Hello');
  const before = findBuild(folder);
  await greet('Good evening');
  const after = findBuild(folder);
  expect([await output(before), await output(after)]).toEqual(['Hello, Ada', 'Good evening, Ada']);
  expect(await realpath(join(folder, 'dist'))).toBe(await realpath(after));
});

it('are whole after kills at any time', async () => {
  for (const delayMs of [20, 80, 160, 320]) {
    await greet(`Delay ${delayMs}`);
    const building = spawn(process.execPath, [join(folder, 'build.mjs')], { stdio: 'ignore' });
    const timer = setTimeout(() => building.kill('SIGKILL'), delayMs);
    await new Promise((resolve) => building.once('exit', resolve));
    clearTimeout(timer);
    expect(await output(findBuild(folder))).toBe(`Delay ${delayMs}, Ada`);
  }
});

it('are complete for every process that starts at the same time', async () => {
  await greet('Together');
  const all = await Promise.all(
    Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, [join(folder, 'build.mjs')])),
  );
  const found = new Set(all.map(({ stdout }) => stdout.trim()));
  expect(found.size).toBe(1);
  for (const build of found) expect(await output(build)).toBe('Together, Ada');
});

it('are a handful, because old ones are removed', async () => {
  for (const word of ['One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven']) {
    await greet(word);
    findBuild(folder);
  }
  const whole = (await readdir(builds)).filter((name) => !name.includes('.'));
  expect(whole.length).toBeLessThanOrEqual(5);
});

it('name the reason if they fail', async () => {
  await writeFile(join(folder, 'src/greeting/greeting.ts'), 'export const greeting = ;');
  expect(() => findBuild(folder)).toThrow(/greeting/);
  expect(dirname(builds)).toContain(folder);
});
