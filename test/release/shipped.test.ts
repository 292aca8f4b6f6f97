/** A release is the content of `dist/` with the packages that it names (docs/releasing.md#the-archive): no sources, nothing else. */
import { execFile } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBuild } from '../../build.mjs';
import { newLanePlace, root, run } from '../acceptance/running.fixture.ts';
import type { Work } from './shipped.child.ts';
import { dynamicImports, namedFiles, workerCount } from './shipped.fixture.ts';

let folder: string;
const build = findBuild();
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atelier-release-'));
  await cp(build, folder, { recursive: true, filter: (path) => path !== join(build, 'compiled') });
  const { packages } = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'));
  // Packages for other platforms are not installed.
  for (const path of Object.keys(packages))
    if (path !== '' && existsSync(join(root, path)))
      await cp(join(root, path), join(folder, path), { recursive: true });
});
afterAll(() => rm(folder, { recursive: true }));

async function faultsOf(work: Partial<Work>): Promise<readonly string[]> {
  const all: Work = { modules: [], workers: [], dynamicImports: [], ...work };
  const running = promisify(execFile)(process.execPath, [join(import.meta.dirname, 'shipped.child.ts'), folder], {
    cwd: folder,
    env: { PATH: process.env.PATH },
    maxBuffer: 64 * 1024 * 1024,
  });
  running.child.stdin?.end(JSON.stringify(all));
  const { stdout } = await running;
  return stdout.split('\n').filter((line) => line !== '');
}

const workers = [...new Set(namedFiles.filter(({ isWorker }) => isWorker).map(({ path }) => path))];
const programs = namedFiles.filter(({ isProgram }) => isProgram).map(({ path }) => path);

describe('a release', () => {
  it('contains no sources, and only the packages that it names', async () => {
    const files = await readdir(folder, { recursive: true });
    expect(files.filter((path) => !path.startsWith('node_modules') && path.endsWith('.ts'))).toEqual([]);
    const { dependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    for (const name of Object.keys(dependencies)) expect(files).toContain(join('node_modules', name));
    expect(await readdir(join(folder, 'node_modules'))).not.toContain('fastify');
  });

  it('names each package that it does not contain', async () => {
    const { dependencies } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    const release = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    const licenses = await readFile(join(folder, 'third-party-licenses.txt'), 'utf8');
    const isContained = (name: string) => licenses.includes(`\n${name} `) || licenses.startsWith(`${name} `);
    const lost = Object.keys(dependencies).filter((name) => !isContained(name) && !(name in release.dependencies));
    // It makes the build.
    expect(lost).toEqual(['esbuild']);
  });

  it('decodes a HEIC photo with the package for it', async () => {
    const script = `
      import { readFileSync } from 'node:fs';
      import { Worker } from 'node:worker_threads';
      const image = { bytes: readFileSync(process.argv[2]), mime: 'image/heic', maxPixels: 10_000 };
      new Worker(process.argv[1], { workerData: image }).once('message', ({ file }) => console.log(file.length));`;
    const thread = join(folder, 'image/engine/decoders/thread.mjs');
    const words = ['-e', script, thread, join(root, 'test/media/fixtures/scene.heic')];
    const { stdout } = await promisify(execFile)(process.execPath, words, { env: { PATH: process.env.PATH } });
    expect(Number(stdout)).toBeGreaterThan(96 * 64);
  });

  it('imports every chunk, with its packages', async () => {
    const chunks = globSync('chunks/*.mjs', { cwd: folder });
    expect(chunks.length).toBeGreaterThan(100);
    expect(await faultsOf({ modules: chunks })).toEqual([]);
  });

  it('has the names that the sources take from dynamic imports', async () => {
    const literal = dynamicImports.filter(({ specifier }) => specifier.startsWith("'"));
    expect(literal.length).toBeGreaterThan(50);
    // The settings name these: a provider's package, and the runtime of the local embedder.
    expect(dynamicImports.filter((each) => !literal.includes(each)).map(({ module }) => module)).toEqual([
      'agent/providers/sdkproviders.ts',
      'memory/embedding/local/worker.ts',
    ]);
    const { packages } = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'));
    // Node loads these as they are published, and the import of every chunk covers those in it.
    const isKept = (specifier: string) => `node_modules/${specifier.replaceAll("'", '')}` in packages;
    expect(
      await faultsOf({
        dynamicImports: literal.filter(({ specifier }) => !isKept(specifier) && !specifier.startsWith("'node:")),
      }),
    ).toEqual([]);
  });

  it('has every thread and process that the sources name, and no other program', () => {
    const found = globSync('**/*.mjs', { cwd: folder, exclude: ['node_modules', 'chunks'] });
    expect(found.sort()).toEqual(['launch.mjs', 'main.mjs', ...new Set(programs)].sort());
  });

  it('starts every thread', async () => {
    expect(namedFiles.filter(({ isWorker }) => isWorker)).toHaveLength(workerCount);
    expect(await faultsOf({ workers })).toEqual([]);
  });

  it('has every file that the sources name by URL', () => {
    const named = namedFiles.filter(({ path }) => !path.startsWith('..'));
    expect(named.length).toBeGreaterThan(15);
    for (const { module, path } of named) expect(existsSync(join(folder, path)), `${path} for ${module}`).toBe(true);
    expect(namedFiles.filter(({ path }) => path.startsWith('..'))).toEqual([]);
  });

  it('starts, serves the whole tour, and ends on SIGTERM', { timeout: 600_000 }, async () => {
    const place = await newLanePlace();
    const program = run('start', [], place.env, folder);
    try {
      await program.waitFor('Atelier is ready', 240_000);
      const tour = run('demo', [], place.env, folder);
      expect(await tour.ended(240_000), tour.output()).toBe(0);
      program.child.kill('SIGTERM');
      expect(await program.ended(), program.output()).toBe(0);
    } finally {
      program.child.kill('SIGKILL');
      await place.remove();
    }
  });

  it('names the package that is missing and the command that installs it', async () => {
    const lost = join(folder, 'node_modules/libheif-js');
    await rename(lost, `${lost}.lost`);
    const program = run('start', [], {}, folder);
    expect(await program.ended()).toBe(1);
    expect(program.output()).toContain('libheif-js');
    expect(program.output()).toContain(`npm ci --omit=dev\` in ${folder}`);
    await rename(`${lost}.lost`, lost);
  });
});
