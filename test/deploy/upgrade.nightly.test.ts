/** deploy/host/upgrade: a folder for each version, a link that changes in one step, and the way back. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { createMigratedDatabase, databaseEngines } from '../database.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import { freePortBase } from '../ports.fixture.ts';
import { programEnv } from '../programs.fixture.ts';
import { upgradeEnvironment, upgradeScript, writeRelease } from './release.fixture.ts';

const withoutPostgres = databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);

describe.skipIf(withoutPostgres)('deploy/host/upgrade', () => {
  let place: string;
  let drop: () => Promise<unknown>;
  let [old, next] = ['', ''];
  const archive = (name: string) => join(place, `${name}.tar`);
  const version = async (link: string) => (await readlink(join(place, 'opt', link))).replace('versions/', '');
  const isComplete = (name: string) => existsSync(join(place, 'opt/versions', name, 'node_modules/sharp'));
  /** The restart only writes which version it starts, and the process is a server of the test. */
  const processes = () => ({ ATELIER_PROCESSES: String(port), ATELIER_RESTART: join(place, 'restart') });
  const upgrade = async (...words: readonly string[]) =>
    promisify(execFile)(upgradeScript, words, { env: upgradeEnvironment(place, processes()) }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout, stderr }) => ({ code, stdout: stdout + stderr }),
    );
  const configure = (lines: Readonly<Record<string, string>>) =>
    writeFile(
      join(place, 'atelier.env'),
      Object.entries(lines)
        .map(([name, value]) => `${name}="${value}"\n`)
        .join(''),
    );
  let settings: Record<string, string>;
  const server = createServer((_request, response) => response.end());
  /** Another program, on a port between those of the services. */
  const other = createServer((_request, response) => response.writeHead(400).end());
  let port: number;

  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), 'atelier-upgrade-'));
    const database = await createMigratedDatabase(migrations);
    drop = database.drop;
    settings = { ...programEnv, DATABASE_URL: database.url, ATELIER_DATA_DIR: join(place, 'data') } as typeof settings;
    delete settings.PATH;
    await configure(settings);
    port = await freePortBase();
    await once(server.listen(port, '127.0.0.1'), 'listening');
    await once(other.listen(port + 9, '127.0.0.1'), 'listening');
    await mkdir(join(place, 'shims'));
    const kill = (when: string) => `#!/bin/sh\nPATH=$REAL_PATH\n"$(basename "$0")" "$@"\n${when} kill -9 0\nexit 0\n`;
    for (const [path, text] of [
      ['restart', '#!/bin/sh\nreadlink "$ATELIER_ROOT/current" >> "$HOME/restarted"\n'],
      ['shims/mv', kill('[ "$(basename "$3")" != "$KILL_AT" ] ||')],
      ['shims/tar', kill('[ "$KILL_AT" != tar ] ||')],
    ] as const)
      await writeFile(join(place, path), text, { mode: 0o755 });
    [old, next] = [await writeRelease(archive('old'), 'aaaa'), await writeRelease(archive('next'), 'bbbb')];
  }, 240_000);
  afterAll(async () => {
    server.close();
    other.close();
    await drop();
    await rm(place, { recursive: true });
  });

  it('installs the first version, checks and switches to the next, and goes back', async () => {
    const first = await upgrade(archive('old'));
    expect([first.code, first.stdout]).toEqual([0, expect.stringContaining(`${old} runs`)]);
    expect(await version('current')).toBe(old);
    const checked = await upgrade('--check', archive('next'));
    expect(checked.stdout).toContain('the database is up to date');
    expect(await version('current')).toBe(old);
    expect((await upgrade(archive('next'))).code).toBe(0);
    expect([await version('current'), await version('previous')]).toEqual([next, old]);
    expect((await upgrade('--back')).code).toBe(0);
    expect([await version('current'), await version('previous')]).toEqual([old, next]);
    expect((await upgrade('--list')).stdout).toContain(`${old} (current)`);
  }, 240_000);

  it.runIf(isNightly)(
    'changes nothing if settings are missing',
    async () => {
      const before = await version('current');
      await configure({ ...settings, NODE_ENV: 'production', CMS_URL: 'https://cms.example.invalid' });
      const refused = await upgrade(archive(before === old ? 'next' : 'old'));
      await configure(settings);
      expect([refused.code, await version('current')]).toEqual([1, before]);
      expect(refused.stdout).toContain('missing in production: ');
      expect(refused.stdout).toContain('replace the example values of CMS_URL');
    },
    240_000,
  );

  /** Kills the script and its children after `mv` to this name, or after `tar`. */
  const killedAfter = async (killAt: string, words: readonly string[]) => {
    const usual = upgradeEnvironment(place, { ...processes(), KILL_AT: killAt });
    const child = spawn(upgradeScript, words, {
      env: { ...usual, REAL_PATH: usual.PATH, PATH: `${join(place, 'shims')}:${usual.PATH}` },
      detached: true,
      stdio: 'ignore',
    });
    return (await once(child, 'exit'))[1];
  };

  it.runIf(isNightly).each([
    ['during the installation', 'upgrade', 'tar', () => old],
    ['before the switch', 'upgrade', 'next', () => old],
    ['between the two links', 'upgrade', 'previous', () => old],
    ['between the switch and the restarts', 'upgrade', 'current', () => next],
    ['before the way back', '--back', 'back', () => next],
    ['between the two links of the way back', '--back', 'previous', () => next],
    ['between the way back and its restarts', '--back', 'current', () => old],
  ] as const)(
    'killed %s, leaves a working version, and completes when it runs again',
    async (_title, command, killAt, left) => {
      await upgrade(archive('old'));
      if (command === '--back') await upgrade(archive('next'));
      else await rm(join(place, 'opt/versions', next), { recursive: true, force: true });
      const words = command === '--back' ? [command] : [archive('next')];
      const [from, to] = command === '--back' ? [next, old] : [old, next];
      await writeFile(join(place, 'restarted'), '');
      expect(await killedAfter(killAt === 'next' ? next : killAt, words)).toBe('SIGKILL');
      const current = await version('current');
      expect([current, isComplete(current)]).toEqual([left(), true]);
      expect(await readFile(join(place, 'restarted'), 'utf8')).toBe('');
      const again = await upgrade(...words);
      expect([again.code, await version('current'), await version('previous')], again.stdout).toEqual([0, to, from]);
      expect(await readFile(join(place, 'restarted'), 'utf8')).toBe(`versions/${to}\n`);
      const versions = await readdir(join(place, 'opt/versions'));
      expect(versions.filter((name) => !isComplete(name))).toEqual([]);
    },
    240_000,
  );
});
