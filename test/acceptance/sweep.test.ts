/** `npm run sweep` alone, beside a running instance, and on distributed engines. */
import { mkdir, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { sweep } from '#commands/sweep.ts';
import { createPostgresDatabase, databaseEngines } from '../database.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import { runInProcess } from './inprocess.fixture.ts';
import { newLanePlace, type Place, type Program, run } from './running.fixture.ts';

/** Programs start slowly on a busy machine. */
const limitMs = 120_000;
const owner = '00000000-0000-4000-8000-00000000000a';
const programs: Program[] = [];
let place: Place;

beforeAll(async () => {
  place = await newLanePlace();
});
afterEach(async () => {
  for (const program of programs.splice(0)) {
    program.child.kill('SIGKILL');
    await program.ended();
  }
});
afterAll(() => place.remove());

function start(env: Readonly<Record<string, string>> = {}): Program {
  const program = run('start', ['media', 'edge'], { ...place.env, ...env });
  programs.push(program);
  return program;
}

const swept = (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) =>
  runInProcess(sweep, args, { ...place.env, ...env });

const fileOf = (key: string) => join(place.dataDir, 'objects', key);
const isThere = (key: string) =>
  stat(fileOf(key)).then(
    () => true,
    () => false,
  );

/** Creates a file that is two days old, or new. */
async function lay(name: string, isOld = true): Promise<string> {
  const key = `u/${owner}/thread/1/00000000-0000-4000-8000-${name.padStart(12, '0')}.png`;
  await mkdir(dirname(fileOf(key)), { recursive: true });
  await writeFile(fileOf(key), 'bytes');
  const then = new Date(Date.now() - (isOld ? 48 : 0) * 3_600_000);
  await utimes(fileOf(key), then, then);
  return key;
}

describe('npm run sweep', { timeout: 6 * limitMs }, () => {
  it('lists items to remove, then removes them with a running instance', async () => {
    const [old, other, young] = [await lay('1'), await lay('2'), await lay('3', false)];
    const dry = await swept();
    expect(dry.code, dry.output).toBe(0);
    expect(dry.output).toContain(`would remove  unregistered upload       ${old}  (5 bytes)`);
    expect(dry.output).toMatch(/^To be removed: .*\b2 unregistered uploads.*Nothing was changed/m);
    expect([await isThere(old), await isThere(other)]).toEqual([true, true]);
    expect(dry.output).not.toContain(young);

    const running = start();
    await running.waitFor('Atelier is ready', limitMs);
    const beside = await swept(['--apply']);
    expect(beside.code, beside.output).toBe(0);
    expect(beside.output).toContain(`removed       unregistered upload       ${old}`);
    expect(beside.output.trim().split('\n').at(-1)).toMatch(/^Removed: .*\b2 unregistered uploads,/);
    expect([await isThere(old), await isThere(other), await isThere(young)]).toEqual([false, false, true]);
  });

  it.runIf(isNightly)('removes files without an instance, and lists them with one', async () => {
    const [old, young] = [await lay('4'), await lay('5', false)];
    const wet = await swept(['--apply']);
    expect(wet.code, wet.output).toBe(0);
    expect(wet.output).toContain(`removed       unregistered upload       ${old}`);
    expect([await isThere(old), await isThere(young)]).toEqual([false, true]);

    const running = start();
    await running.waitFor('Atelier is ready', limitMs);
    const next = await lay('8');
    expect((await swept()).output).toContain(`would remove  unregistered upload       ${next}`);
    expect((await swept(['--apply'])).code).toBe(0);
    expect((await swept()).output.trim()).toMatch(/^To be removed: 0 .*\.$/);
  });

  it('an unknown option prints one readable line and exits with 1', async () => {
    const { code, output } = await swept(['--force']);
    expect([code, output.trim().split('\n').length]).toEqual([1, 1]);
    expect(output).toContain('--force');
  });

  it.runIf(isNightly && !databaseEngines.some(({ name, missing }) => name === 'postgres' && missing))(
    'works with PostgreSQL, with or without a running instance',
    async () => {
      const { url, drop } = await createPostgresDatabase();
      try {
        const env = { DATABASE_URL: url };
        const first = await lay('6');
        const alone = await swept(['--apply'], env);
        expect([alone.code, await isThere(first)], alone.output).toEqual([0, false]);
        const running = start(env);
        await running.waitFor('Atelier is ready', limitMs);
        const second = await lay('7');
        const beside = await swept(['--apply'], env);
        expect([beside.code, await isThere(second)], beside.output).toEqual([0, false]);
        running.child.kill('SIGKILL');
        await running.ended();
      } finally {
        await drop();
      }
    },
  );
});
