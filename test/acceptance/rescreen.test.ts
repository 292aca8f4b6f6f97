/** `npm run rescreen`, alone and beside a running instance. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { rescreen as rescreenCommand } from '#commands/rescreen.ts';
import { digestOf } from '../media/lists.fixture.ts';
import { runInProcess } from './inprocess.fixture.ts';
import { newLanePlace, type Place, type Program, run } from './running.fixture.ts';

/** Programs start slowly on a busy machine. */
const limitMs = 120_000;
const internalKey = 'an internal key of this test';
const programs: Program[] = [];
let place: Place;
let lists: string;

beforeAll(async () => {
  place = await newLanePlace();
  lists = await mkdtemp(join(tmpdir(), 'atelier-lists-'));
});
afterEach(async () => {
  for (const program of programs.splice(0)) {
    program.child.kill('SIGKILL');
    await program.ended();
  }
});
afterAll(async () => {
  await place.remove();
  await rm(lists, { recursive: true, force: true });
});

const settings = () => ({ ...place.env, MEDIA_BLOCKED_HASHES: lists, INTERNAL_KEY: internalKey });

function start(): Program {
  const program = run('start', ['media', 'edge'], settings());
  programs.push(program);
  return program;
}

const rescreen = (args: readonly string[] = []) => runInProcess(rescreenCommand, args, settings());

async function call<Body>(path: string, json: unknown): Promise<{ readonly status: number; readonly body: Body }> {
  const response = await fetch(`http://localhost:${place.portBase + 1}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-internal-key': internalKey },
    body: JSON.stringify(json),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

/** Uploads and registers `bytes`. Resolves with the id. */
async function register(bytes: Buffer): Promise<string> {
  const upload = { scopeKind: 'thread', scopeId: '1', kind: 'file', mime: 'application/pdf', ownerId: randomUUID() };
  const { body } = await call<{ assetId: string; uploadUrl: string; headers: Record<string, string> }>(
    '/v1/uploads',
    upload,
  );
  await fetch(body.uploadUrl, { method: 'PUT', headers: body.headers, body: new Uint8Array(bytes) });
  const { status } = await call('/v1/assets', { ...upload, assetId: body.assetId });
  expect(status).toBe(201);
  return body.assetId;
}

const isReadable = async (assetId: string) => {
  const { body } = await call<Record<string, { readonly ready: boolean }>>('/v1/sign/image', { refs: [assetId] });
  return body[assetId]?.ready;
};

describe('npm run rescreen', { timeout: 6 * limitMs }, () => {
  it('blocks assets that match new list entries, with and without a running instance', async () => {
    const [first, second] = [Buffer.from(`first ${randomUUID()}`), Buffer.from(`second ${randomUUID()}`)];
    const running = start();
    await running.waitFor('Atelier is ready', limitMs);
    const ids = [await register(first), await register(second)];
    await writeFile(join(lists, 'sha256.txt'), digestOf('sha256', first));
    const beside = await rescreen();
    expect(beside.code, beside.output).toBe(0);
    expect(beside.output).toMatch(/started the job [0-9a-f-]{36}\. Its log contains the result\.$/m);
    await running.waitFor('matched the stored digests with the lists', limitMs);
    expect([await isReadable(ids[0] ?? ''), await isReadable(ids[1] ?? '')]).toEqual([false, true]);
    running.child.kill('SIGTERM');
    await running.ended(limitMs);

    await writeFile(join(lists, 'sha256.txt'), digestOf('sha256', second));
    const alone = await rescreen();
    expect([alone.code, alone.output.split('\n').at(-1)]).toEqual([0, 'Checked: 1. Blocked: 1. Without digests: 0.']);
    expect((await rescreen()).output.split('\n').at(-1)).toBe('Checked: 0. Blocked: 0. Without digests: 0.');
  });

  it('an unknown option: one readable line, and 1', async () => {
    const { code, output } = await rescreen(['--force']);
    expect([code, output]).toEqual([1, "Unknown option '--force'. Usage: npm run rescreen."]);
  });
});
