import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyNth, isNightly } from '../../../test/lane.fixture.ts';
import { clip } from '../../../test/media/clips.fixture.ts';
import { matroskaClip } from '../../../test/media/renditionsamples.fixture.ts';
import { type MediaRig, onEveryStore, startMedia, testLimits, upload } from '../../../test/media/rig.fixture.ts';
import { render } from '../../../test/media/videosamples.fixture.ts';
import { skipWithout } from '../../../test/programs.fixture.ts';
import type { Asset, VideoSignedRef, VideoSignedRefs } from '../api.ts';
import { renditionKeyOf } from '../assets/storagekey.ts';
import { createFfmpeg } from '../video/ffmpeg.ts';
import { probeVideo } from '../video/probing.ts';
import type { MediaTask, VideoTask } from './api.ts';
import { longVideoQueue, videoUploadQueue } from './processing.ts';

const run = promisify(execFile);
const patience = { timeout: 60_000, interval: 50 };
const { signal } = new AbortController();
const videoQueues = [videoUploadQueue.name, longVideoQueue.name];

type Signed = Extract<VideoSignedRef, { ready: true }>;

onEveryStore('renditions', (pair) => {
  describe.skipIf(skipWithout('ffmpeg'))('of videos', () => {
    let rig: MediaRig;
    let folder: string;
    let playable: Buffer;
    let unplayable: Buffer;
    beforeAll(async () => {
      rig = await startMedia(pair, { sizes: { ...testLimits, maxVideoBytes: 20_000_000 } });
      folder = await mkdtemp(join(tmpdir(), 'atelier-renditions-'));
      playable = await readFile(await render(clip, folder));
      unplayable = await readFile(await render(matroskaClip, folder));
    });
    afterAll(async () => {
      await rig.close();
      await rm(folder, { recursive: true, force: true });
    });

    const taskOf = async (taskId: string) => (await rig.server.get<MediaTask>(`/v1/media-tasks/${taskId}`)).body;
    const begin = async (said: object) => (await rig.user.post<VideoTask>('/v1/media-tasks/video', said)).body.taskId;
    async function ended(taskId: string): Promise<MediaTask> {
      const hasEnded = async () => ['completed', 'failed'].includes((await taskOf(taskId)).status);
      await expect.poll(hasEnded, patience).toBe(true);
      return taskOf(taskId);
    }
    const uploadVideo = (bytes: Uint8Array, changes: object = {}) =>
      upload(rig.user, bytes, { kind: 'video', mime: 'video/mp4', ...changes });
    async function processed(bytes: Uint8Array, changes: object = {}) {
      const uploaded = await uploadVideo(bytes, changes);
      return { ...uploaded, task: await ended(await begin(uploaded.registration)) };
    }
    async function signed(ref: string, more: object = {}): Promise<Signed> {
      const { body } = await rig.user.post<VideoSignedRefs>('/v1/sign/video', { refs: [ref], ...more });
      const answer = body[ref];
      if (!answer?.ready) throw new Error(`${ref} does not resolve`);
      return answer;
    }
    async function probed(url: string | undefined) {
      const response = await fetch(String(url));
      const file = join(folder, `${randomUUID()}.mp4`);
      await writeFile(file, Buffer.from(await response.arrayBuffer()));
      const { codec, width, height } = await probeVideo(createFfmpeg('ffmpeg'), file, signal);
      return { status: response.status, type: response.headers.get('content-type'), codec, width, height };
    }
    const isStored = async (key: string) => (await rig.originals.head(key)) !== undefined;
    const isIdle = async () =>
      (await rig.jobs.depths()).every(({ queue, status }) => !videoQueues.includes(queue) || status === 'dead');

    it('are not made of a video that browsers play', async () => {
      const { assetId, storageKey, task } = await processed(playable);
      expect(task).toMatchObject({ status: 'completed', metadata: { progress: 100 } });
      const { url, playUrl } = await signed(assetId);
      expect(playUrl).toBe(url);
      expect(await isStored(renditionKeyOf(storageKey))).toBe(false);
    });

    it('are the `playUrl` of every other video, whose original is unchanged', async () => {
      const { assetId, storageKey, task } = await processed(unplayable, { mime: 'video/x-matroska' });
      expect(task).toMatchObject({ status: 'completed', metadata: { progress: 100 } });
      const { url, playUrl, byteSize } = await signed(assetId);
      expect(byteSize).toBe(unplayable.length);
      expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(unplayable)).toBe(true);
      const made = { status: 200, type: 'video/mp4', codec: 'h264', width: 160, height: 90 };
      expect(await probed(playUrl)).toEqual(made);
      expect((await fetch(String(playUrl), { headers: { range: 'bytes=0-9' } })).status).toBe(206);
      expect(await isStored(renditionKeyOf(storageKey))).toBe(true);
      // From the cache.
      expect((await signed(assetId)).playUrl).toBe(playUrl);
      // They are no assets.
      const { body } = await rig.server.get<{ assets: readonly Asset[] }>(`/v1/assets?ownerId=${rig.userId}`);
      expect(body.assets.map(({ storageKey }) => storageKey)).not.toContain(renditionKeyOf(storageKey));
    });

    it.runIf(isNightly)('are downloads under the requested name', async () => {
      for (const bytes of [playable, unplayable]) {
        const { assetId } = await processed(bytes);
        const { playUrl } = await signed(assetId, { download: 'my clip.mp4' });
        const { headers } = await fetch(String(playUrl));
        expect(headers.get('content-disposition')).toContain('filename="my clip.mp4"');
      }
    });

    it.runIf(isNightly)('are missing where no job has probed the video', async () => {
      const { registration, assetId } = await uploadVideo(playable);
      await rig.user.register(registration);
      expect((await signed(assetId)).playUrl).toBeUndefined();
      await ended(await begin(registration));
      const { url, playUrl } = await signed(assetId);
      expect(playUrl).toBe(url);
    });

    it.runIf(isNightly)('of a registered video appear with its task', async () => {
      const { registration, assetId } = await uploadVideo(unplayable);
      await rig.user.register(registration);
      expect((await signed(assetId)).playUrl).toBeUndefined();
      await ended(await begin(registration));
      expect(await probed((await signed(assetId)).playUrl)).toMatchObject({ status: 200, codec: 'h264' });
    });

    it.runIf(isNightly)('of a copy are separate', async () => {
      const { assetId, storageKey } = await processed(unplayable);
      const to = { toScopeKind: 'feed', toScopeId: randomUUID() };
      const { body } = await rig.user.post<Asset>('/v1/copy', { fromAssetId: assetId, ...to });
      await rig.user.delete('/v1/assets', { ids: [assetId] });
      expect(await isStored(renditionKeyOf(storageKey))).toBe(false);
      expect(await probed((await signed(body.assetId)).playUrl)).toMatchObject({ status: 200, codec: 'h264' });
      const original = await processed(playable);
      const copy = await rig.user.post<Asset>('/v1/copy', { fromAssetId: original.assetId, ...to });
      const { url, playUrl } = await signed(copy.body.assetId);
      expect(playUrl).toBe(url);
    });

    it('are left out if they cannot be made, and the task is completed', async () => {
      const file = join(folder, 'long.mkv');
      const source = 'color=red:size=64x64:rate=1/60:duration=8000';
      await run('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', source, '-c:v', 'mpeg4', file]);
      const { assetId, task } = await processed(await readFile(file));
      expect(task).toMatchObject({ status: 'completed', metadata: { renditionError: 'video_too_large' } });
      expect((await signed(assetId)).playUrl).toBeUndefined();
    });

    it.each(
      everyNth<readonly [string, (asset: { assetId: string; scopeId: string; taskId: string }) => [string, object?]]>(
        [
          ['the asset', ({ assetId }) => ['/v1/assets', { ids: [assetId] }]],
          ['its scope', ({ scopeId }) => ['/v1/scope', { ownerId: rig.userId, scopeKind: 'thread', scopeId }]],
          ['its task', ({ taskId }) => [`/v1/media-tasks/${taskId}`]],
        ],
        3,
      ),
    )('are deleted with %s', async (_what, deletion) => {
      const { assetId, storageKey, registration, task } = await processed(unplayable, { scopeId: randomUUID() });
      const { playUrl } = await signed(assetId);
      const [path, body] = deletion({ assetId, scopeId: registration.scopeId, taskId: task.taskId });
      const deleted = await rig.user.delete<{ r2Deleted?: number }>(path, body);
      expect(deleted.status).toBe(200);
      // The video, its rendition and its poster.
      if (path === '/v1/scope') expect(deleted.body.r2Deleted).toBe(3);
      expect(await isStored(renditionKeyOf(storageKey))).toBe(false);
      expect((await fetch(String(playUrl))).status).toBe(404);
    });

    it.runIf(isNightly)(
      'of long videos delay no other video, show their progress, and stop when their scope is deleted',
      {
        timeout: 120_000,
      },
      async () => {
        const [second, file] = [join(folder, 'second.mkv'), join(folder, 'slow.mkv')];
        const source = 'testsrc2=size=640x360:rate=30:duration=1';
        await run('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', source, '-c:v', 'mpeg4', '-q:v', '20', second]);
        await run('ffmpeg', ['-v', 'error', '-stream_loop', '89', '-i', second, '-c', 'copy', file]);
        const { registration, storageKey } = await uploadVideo(await readFile(file), { scopeId: randomUUID() });
        const taskId = await begin(registration);
        const progress = async () => Number((await taskOf(taskId)).metadata?.progress ?? -1);
        await expect.poll(progress, patience).toBeGreaterThan(0);
        expect((await processed(playable)).task.status).toBe('completed');
        expect(await taskOf(taskId)).toMatchObject({ status: 'processing' });
        expect(await progress()).toBeLessThan(100);
        const scope = { ownerId: rig.userId, scopeKind: 'thread', scopeId: registration.scopeId };
        expect((await rig.user.delete('/v1/scope', scope)).status).toBe(200);
        expect(await taskOf(taskId)).toMatchObject({ status: 'failed', metadata: { error: 'cancelled' } });
        await expect.poll(isIdle, patience).toBe(true);
        expect(await isStored(renditionKeyOf(storageKey))).toBe(false);
      },
    );
  });
});
