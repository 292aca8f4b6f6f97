/** docs/specification/system.md#commands: `npm run import-legacy` alone, beside a running instance, and on distributed engines. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { importLegacy } from '#commands/importlegacy.ts';
import { createPostgresDatabase, databaseEngines } from '../database.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';
import { runInProcess } from './inprocess.fixture.ts';
import { newLanePlace, type Place, type Program, run } from './running.fixture.ts';

/** Programs start slowly on a busy machine. */
const limitMs = 120_000;
const owner = '00000000-0000-4000-8000-00000000000a';
let place: Place;
const programs: Program[] = [];

beforeAll(async () => {
  place = await newLanePlace();
  await lay('old/a.png', await makeImage('png'));
  await lay('old/b.png', await makeImage('png', { seed: 7 }));
  await lay('old/bad.png', Buffer.from('no image'));
  await lay('old/video_1.mp4', Buffer.from('moving'));
});
afterEach(async () => {
  for (const program of programs.splice(0)) {
    program.child.kill('SIGKILL');
    await program.ended();
  }
});
afterAll(() => place.remove());

async function lay(path: string, bytes: Uint8Array): Promise<void> {
  const file = join(place.dataDir, 'legacy/agent_message', path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, bytes);
}

function start(env: Readonly<Record<string, string>> = {}): Program {
  const program = run('start', ['media', 'edge'], { ...place.env, ...env });
  programs.push(program);
  return program;
}

const imported = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runInProcess(importLegacy, args, { ...place.env, ...env });

const idOf = (output: string, path: string) => new RegExp(`^ok +([0-9a-f-]{36}) +${path}`, 'm').exec(output)?.[1] ?? '';

async function signed(
  ref: string,
): Promise<{ readonly ready: boolean; readonly width?: number; readonly url?: string }> {
  const { INTERNAL_KEY } = JSON.parse(await readFile(join(place.dataDir, 'secrets.json'), 'utf8'));
  const answer = await fetch(`http://127.0.0.1:${place.portBase + 1}/v1/sign/image`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-internal-key': INTERNAL_KEY },
    body: JSON.stringify({ refs: [ref] }),
  });
  const answers = (await answer.json()) as Record<string, { readonly ready: boolean }>;
  return answers[ref] ?? { ready: false };
}

describe('npm run import-legacy', { timeout: 5 * limitMs }, () => {
  it('works with and without a running instance, prints the same for the same file, and does not move the bytes', async () => {
    const alone = await imported([owner, 'thread', '1', 'old/a.png', 'old/video_1.mp4']);
    expect(alone.code, alone.output).toBe(0);
    const running = start();
    await running.waitFor('Atelier is ready', limitMs);
    const beside = await imported([owner, 'thread', '1', 'old/a.png', 'old/b.png']);
    expect(beside.code, beside.output).toBe(0);
    expect(idOf(beside.output, 'old/a.png')).toBe(idOf(alone.output, 'old/a.png'));
    for (const path of ['old/a.png', 'old/b.png']) {
      const answer = await signed(idOf(beside.output, path));
      expect(answer).toMatchObject({ ready: true, width: 60 });
      const bytes = await readFile(join(place.dataDir, 'legacy/agent_message', path));
      expect(Buffer.from(await (await fetch(String(answer.url))).arrayBuffer())).toEqual(bytes);
    }
    const foreign = await imported([owner, 'feed', '1', 'old/a.png']);
    expect(foreign.code).toBe(1);
    expect(foreign.output).toMatch(/^FAULT +old\/a\.png: .*already registered/m);
  });

  it('takes the bucket after = or as the next argument, and paths that begin with a dash after --', async () => {
    await lay('-c.png', await makeImage('png', { seed: 9 }));
    const bucket = 'agent_message';
    for (const args of [
      [`--bucket=${bucket}`, owner, 'thread', '1', 'old/a.png'],
      ['--bucket', bucket, owner, 'thread', '1', 'old/a.png'],
      [owner, 'thread', '1', '--bucket', bucket, '--', '-c.png'],
    ]) {
      const { code, output } = await imported(args);
      expect(code, output).toBe(0);
    }
  });

  it('continues after a path that cannot be imported, names each, and exits with 1', async () => {
    const paths = ['old/none.png', 'old/bad.png', '../../secrets.json', '/etc/passwd', 'old/b.png'];
    const { code, output } = await imported([owner, 'thread', '1', ...paths]);
    expect(code).toBe(1);
    for (const path of paths.slice(0, -1)) expect(output).toContain(`FAULT  ${path}: `);
    expect(idOf(output, 'old/b.png')).not.toBe('');
    expect(output.trim().split('\n')).toHaveLength(paths.length);
  });

  it.each<[string, readonly string[], string]>([
    ['no arguments', [], 'Usage'],
    ['no paths', [owner, 'thread', '1'], 'Usage'],
    ['an unknown option', ['--force', owner, 'thread', '1', 'old/a.png'], '--force'],
    ['an owner that is not a UUID', ['me', 'thread', '1', 'old/a.png'], 'ownerId must be a UUID'],
    ['a bucket that is a path', ['--bucket=..', owner, 'thread', '1', 'old/a.png'], 'legacyBucket'],
    ['a bucket as an argument of its own', ['--bucket', '..', owner, 'thread', '1', 'old/a.png'], 'legacyBucket'],
    ['a bucket without a name', [owner, 'thread', '1', 'old/a.png', '--bucket'], '--bucket'],
    ['an Atelier bucket', ['--bucket=objects', owner, 'thread', '1', 'old/a.png'], 'no such file'],
  ])('%s: prints one readable line and exits with 1', async (_name, args, said) => {
    const { code, output } = await imported(args);
    expect([code, output.trim().split('\n').length]).toEqual([1, 1]);
    expect(output).toContain(said);
  });

  it.runIf(isNightly && !databaseEngines.some(({ name, missing }) => name === 'postgres' && missing))(
    'works with PostgreSQL, with or without a running instance',
    async () => {
      const { url, drop } = await createPostgresDatabase();
      try {
        const env = { DATABASE_URL: url };
        const first = await imported([owner, 'thread', '1', 'old/a.png'], env);
        expect(first.code, first.output).toBe(0);
        const running = start(env);
        await running.waitFor('Atelier is ready', limitMs);
        const second = await imported([owner, 'thread', '1', 'old/b.png'], env);
        expect(second.code, second.output).toBe(0);
        expect(await signed(idOf(second.output, 'old/b.png'))).toMatchObject({ ready: true, width: 60 });
        expect(await signed(idOf(first.output, 'old/a.png'))).toMatchObject({ ready: true });
        running.child.kill('SIGKILL');
        await running.ended();
      } finally {
        await drop();
      }
    },
  );
});
