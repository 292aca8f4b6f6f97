/** deploy/host/upgrade: a folder for each version, a link that changes in one step, and the way back. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { createMigratedDatabase, databaseEngines } from '../database.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
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
  /** No process runs, so it only installs and switches. */
  const upgrade = async (...words: readonly string[]) =>
    promisify(execFile)(upgradeScript, words, { env: upgradeEnvironment(place, { ATELIER_PROCESSES: ' ' }) }).then(
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

  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), 'atelier-upgrade-'));
    const database = await createMigratedDatabase(migrations);
    drop = database.drop;
    settings = { ...programEnv, DATABASE_URL: database.url, ATELIER_DATA_DIR: join(place, 'data') } as typeof settings;
    delete settings.PATH;
    await configure(settings);
    [old, next] = [await writeRelease(archive('old'), 'aaaa'), await writeRelease(archive('next'), 'bbbb')];
  }, 240_000);
  afterAll(async () => {
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

  it.runIf(isNightly)(
    'leaves a working version if it is killed, and completes when it runs again',
    async () => {
      for (const what of ['.new', `versions/${next}`]) {
        await upgrade(archive('old'));
        await rm(join(place, 'opt/versions', next), { recursive: true, force: true });
        const child = spawn(upgradeScript, [archive('next')], {
          env: upgradeEnvironment(place, { ATELIER_PROCESSES: ' ' }),
          detached: true,
          stdio: 'ignore',
        });
        const ended = once(child, 'exit');
        const isThere = async () =>
          what === '.new'
            ? (await readdir(join(place, 'opt/versions'))).some((name) => name.startsWith(what))
            : existsSync(join(place, 'opt', what));
        await expect.poll(isThere, { timeout: 30_000, interval: 5 }).toBe(true);
        process.kill(-(child.pid as number), 'SIGKILL');
        await ended;
        expect(isComplete(await version('current'))).toBe(true);
        const again = await upgrade(archive('next'));
        expect([again.code, await version('current')], again.stdout).toEqual([0, next]);
        const versions = await readdir(join(place, 'opt/versions'));
        expect(versions.filter((name) => !isComplete(name))).toEqual([]);
      }
    },
    240_000,
  );
});
