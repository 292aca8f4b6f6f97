import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { badVideos, longVideo } from '../../../test/media/badvideos.fixture.ts';
import { clip } from '../../../test/media/clips.fixture.ts';
import {
  type Client,
  embedded,
  type MediaRig,
  onEveryPair,
  startMedia,
  upload,
} from '../../../test/media/rig.fixture.ts';
import { render } from '../../../test/media/videosamples.fixture.ts';
import { skipWithout } from '../../../test/programs.fixture.ts';
import type { Asset, VideoSignedRefs } from '../api.ts';
import { posterIdOf } from '../assets/asset.ts';
import type { MediaTask, VideoTask } from './api.ts';

onEveryPair('media tasks', (pair) => {
  let rig: MediaRig;
  beforeAll(async () => {
    rig = await startMedia(pair);
  });
  afterAll(() => rig.close());

  const said = (changes: object = {}) => ({
    taskId: randomUUID(),
    ownerId: rig.userId,
    mediaType: 'video',
    ...changes,
  });
  const put = (task: object) => rig.server.post<MediaTask>('/v1/media-tasks', task);
  const read = (taskId: string, client: Client = rig.user) => client.get<MediaTask>(`/v1/media-tasks/${taskId}`);

  describe('POST /v1/media-tasks', () => {
    it('writes a row, pending by default', async () => {
      const task = said();
      const { status, body } = await put(task);
      expect(status).toBe(200);
      expect(body).toEqual({
        ...task,
        status: 'pending',
        metadata: {},
        createdAt: body.createdAt,
        created_at: body.createdAt,
        updatedAt: expect.any(String),
      });
      expect(new Date(body.createdAt).toISOString()).toBe(body.createdAt);
      expect((await put(said({ status: 'processing', metadata: { a: 1 } }))).body).toMatchObject({
        status: 'processing',
        metadata: { a: 1 },
      });
    });

    it('preserves its owner, media type and start, and replaces metadata', async () => {
      const task = said({ metadata: { first: true, deep: { list: [1, 'ü', null] } } });
      const { body: first } = await put(task);
      await sleep(5);
      const { body: second } = await put({
        ...task,
        ownerId: randomUUID(),
        mediaType: 'audio',
        metadata: { second: 2 },
      });
      expect(second).toMatchObject({ ownerId: task.ownerId, mediaType: 'video', metadata: { second: 2 } });
      expect([second.createdAt, second.created_at]).toEqual([first.createdAt, first.createdAt]);
      expect(second.updatedAt > first.updatedAt).toBe(true);
      expect((await put(said({ taskId: task.taskId }))).body.metadata).toEqual({ second: 2 });
    });

    it.each([
      ['pending', 'processing', 'processing'],
      ['pending', 'completed', 'completed'],
      ['pending', 'failed', 'failed'],
      ['processing', 'completed', 'completed'],
      ['processing', 'pending', 'processing'],
      ['processing', undefined, 'processing'],
      ['completed', 'pending', 'completed'],
      ['completed', 'processing', 'completed'],
      ['completed', 'failed', 'completed'],
      ['completed', undefined, 'completed'],
      ['failed', 'completed', 'failed'],
      ['failed', 'processing', 'failed'],
    ])('%s, then %s: %s', async (before, then, after) => {
      const task = said({ status: before });
      await put(task);
      expect((await put({ ...task, status: then, metadata: { then } })).body).toMatchObject({ status: after });
      expect((await read(task.taskId)).body).toMatchObject({ status: after });
    });

    it('keeps one row, with the furthest status, after concurrent writes', async () => {
      const task = said();
      const states = ['completed', 'processing', 'pending', 'processing', 'pending', 'completed', 'pending'];
      const answers = await Promise.all(states.map((status) => put({ ...task, status })));
      expect(answers.map(({ status }) => status)).toEqual(states.map(() => 200));
      expect(new Set(answers.map(({ body }) => body.createdAt)).size).toBe(1);
      expect((await read(task.taskId)).body.status).toBe('completed');
    });

    it.each([
      ['no taskId', { taskId: undefined }],
      ['a taskId that is no UUID', { taskId: 'x' }],
      ['no ownerId', { ownerId: undefined }],
      ['no mediaType', { mediaType: undefined }],
      ['an empty mediaType', { mediaType: '' }],
      ['an unknown status', { status: 'done' }],
      ['metadata that is no object', { metadata: [1] }],
      ['metadata with NUL', { metadata: { a: ['\0'] } }],
      ['a key with a lone surrogate', { metadata: { '\ud800': 1 } }],
      ['metadata that is too deep', { metadata: JSON.parse(`{"a":${'['.repeat(40)}${']'.repeat(40)}}`) }],
    ])('refuses %s', async (_what, change) => {
      const { status, body } = await rig.server.post('/v1/media-tasks', said(change));
      expect([status, body.error]).toEqual([400, 'invalid_request']);
    });

    it('accepts its key in any case', async () => {
      const task = said();
      await put({ ...task, taskId: task.taskId.toUpperCase() });
      expect((await read(task.taskId.toUpperCase())).body).toMatchObject({ taskId: task.taskId, ownerId: rig.userId });
    });
  });

  describe('GET /v1/media-tasks/:taskId', () => {
    it('is pending without a row, and reading it writes none', async () => {
      const taskId = randomUUID();
      for (const client of [rig.user, rig.server, rig.user])
        expect(await read(taskId, client)).toMatchObject({ status: 200, body: { taskId, status: 'pending' } });
      expect((await rig.user.delete(`/v1/media-tasks/${taskId}`)).body).toEqual({ deleted: false, assetsDeleted: 0 });
    });

    it('shows users their own tasks, and servers all', async () => {
      const task = said();
      await put(task);
      expect((await read(task.taskId)).body).toMatchObject(task);
      expect((await read(task.taskId, rig.server)).body).toMatchObject(task);
      expect(await read(task.taskId, rig.otherUser)).toMatchObject({ status: 404, body: { error: 'not_found' } });
    });

    it.each(['x', '123', `${'a'.repeat(8)}-1`])('refuses %s', async (taskId) => {
      expect((await read(taskId)).status).toBe(400);
      expect((await rig.user.delete(`/v1/media-tasks/${taskId}`)).status).toBe(400);
    });
  });

  describe('DELETE /v1/media-tasks/:taskId', () => {
    const registered = async (client: Client, ownerId: string) => {
      const { registration: what } = await upload(client, Buffer.from('bytes'), {
        mime: 'video/mp4',
        kind: 'video',
        ownerId,
      });
      return (await client.register(what)).body.assetId;
    };
    const isReady = async (ref: string) => {
      const { body } = await rig.server.post<VideoSignedRefs>('/v1/sign/video', { refs: [ref] });
      return body[ref]?.ready;
    };

    it('deletes the assets that the task lists, then the row; a repetition deletes nothing', async () => {
      const assetIds = [await registered(rig.user, rig.userId), await registered(rig.user, rig.userId)];
      const listed = [...assetIds, String(assetIds[0]).toUpperCase(), randomUUID(), 'no id', 7];
      const task = said({ status: 'completed', metadata: { output: { assetIds: listed } } });
      await put(task);
      const path = `/v1/media-tasks/${task.taskId}`;
      expect(await rig.otherUser.delete(path)).toMatchObject({ status: 404 });
      expect(await isReady(String(assetIds[0]))).toBe(true);
      expect(await rig.user.delete(path)).toMatchObject({ status: 200, body: { deleted: true, assetsDeleted: 2 } });
      expect(await isReady(String(assetIds[0]))).toBe(false);
      expect(await rig.user.delete(path)).toMatchObject({ status: 200, body: { deleted: false, assetsDeleted: 0 } });
      expect((await read(task.taskId)).body).toEqual({ taskId: task.taskId, status: 'pending' });
    });

    it('leaves assets of other owners, regardless of the metadata', async () => {
      const foreign = await registered(rig.server, randomUUID());
      const task = said({ metadata: { output: { assetIds: [foreign] } } });
      await put(task);
      expect((await rig.user.delete(`/v1/media-tasks/${task.taskId}`)).body).toEqual({
        deleted: true,
        assetsDeleted: 0,
      });
      expect(await isReady(foreign)).toBe(true);
    });

    it.each([{}, { output: null }, { output: 'x' }, { output: { assetIds: 'x' } }, { output: {} }])(
      'takes %o as no assets',
      async (metadata) => {
        const task = said({ metadata });
        await put(task);
        const path = `/v1/media-tasks/${task.taskId}`;
        expect((await rig.server.delete(path)).body).toEqual({ deleted: true, assetsDeleted: 0 });
      },
    );

    it('allows an explicit upsert to write it again', async () => {
      const task = said({ status: 'completed' });
      await put(task);
      await rig.user.delete(`/v1/media-tasks/${task.taskId}`);
      expect((await put(said({ taskId: task.taskId }))).body.status).toBe('pending');
    });
  });

  it('DELETE /v1/media-tasks deletes the rows of an owner, and no assets', async () => {
    const ownerId = randomUUID();
    const { registration: what } = await upload(rig.server, Buffer.from('bytes'), {
      mime: 'video/mp4',
      kind: 'video',
      ownerId,
    });
    const { body: asset } = await rig.server.register(what);
    for (let n = 0; n < 3; n++) await put(said({ ownerId, metadata: { output: { assetIds: [asset.assetId] } } }));
    const other = said();
    await put(other);
    expect(await rig.server.delete('/v1/media-tasks', { ownerId })).toMatchObject({
      status: 200,
      body: { deleted: 3 },
    });
    expect((await rig.server.delete('/v1/media-tasks', { ownerId })).body).toEqual({ deleted: 0 });
    expect((await read(other.taskId)).body).toMatchObject(other);
    const { body: signed } = await rig.server.post<VideoSignedRefs>('/v1/sign/video', { refs: [asset.assetId] });
    expect(signed[asset.assetId]?.ready).toBe(true);
    expect((await rig.server.delete('/v1/media-tasks', {})).status).toBe(400);
  });

  it('require credentials', async () => {
    const nobody = rig.client({});
    const path = `/v1/media-tasks/${randomUUID()}`;
    expect((await nobody.get(path)).status).toBe(401);
    expect((await nobody.delete(path)).status).toBe(401);
    expect((await nobody.get('/v1/media-tasks/x')).status).toBe(401);
    expect((await nobody.post('/v1/media-tasks', said())).status).toBe(401);
    expect((await nobody.post('/v1/media-tasks/video', {})).status).toBe(401);
    expect((await rig.user.post('/v1/media-tasks', said())).status).toBe(403);
    expect((await rig.user.delete('/v1/media-tasks', { ownerId: rig.userId })).status).toBe(403);
  });

  describe.skipIf(skipWithout('ffmpeg'))('POST /v1/media-tasks/video', () => {
    let folder: string;
    let bytes: Buffer;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'atelier-tasks-'));
      bytes = await readFile(await render(clip, folder));
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    const uploadClip = (client = rig.user, content: Uint8Array = bytes, changes: object = {}) =>
      upload(client, content, { kind: 'video', mime: 'video/mp4', ...changes });
    const begin = (what: object, client: Client = rig.user) => client.post<VideoTask>('/v1/media-tasks/video', what);
    const ended = async (taskId: string): Promise<MediaTask> => {
      for (;;) {
        const { body } = await read(taskId, rig.server);
        if (body.status === 'completed' || body.status === 'failed') return body;
        await sleep(50);
      }
    };

    it('makes a poster and registers both', async () => {
      const { registration: what, assetId } = await uploadClip();
      const { status, body } = await begin({ ...what, threadId: 'a-thread' });
      expect(status).toBe(200);
      expect(body).toEqual({ taskId: expect.any(String), status: 'pending' });
      const task = await ended(body.taskId);
      const posterId = posterIdOf(assetId);
      expect(task).toMatchObject({ ownerId: rig.userId, mediaType: 'video', status: 'completed' });
      expect(task.metadata).toMatchObject({ assetId, threadId: 'a-thread', output: { assetIds: [assetId, posterId] } });
      const { body: videos } = await rig.user.post<VideoSignedRefs>('/v1/sign/video', { refs: [assetId] });
      expect(videos[assetId]).toMatchObject({
        ready: true,
        mime: 'video/mp4',
        byteSize: bytes.length,
        width: 160,
        height: 90,
        thumbAssetId: posterId,
        thumbUrl: expect.any(String),
      });
      const { body: images } = await rig.user.sign([posterId]);
      expect(images[posterId]).toMatchObject({ ready: true, mime: 'image/jpeg', width: 160, height: 90 });
      const again: Asset = (await rig.user.register({ ...what, kind: 'video' })).body;
      expect(again).toMatchObject({ assetId, kind: 'video', thumbAssetId: posterId, scopeId: what.scopeId });
      expect(again.durationMs).toBeGreaterThan(900);

      expect((await rig.user.delete(`/v1/media-tasks/${body.taskId}`)).body).toEqual({
        deleted: true,
        assetsDeleted: 2,
      });
      expect((await rig.user.sign([assetId, posterId])).body).toMatchObject({
        [assetId]: { ready: false },
        [posterId]: { ready: false },
      });
    });

    it('acts for the owner that a server names', async () => {
      const ownerId = randomUUID();
      const { registration: what, assetId } = await uploadClip(rig.server, bytes, { ownerId });
      expect((await begin({ ...what, ownerId: undefined }, rig.server)).status).toBe(400);
      expect((await begin({ ...what, ownerId }, rig.user)).status).toBe(403);
      const { body } = await begin({ ...what, ownerId }, rig.server);
      expect(await ended(body.taskId)).toMatchObject({
        ownerId,
        status: 'completed',
        metadata: { threadId: 'temp', assetId },
      });
    });

    it('may be started twice', async () => {
      const { registration: what, assetId } = await uploadClip();
      const begun = await Promise.all([begin(what), begin(what)]);
      const tasks = await Promise.all(begun.map(({ body }) => ended(body.taskId)));
      for (const task of tasks)
        expect(task).toMatchObject({
          status: 'completed',
          metadata: { output: { assetIds: [assetId, posterIdOf(assetId)] } },
        });
    });

    it('fails for a file that is not a playable video, and stores no poster', { timeout: 60_000 }, async () => {
      const fates = badVideos.map(async ([name, make]) => {
        const bytes = await make(await mkdtemp(join(folder, 'bad-')));
        const { registration: what, assetId, storageKey } = await uploadClip(rig.user, bytes);
        const { status, metadata } = await ended((await begin(what)).body.taskId);
        const signed = (await rig.user.sign([assetId, posterIdOf(assetId)])).body;
        const left = [];
        for await (const { key } of rig.originals.list(storageKey.slice(0, storageKey.lastIndexOf('/') + 1)))
          left.push(key === storageKey ? 'the upload' : key);
        return [name, status, metadata.error, Object.values(signed).map(({ ready }) => ready), left];
      });
      expect(await Promise.all(fates)).toEqual(
        badVideos.map(([name]) => [name, 'failed', 'undecodable_video', [false, false], ['the upload']]),
      );
    });

    it('takes a poster of a video of three hours', async () => {
      const { registration: what, assetId } = await uploadClip(
        rig.user,
        await readFile(await render(longVideo, folder)),
      );
      expect(await ended((await begin(what)).body.taskId)).toMatchObject({ status: 'completed' });
      const { body } = await rig.user.post<VideoSignedRefs>('/v1/sign/video', { refs: [assetId] });
      expect(body[assetId]).toMatchObject({ ready: true, durationMs: 11_001_000, thumbAssetId: posterIdOf(assetId) });
    });

    it('fails where the id is registered as something else, and leaves that', async () => {
      const { registration: what, assetId } = await uploadClip();
      await rig.user.register({ ...what, kind: 'clip' });
      const { body } = await begin(what);
      expect(await ended(body.taskId)).toMatchObject({ status: 'failed', metadata: { error: 'asset_conflict' } });
      expect((await rig.user.sign([assetId, posterIdOf(assetId)])).body).toMatchObject({
        [assetId]: { ready: true },
        [posterIdOf(assetId)]: { ready: false },
      });
    });

    it('removes the output of a task that is deleted during its job, and never writes the task again', async () => {
      const made = await Promise.all(
        [0, 60, 150, 300, 600, 900].map(async (waitMs) => {
          const { registration: what, assetId } = await uploadClip();
          const { body } = await begin(what);
          await sleep(waitMs);
          await rig.user.delete(`/v1/media-tasks/${body.taskId}`);
          return { taskId: body.taskId, refs: [assetId, posterIdOf(assetId)] };
        }),
      );
      const isIdle = async () =>
        (await rig.jobs.depths()).every(({ queue, status }) => queue !== 'video-upload-service' || status === 'dead');
      while (!(await isIdle())) await sleep(50);
      for (const { taskId, refs } of made) {
        expect((await read(taskId)).body).toEqual({ taskId, status: 'pending' });
        expect(Object.values((await rig.user.sign(refs)).body).map(({ ready }) => ready)).toEqual([false, false]);
      }
      const keys: string[] = [];
      for await (const { key } of rig.originals.list(`u/${rig.userId}/`)) keys.push(key);
      expect(keys.filter((key) => made.some(({ refs }) => key.includes(String(refs[1]))))).toEqual([]);
    });

    it.each([
      ['is not uploaded', 409, 'object_not_found', () => ({ assetId: randomUUID() })],
      ['was uploaded elsewhere', 409, 'object_not_found', () => ({ scopeId: 'elsewhere' })],
      ['is no video', 400, 'invalid_request', () => ({ mime: 'image/png' })],
      ['has no scope', 400, 'invalid_request', () => ({ scopeKind: undefined })],
      ['has no mime', 400, 'invalid_request', () => ({ mime: undefined })],
      ['has no good id', 400, 'invalid_request', () => ({ assetId: 'x' })],
    ])('refuses what %s', async (_what, status, error, change) => {
      const { registration: what } = await uploadClip();
      const answer = await rig.user.post('/v1/media-tasks/video', { ...what, ...change() });
      expect([answer.status, answer.body.error]).toEqual([status, error]);
    });
  });
});

describe('without ffmpeg', () => {
  it('POST /v1/media-tasks/video and /v1/watermark-video are 503', async () => {
    const rig = await startMedia(embedded, { ffmpegPath: '/nowhere/ffmpeg' });
    const { registration } = await upload(rig.user, Buffer.from('bytes'), { mime: 'video/mp4', kind: 'video' });
    const begun = await rig.user.post('/v1/media-tasks/video', registration);
    expect([begun.status, begun.body.error]).toEqual([503, 'ffmpeg_missing']);
    expect(begun.headers.get('retry-after')).toBe('60');
    await rig.user.register(registration);
    const marked = await rig.user.post('/v1/watermark-video', { ref: registration.assetId });
    expect([marked.status, marked.body.error]).toEqual([503, 'ffmpeg_missing']);
    await rig.close();
  });
});
