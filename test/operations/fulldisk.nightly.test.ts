/** A disk that becomes full under a running installation on the embedded engines, and one that is full at the start. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newPlace, type Place, type Program, run } from '../acceptance/running.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';

const limitMs = 240_000;
const patience = { timeout: 60_000, interval: 200 };
/** A small file system of its own, where the tests may mount one. */
const disk = mkdtempSync(join(tmpdir(), 'atelier-disk-'));
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256m', 'tmpfs', disk], { encoding: 'utf8' });
const mustMount = process.env.CI === 'true' && process.getuid?.() === 0;

afterAll(async () => {
  spawnSync('umount', ['-l', disk]);
  await rm(disk, { recursive: true, force: true });
});

describe.skipIf(mounted.status !== 0 && !mustMount)('a full disk', { timeout: 2 * limitMs }, () => {
  let place: Place;
  let program: Program | undefined;
  const env = () => ({ ...place.env, ATELIER_DATA_DIR: disk, INTERNAL_KEY: 'internal' });
  const filler = () => join(disk, 'filler');
  const at = (offset: number, path: string) => `http://localhost:${place.portBase + offset}${path}`;
  const owner = { ownerId: '00000000-0000-4000-8000-00000000000a', scopeKind: 'thread', scopeId: '1' };
  const what = { ...owner, kind: 'image', mime: 'image/png' };

  beforeAll(async () => {
    place = await newPlace();
    expect(mounted.status, mounted.stderr).toBe(0);
  });
  afterAll(async () => {
    program?.child.kill('SIGKILL');
    await program?.ended();
    await place.remove();
  });

  async function start(): Promise<void> {
    program = run('start', ['media', 'image', 'memory', 'edge'], env());
    await program.waitFor('Atelier is ready', limitMs);
  }

  async function call(offset: number, path: string, body?: object) {
    const answer = await fetch(at(offset, path), {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-internal-key': 'internal', ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  }

  /** To the last byte. */
  async function fill(): Promise<void> {
    for (let pass = 0; pass < 3; pass++) {
      const { bavail, bsize } = await statfs(disk);
      const bytes = Buffer.alloc(Math.max(bavail * bsize, bsize));
      await writeFile(filler(), bytes, { flag: 'a' }).catch(() => undefined);
    }
  }

  const put = async ({ uploadUrl, headers }: { uploadUrl: string; headers: Record<string, string> }) => {
    const answer = await fetch(uploadUrl, { method: 'PUT', headers, body: new Uint8Array(await makeImage('png')) });
    const text = await answer.text();
    return [answer.status, text === '' ? undefined : JSON.parse(text).error];
  };
  const add = (content: string) =>
    call(5, '/memory/add', { entity_id: owner.ownerId, entity_type: 'user', type: 'preference', content });

  it('is 503 storage_full for writes, reads go on, and everything goes on once there is space', async () => {
    await start();
    const image = (await call(1, '/v1/uploads', what)).body;
    expect(await put(image)).toEqual([200, undefined]);
    const { assetId } = image;
    expect((await call(1, '/v1/assets', { ...what, assetId })).status).toBe(201);
    const pending = (await call(1, '/v1/uploads', what)).body;
    const sign = async () => (await call(1, '/v1/sign/image', { refs: [assetId] })).body[assetId];
    const { url, previewUrl } = await sign();
    // Its first request stores it.
    expect((await fetch(previewUrl)).status).toBe(200);

    await fill();
    await expect.poll(() => put(pending), patience).toEqual([503, 'storage_full']);
    for (const { status, body } of [await call(1, '/v1/uploads', what), await add('I like full disks')])
      expect([status, body.error]).toEqual([503, 'storage_full']);
    const ready = async (offset: number) => (await fetch(at(offset, '/ready'))).json();
    await expect
      .poll(() => ready(1), patience)
      .toMatchObject({ status: 'unavailable', engines: { database: 'storage_full', originals: 'storage_full' } });
    expect(await ready(5)).toMatchObject({ engines: { database: 'storage_full' } });
    expect((await call(1, `/v1/assets/${assetId}`)).status).toBe(200);
    for (const address of [url, previewUrl, (await sign()).url]) expect((await fetch(address)).status).toBe(200);

    await rm(filler());
    await expect.poll(() => put(pending), patience).toEqual([200, undefined]);
    expect((await call(1, '/v1/assets', { ...what, assetId: pending.assetId })).status).toBe(201);
    expect((await add('I like empty disks')).status).toBeLessThan(300);
    await expect.poll(() => ready(1), patience).toMatchObject({ status: 'ok' });
  });

  it('stops a start with one clear line, and not the next one', async () => {
    program?.child.kill('SIGKILL');
    await program?.ended();
    await fill();
    program = run('start', ['media', 'image', 'memory', 'edge'], env());
    expect(await program.ended(limitMs)).not.toBe(0);
    expect(program.output()).toContain(
      `ATELIER_DATA_DIR: the disk of ${disk} is full; free some space and start again`,
    );
    await rm(filler());
    await start();
    expect((await add('I like space')).status).toBeLessThan(300);
  });
});
