/**
 * Builds deploy/Dockerfile with a container engine, if one runs here. Without one, test/deploy/image.nightly.test.ts executes the same
 * file in a folder.
 */
import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../acceptance/running.fixture.ts';

const engine = ['docker', 'podman'].find((program) => spawnSync(program, ['info'], { stdio: 'ignore' }).status === 0);

describe.skipIf(engine === undefined)('the image of a container engine', { timeout: 300_000 }, () => {
  const tag = `atelier-test:${randomBytes(6).toString('hex')}`;
  const call = async (...words: readonly string[]) =>
    (await promisify(execFile)(String(engine), words, { cwd: root, maxBuffer: 64 * 1024 * 1024 })).stdout.trim();
  beforeAll(() => call('build', '--file', 'deploy/Dockerfile', '--tag', tag, '.'), 600_000);
  afterAll(() => call('rmi', '--force', tag));

  it('runs as an unprivileged user on a read-only root', async () => {
    expect(await call('run', '--rm', '--entrypoint', 'id', tag, '--user', '--name')).toBe('node');
    const output = await call(
      'run',
      '--rm',
      '--read-only',
      '--entrypoint',
      'node',
      tag,
      'launch.mjs',
      'start',
      '--help',
    );
    expect(output).toContain('Usage: npm start');
  });

  it('has ffmpeg and the program, without tests and tools', async () => {
    expect(await call('run', '--rm', '--entrypoint', 'ffmpeg', tag, '-version')).toContain('ffmpeg version');
    const files = (await call('run', '--rm', '--entrypoint', 'find', tag, '/app', '-maxdepth', '1')).split('\n');
    const expected = [
      'bundle.mjs',
      'deploy',
      'launch.mjs',
      'LICENSE',
      'node_modules',
      'package-lock.json',
      'package.json',
      'src',
    ];
    expect(files.sort()).toEqual(['/app', ...expected.map((name) => `/app/${name}`)].sort());
  });
});
