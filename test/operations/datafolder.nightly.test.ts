/** A copied data folder contains the same data, and only its owner can read it. The tests observe it from outside. */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '#app/config.ts';
import { newPlace, type Place, run } from '../acceptance/running.fixture.ts';
import { everyNth, isNightly } from '../lane.fixture.ts';
import { clip } from '../media/clips.fixture.ts';
import { folderCopies } from '../media/foldercopies.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';
import { render } from '../media/videosamples.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import { limitMs } from './installation.fixture.ts';

const ownerId = randomUUID();
const scope = { scopeKind: 'thread', scopeId: 't' };
const services = ['media', 'edge'];

let place: Place;
let folder: string;
let originals: Readonly<Record<string, Buffer>>;
let ids: Readonly<Record<'image' | 'video' | 'text' | 'oldImage' | 'oldVideo', string>>;
let imageKey: string;

interface Signed {
  readonly ready: boolean;
  readonly url?: string;
  readonly thumbUrl?: string;
}

const at = (dataDir: string): Place => ({ ...place, dataDir, env: { ...place.env, ATELIER_DATA_DIR: dataDir } });

/** Starts media and edge on the folder, runs `work`, and returns the output. */
async function whileRunning(dataDir: string, work: () => Promise<unknown>): Promise<string> {
  const program = run('start', services, at(dataDir).env);
  try {
    await program.waitFor('Atelier is ready', limitMs);
    await work();
  } finally {
    program.child.kill('SIGTERM');
    await program.ended(limitMs);
  }
  return program.output();
}

