/** The webhook events of the media service (docs/specification/webhooks.md#events). */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clip } from '../../test/media/clips.fixture.ts';
import { makeImage } from '../../test/media/images.fixture.ts';
import { digestOf, type Lists, openLists } from '../../test/media/lists.fixture.ts';
import { type MediaRig, onEveryPair, startMedia, upload } from '../../test/media/rig.fixture.ts';
import { render } from '../../test/media/videosamples.fixture.ts';
import { skipWithout } from '../../test/programs.fixture.ts';
import { publishedEvents } from '../../test/webhooks/published.fixture.ts';
import type { Asset } from './api.ts';
import type { VideoTask } from './tasks/api.ts';

onEveryPair('webhook events of the media service', (pair) => {
  let rig: MediaRig;
  let lists: Lists;
  beforeAll(async () => {
    lists = await openLists();
    rig = await startMedia(pair, { publishes: true, blockedHashes: lists.folder });
  });
  afterAll(async () => {
    await rig.close();
    await lists.close();
  });

  let seed = 300;
  const eventsOf = async (assetId: string) =>
    (await publishedEvents(rig.database)).filter(({ data }) => data.assetId === assetId);
  const typesOf = async (assetId: string) => (await eventsOf(assetId)).map(({ type }) => type);
  const register = async () => {
    const bytes = await makeImage('png', { seed: ++seed });
    const { registration, assetId } = await upload(rig.user, bytes);
    const { status, body } = await rig.user.register(registration);
    expect(status).toBe(201);
    return { said: registration, assetId, body, bytes };
  };

  it('report a registration once, with the identity of the asset', async () => {
    const { said, assetId, body, bytes } = await register();
    expect((await rig.user.register(said)).status).toBe(200);
    const { scopeKind, scopeId } = said;
    const data = { assetId, ownerId: rig.userId, scopeKind, scopeId, kind: 'image', mime: 'image/png' };
    expect(await eventsOf(assetId)).toEqual([
      { type: 'asset.registered', timestamp: expect.any(String), data: { ...data, byteSize: bytes.length } },
    ]);
    expect(body.byteSize).toBe(bytes.length);
  });

  it('report a copy and an import as registrations', async () => {
    const { assetId } = await register();
    const to = { fromAssetId: assetId, toScopeKind: 'thread', toScopeId: 'another' };
    const copy = await rig.user.post<Asset>('/v1/copy', to);
    expect(await typesOf(copy.body.assetId)).toEqual(['asset.registered']);
    const path = `${rig.userId}/${randomUUID()}.png`;
    const bytes = await makeImage('png', { seed: ++seed });
    await rig.legacyFiles.put(path, bytes, { contentType: 'image/png', size: bytes.length, createOnly: true });
    const place = { ownerId: rig.userId, scopeKind: 'thread', scopeId: 'legacy', legacyBucket: rig.legacyBucket, path };
    const imported = await rig.server.post<Asset>('/v1/assets/legacy', place);
    expect([imported.status, await typesOf(imported.body.assetId)]).toEqual([201, ['asset.registered']]);
  });

  it('report a deletion, by id and by scope', async () => {
    const one = await register();
    const other = await register();
    await rig.user.delete('/v1/assets', { ids: [one.assetId] });
    await rig.user.delete('/v1/assets', { ids: [one.assetId] });
    const { scopeKind, scopeId } = other.said;
    await rig.user.delete('/v1/scope', { ownerId: rig.userId, scopeKind, scopeId });
    for (const { assetId, said } of [one, other]) {
      expect(await typesOf(assetId)).toEqual(['asset.registered', 'asset.deleted']);
      const data = { assetId, ownerId: rig.userId, scopeKind: said.scopeKind, scopeId: said.scopeId, kind: 'image' };
      expect((await eventsOf(assetId))[1]?.data).toEqual(data);
    }
  });

  it('report a blocked upload without its content', async () => {
    const bytes = await makeImage('png', { seed: ++seed });
    await lists.write('sha256', digestOf('sha256', bytes));
    const { registration, assetId } = await upload(rig.user, bytes);
    expect((await rig.user.register(registration)).status).toBe(451);
    expect((await rig.user.register(registration)).status).toBe(409);
    await lists.clear();
    const { scopeKind, scopeId } = registration;
    expect((await eventsOf(assetId)).map(({ type, data }) => ({ type, data }))).toEqual([
      {
        type: 'asset.blocked',
        data: {
          assetId,
          ownerId: rig.userId,
          scopeKind,
          scopeId,
          kind: 'image',
          sha256: digestOf('sha256', bytes),
          list: expect.any(String),
          label: null,
        },
      },
    ]);
  });

  it('report an asset that a rescreening blocks', async () => {
    const { assetId, bytes } = await register();
    await lists.write('sha256', digestOf('sha256', bytes));
    expect((await rig.server.post('/v1/rescreen', {})).status).toBe(202);
    await expect.poll(() => typesOf(assetId), { timeout: 60_000 }).toEqual(['asset.registered', 'asset.blocked']);
    await lists.clear();
  });

  it('report no upload that is refused', async () => {
    const { registration, assetId } = await upload(rig.user, Buffer.from('no image'));
    expect((await rig.user.register(registration)).status).toBe(422);
    expect(await typesOf(assetId)).toEqual([]);
  });

  describe.skipIf(skipWithout('ffmpeg'))('of video tasks', () => {
    const video = { kind: 'video', mime: 'video/mp4' };
    const ofTask = async (taskId: string) =>
      (await publishedEvents(rig.database))
        .filter(({ data }) => data.taskId === taskId)
        .map(({ type, data }) => ({ type, data }));
    const begin = async (bytes: Uint8Array) => {
      const { registration, assetId } = await upload(rig.user, bytes, video);
      const { body } = await rig.user.post<VideoTask>('/v1/media-tasks/video', registration);
      return { taskId: body.taskId, said: registration, assetId };
    };

    it('report the completed task, and the video and its poster as registered', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'atelier-events-'));
      const { taskId, assetId } = await begin(await readFile(await render(clip, folder)));
      await expect.poll(() => ofTask(taskId), { timeout: 60_000 }).toHaveLength(1);
      const [end] = await ofTask(taskId);
      const assetIds = [assetId, expect.any(String)];
      expect(end).toEqual({ type: 'video_task.completed', data: { taskId, ownerId: rig.userId, assetIds } });
      const made = (end?.data.assetIds ?? []) as string[];
      expect(made).toHaveLength(2);
      for (const id of made) expect(await typesOf(id)).toEqual(['asset.registered']);
      await rm(folder, { recursive: true });
    });

    it('report the failed task with its reason', async () => {
      const { taskId } = await begin(Buffer.from('no video at all'));
      await expect.poll(() => ofTask(taskId), { timeout: 60_000 }).toHaveLength(1);
      const data = { taskId, ownerId: rig.userId, error: expect.any(String) };
      expect(await ofTask(taskId)).toEqual([{ type: 'video_task.failed', data }]);
    });

    it('report the task that is deleted with its scope', async () => {
      // Its worker waits for the one permit that the first task holds, or has not begun.
      const { taskId, said } = await begin(Buffer.from('no video either'));
      const { scopeKind, scopeId } = said;
      await rig.user.delete('/v1/scope', { ownerId: rig.userId, scopeKind, scopeId });
      const [end, ...rest] = await ofTask(taskId);
      expect([end?.type, rest]).toEqual(['video_task.failed', []]);
    });
  });
});