async function post<Body>(path: string, body: object): Promise<Body> {
  const [internalKey = ''] = readConfig(place.env, []).internal.keys;
  const answer = await fetch(`http://localhost:${place.portBase + 1}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-internal-key': internalKey },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path} returned ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Body;
}

async function download(url: string | undefined): Promise<Buffer> {
  const answer = await fetch(String(url));
  if (!answer.ok) throw new Error(`${url} returned ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}

async function upload(bytes: Buffer, kind: string, mime: string, more: object = {}): Promise<string> {
  const reserved = await post<{ assetId: string; uploadUrl: string; headers: Record<string, string> }>('/v1/uploads', {
    ...scope,
    ownerId,
    kind,
    mime,
  });
  const { uploadUrl, headers, assetId } = reserved;
  const put = await fetch(uploadUrl, { method: 'PUT', headers, body: new Uint8Array(bytes) });
  if (!put.ok) throw new Error(`the upload returned ${put.status}`);
  await post('/v1/assets', { ...scope, ownerId, assetId, kind, mime, ...more });
  return assetId;
}

const signImages = () => post<Record<string, Signed>>('/v1/sign/image', { refs: Object.values(ids) });

async function plant(): Promise<void> {
  const film = await readFile(await render(clip, folder));
  const [image, poster, old] = await Promise.all([1, 2, 3].map((seed) => makeImage('png', { seed, width: 500 })));
  if (image === undefined || poster === undefined || old === undefined) throw new Error('there are three');
  const text = Buffer.from('a text');
  originals = { image, video: film, text, oldImage: old, oldVideo: film };
  const legacy = join(place.dataDir, 'legacy/agent_message');
  await mkdir(legacy, { recursive: true });
  await writeFile(join(legacy, 'old.png'), old);
  await writeFile(join(legacy, 'old.mp4'), film);
  const imported = async (path: string) =>
    (await post<{ assetId: string }>('/v1/assets/legacy', { ...scope, ownerId, path })).assetId;
  const thumbAssetId = await upload(poster, 'image', 'image/png');
  ids = {
    image: await upload(image, 'image', 'image/png'),
    video: await upload(film, 'video', 'video/mp4', { thumbAssetId }),
    text: await upload(text, 'file', 'text/plain'),
    oldImage: await imported('old.png'),
    oldVideo: await imported('old.mp4'),
  };
  await post('/v1/watermark', { ref: ids.image });
  await download((await signImages())[ids.image]?.thumbUrl);
  const list = await readdir(join(place.dataDir, 'objects'), { recursive: true });
  imageKey = list.find((name) => name.endsWith(`${ids.image}.png`)) ?? '';
}

/** Checks that all files are present and unchanged, and that all derivatives can be generated. */
async function checkAll(): Promise<void> {
  const signed = await signImages();
  for (const [name, id] of Object.entries(ids))
    expect((await download(signed[id]?.url)).equals(originals[name] as Buffer), name).toBe(true);
  expect((await download(signed[ids.image]?.thumbUrl)).length).toBeGreaterThan(0);
  expect((await download(signed[ids.oldImage]?.thumbUrl)).length).toBeGreaterThan(0);
  const videos = await post<Record<string, Signed>>('/v1/sign/video', { refs: [ids.video] });
  expect((await download(videos[ids.video]?.thumbUrl)).length).toBeGreaterThan(0);
  for (const ref of [ids.image, ids.oldImage])
    expect((await download((await post<Signed>('/v1/watermark', { ref })).url)).length).toBeGreaterThan(0);
  for (const [name, id] of Object.entries(ids)) {
    const target = { toOwnerId: ownerId, toScopeKind: 'thread', toScopeId: randomUUID() };
    const { assetId } = await post<{ assetId: string }>('/v1/copy', { fromAssetId: id, ...target });
    const copied = await post<Record<string, Signed>>('/v1/sign/image', { refs: [assetId] });
    expect((await download(copied[assetId]?.url)).equals(originals[name] as Buffer), `a copy of ${name}`).toBe(true);
  }
}

async function openPaths(dataDir: string): Promise<readonly string[]> {
  const names = ['.', ...(await readdir(dataDir, { recursive: true }))];
  const found = await Promise.all(
    names.map(async (name) => {
      const mode = await stat(join(dataDir, name)).then(
        (one) => one.mode & 0o077,
        () => 0,
      );
      return mode === 0 ? [] : [name];
    }),
  );
  return found.flat();
}

describe.skipIf(skipWithout('ffmpeg'))('a data folder', { timeout: 6 * limitMs }, () => {
  beforeAll(async () => {
    place = await newPlace();
    folder = await mkdtemp(join(tmpdir(), 'atelier-datafolder-'));
    // As earlier versions and `mkdir` created it.
    await chmod(place.dataDir, 0o755);
    await whileRunning(place.dataDir, plant);
  }, 2 * limitMs);
  afterAll(async () => {
    await place.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it.each(everyNth(folderCopies, folderCopies.length))(
    'that was copied by $name contains the same data, and the second start settles nothing',
    async (way) => {
      const copy = join(folder, `copy by ${way.name}`);
      await way.copy(place.dataDir, copy);
      const report = await whileRunning(copy, checkAll);
      expect(report.split('an object has another ETag and the registered bytes')).toHaveLength(
        Object.keys(ids).length + 2,
      );
      expect(await openPaths(copy)).toEqual([]);
      expect(await whileRunning(copy, checkAll)).not.toContain('another ETag');
    },
  );

  it.runIf(isNightly)('a backup of a copy that was never started is valid', async () => {
    const [copy, backup, restored] = [join(folder, 'unstarted'), join(folder, 'backup'), join(folder, 'restored')];
    await folderCopies.find(({ name }) => name === 'cp -r')?.copy(place.dataDir, copy);
    expect(await run('backup', [backup], at(copy).env).ended(limitMs)).toBe(0);
    expect(await run('restore', [backup], at(restored).env).ended(limitMs)).toBe(0);
    expect(await openPaths(backup)).toEqual([]);
    expect(await openPaths(restored)).toEqual([]);
    await whileRunning(restored, checkAll);
  });

  it.runIf(isNightly)('names changed files, and does not serve them', async () => {
    const copy = join(folder, 'damaged');
    await folderCopies.find(({ name }) => name === 'cp -r')?.copy(place.dataDir, copy);
    await writeFile(join(copy, 'objects', imageKey), Buffer.alloc(originals.image?.length ?? 0, 1));
    const report = await whileRunning(copy, async () => {
      const signed = await signImages();
      expect(signed[ids.image]).toEqual({ ready: false, error: 'not_found' });
      expect((await download(signed[ids.text]?.url)).toString()).toBe('a text');
    });
    expect(report).toContain(`"storageKey":"${imageKey}"`);
  });

  it('every file is readable only by its owner, including those of the database', async () => {
    // The first start found a folder that other accounts could read. This test wrote the legacy files later.
    const open = await openPaths(place.dataDir);
    expect(open.filter((path) => !path.startsWith('legacy'))).toEqual([]);
    if (!isNightly) return;
    await chmod(place.dataDir, 0o755);
    await whileRunning(place.dataDir, () =>
      expect.poll(() => openPaths(place.dataDir), { timeout: limitMs }).toEqual([]),
    );
  });
});
