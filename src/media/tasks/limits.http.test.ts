/** How many video tasks there may be, and what a task does for a video that is registered already. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isNightly } from '../../../test/lane.fixture.ts';
import { clip } from '../../../test/media/clips.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import {
  type Client,
  createClient,
  type MediaRig,
  onEveryPair,
  startMedia,
  upload,
} from '../../../test/media/rig.fixture.ts';
import { render } from '../../../test/media/videosamples.fixture.ts';
import { skipWithout } from '../../../test/programs.fixture.ts';
import type { Asset, VideoSignedRefs } from '../api.ts';
import { posterIdOf } from '../assets/asset.ts';
import { watermarkQueue } from '../watermarks/videowatermark.ts';
import type { MediaTask, VideoTask } from './api.ts';
import { videoUploadQueue } from './processing.ts';

/** The machine may have other work. */
const patience = { timeout: 60_000 };

/** The states of a task at which it is interrupted. */
const moments = isNightly ? ['pending', 'processing'] : ['processing'];
const ofVideo = { kind: 'video', mime: 'video/mp4' };

onEveryPair('video tasks', (pair) => {
  describe.skipIf(skipWithout('ffmpeg'))('', () => {
    let rig: MediaRig;
    let folder: string;
    let bytes: Buffer;
    beforeAll(async () => {
      rig = await startMedia(pair);
      folder = await mkdtemp(join(tmpdir(), 'atelier-limits-'));
      bytes = await readFile(await render(clip, folder));
    });
    afterAll(async () => {
      await rig.close();
      await rm(folder, { recursive: true, force: true });
    });

    const somebody = async (here = rig) => {
      const ownerId = randomUUID();
      const token = await here.issuer.token({ sub: ownerId });
      return { ownerId, client: createClient(here.url, { authorization: `Bearer ${token}` }) };
    };
    const begin = (client: Client, what: object) => client.post<VideoTask>('/v1/media-tasks/video', what);
    const taskOf = async (client: Client, taskId: string) =>
      (await client.get<MediaTask>(`/v1/media-tasks/${taskId}`)).body;
    const ended = async (client: Client, taskId: string): Promise<MediaTask> => {
      const isOver = async () => ['completed', 'failed'].includes((await taskOf(client, taskId)).status);
      await expect.poll(isOver, patience).toBe(true);
      return taskOf(client, taskId);
    };
    const signed = async (client: Client, ref: string) =>
      (await client.post<VideoSignedRefs>('/v1/sign/video', { refs: [ref] })).body[ref];
    const rowOf = async (client: Client, what: object): Promise<Asset> => (await client.register(what)).body;

    describe('that are not worked on', () => {
      let idle: MediaRig;
      beforeAll(async () => {
        idle = await startMedia(pair);
        await idle.jobs.stop({ queues: [videoUploadQueue.name, watermarkQueue.name] });
      });
      afterAll(() => idle.close());
      const begun = (client: Client, changes: object = {}) =>
        upload(client, Buffer.from('moving'), { ...ofVideo, ...changes });

      it('have one task per upload in all processes', async () => {
        const { client, ownerId } = await somebody(idle);
        const { registration } = await begun(client);
        const answers = await Promise.all([
          ...Array.from({ length: 6 }, () => begin(client, registration)),
          begin(idle.server, { ...registration, ownerId, threadId: 'another' }),
        ]);
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
        expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
        const taskId = String(answers[0]?.body.taskId);
        expect(answers[0]?.body).toEqual({ taskId, status: 'pending' });
        await client.delete(`/v1/media-tasks/${taskId}`);
        expect((await begin(client, registration)).body.taskId).not.toBe(taskId);
      });

      it('have another task for the same id of another owner or scope', async () => {
        const [one, two] = [await somebody(idle), await somebody(idle)];
        const { registration, assetId } = await begun(one.client);
        const others = [
          [one.client, (await begun(one.client, { assetId })).registration],
          [two.client, (await begun(two.client, { ...registration })).registration],
        ] as const;
        const taskIds = [(await begin(one.client, registration)).body.taskId];
        for (const [client, what] of others) taskIds.push((await begin(client, what)).body.taskId);
        expect(new Set(taskIds).size).toBe(3);
      });

      it('are limited to 20 for an owner, even if started concurrently', async () => {
        const [{ client }, other] = [await somebody(idle), await somebody(idle)];
        const uploads = await Promise.all(Array.from({ length: 24 }, () => begun(client)));
        const answers = await Promise.all(uploads.map(({ registration }) => begin(client, registration)));
        const refused = answers.filter(({ status }) => status !== 200);
        expect(answers.length - refused.length).toBe(20);
        for (const { status, body, headers } of refused) {
          expect([status, 'error' in body && body.error]).toEqual([429, 'too_many_tasks']);
          expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
        }
        const [open, spare] = [answers.findIndex(({ status }) => status === 200), answers.indexOf(refused[0] as never)];
        expect((await begin(client, uploads[open]?.registration as object)).status).toBe(200);
        expect((await begin(other.client, (await begun(other.client)).registration)).status).toBe(200);
        await client.delete(`/v1/media-tasks/${answers[open]?.body.taskId}`);
        expect((await begin(client, uploads[spare]?.registration as object)).status).toBe(200);
      });

      it('leave no jobs after repeated starts and deletions', async () => {
        const { client } = await somebody(idle);
        const { registration } = await begun(client);
        const waiting = async () =>
          (await idle.jobs.depths()).find(
            ({ queue, status }) => queue === videoUploadQueue.name && status === 'waiting',
          )?.count ?? 0;
        const before = await waiting();
        for (let round = 0; round < 5; round++) {
          const { taskId } = (await begin(client, registration)).body;
          expect((await client.delete<object>(`/v1/media-tasks/${taskId}`)).body).toMatchObject({ deleted: true });
        }
        expect(await waiting()).toBe(before);
      });

      it.runIf(isNightly)('let a user request 20 watermarked videos at the same time', async () => {
        const { client } = await somebody(idle);
        const registered = async (changes: object = {}) => {
          const { registration, assetId } = await begun(client, changes);
          expect((await client.register(registration)).status).toBe(201);
          return assetId;
        };
        const refs = await Promise.all(Array.from({ length: 22 }, () => registered({ scopeKind: 'feed' })));
        const leaving = new AbortController();
        const mark = (as: string, ref: string) =>
          fetch(`${idle.url}/v1/watermark-video`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: as },
            body: JSON.stringify({ ref }),
            signal: leaving.signal,
          }).then(
            ({ status }) => status,
            () => 'waits',
          );
        const token = `Bearer ${await idle.issuer.token({ sub: randomUUID() })}`;
        const asking = refs.map((ref) => mark(token, ref));
        const queued = async () =>
          (await idle.jobs.depths()).find(({ queue, status }) => queue === watermarkQueue.name && status === 'waiting')
            ?.count ?? 0;
        await expect.poll(queued, patience).toBe(20);
        const refused = async () =>
          (await Promise.all(asking.map((one) => Promise.race([one, 'waits'])))).filter((status) => status === 429);
        await expect.poll(refused, patience).toHaveLength(2);
        // Another user has a separate limit.
        const another = `Bearer ${await idle.issuer.token({ sub: randomUUID() })}`;
        const spare = await registered({ scopeKind: 'feed' });
        const theirs = mark(another, spare);
        await expect.poll(queued, patience).toBe(21);
        leaving.abort();
        await Promise.all([...asking, theirs]);
      });
    });

    it('are served owner by owner', async () => {
      const [busy, late] = [await somebody(), await somebody()];
      const uploads = await Promise.all(Array.from({ length: 6 }, () => upload(busy.client, bytes, ofVideo)));
      const { registration } = await upload(late.client, bytes, ofVideo);
      const many = [];
      for (const each of uploads) many.push((await begin(busy.client, each.registration)).body.taskId);
      const one = (await begin(late.client, registration)).body.taskId;
      const tasks = await Promise.all(many.map((taskId) => ended(busy.client, taskId)));
      const theirs = await ended(late.client, one);
      expect([...tasks, theirs].map(({ status }) => status)).toEqual([...many, one].map(() => 'completed'));
      const endedLater = tasks.filter(({ updatedAt }) => updatedAt > theirs.updatedAt);
      // One that ran already, and one that may have ended between the two requests.
      expect(endedLater.length).toBeGreaterThanOrEqual(4);
    });

    it('after the first has ended are new ones', async () => {
      const { client } = await somebody();
      const { registration, assetId } = await upload(client, bytes, ofVideo);
      const tasks = [];
      for (let round = 0; round < 2; round++)
        tasks.push(await ended(client, (await begin(client, registration)).body.taskId));
      expect(tasks[0]?.taskId).not.toBe(tasks[1]?.taskId);
      const output = { assetIds: [assetId, posterIdOf(assetId)] };
      for (const task of tasks) expect(task).toMatchObject({ status: 'completed', metadata: { output } });
      expect(await signed(client, assetId)).toMatchObject({ thumbUrl: expect.any(String), width: 160 });
    });

    describe('for a video that is registered already', () => {
      it('give it the poster, its size and its duration, in cached answers too', async () => {
        const { client } = await somebody();
        const { registration, assetId } = await upload(client, bytes, ofVideo);
        expect(await rowOf(client, registration)).toMatchObject({ thumbAssetId: null, width: null, durationMs: null });
        const before = await signed(client, assetId);
        expect(before).toMatchObject({ thumbAssetId: null, width: null });
        expect(before).not.toHaveProperty('thumbUrl');
        const task = await ended(client, (await begin(client, registration)).body.taskId);
        const posterId = posterIdOf(assetId);
        expect(task.metadata).toMatchObject({ output: { assetIds: [assetId, posterId] } });
        const after = await signed(client, assetId);
        expect(after).toMatchObject({ thumbAssetId: posterId, width: 160, height: 90 });
        expect(after?.ready && after.durationMs).toBeGreaterThan(900);
        expect((await fetch(String(after?.ready && after.thumbUrl))).status).toBe(200);
        expect((await client.delete('/v1/assets', { ids: [assetId] })).body).toMatchObject({ deletedNew: 1 });
        expect((await client.sign([posterId])).body[posterId]).toMatchObject({ ready: false });
      });

      it('do not change its facts', async () => {
        const { client } = await somebody();
        const thumb = await upload(client, await makeImage('png'));
        await client.register(thumb.registration);
        const { registration, assetId } = await upload(client, bytes, ofVideo);
        const what = { ...registration, width: 320, durationMs: 5, thumbAssetId: thumb.assetId };
        await rowOf(client, what);
        const task = await ended(client, (await begin(client, registration)).body.taskId);
        expect(task.metadata).toMatchObject({ output: { assetIds: [assetId, thumb.assetId] } });
        expect(await rowOf(client, what)).toMatchObject({
          ...{ width: 320, height: 90, durationMs: 5, thumbAssetId: thumb.assetId },
        });
        const posterId = posterIdOf(assetId);
        expect((await client.sign([posterId])).body[posterId]).toMatchObject({ ready: false });
      });

      it('leave nothing of it if it is deleted during the job', async () => {
        const { client, ownerId } = await somebody();
        for (const moment of moments) {
          const { registration, assetId } = await upload(client, bytes, ofVideo);
          await rowOf(client, registration);
          const { taskId } = (await begin(client, registration)).body;
          await expect
            .poll(async () => [moment, 'completed'].includes((await taskOf(client, taskId)).status), patience)
            .toBe(true);
          expect((await client.delete('/v1/assets', { ids: [assetId] })).body).toMatchObject({ deletedNew: 1 });
          const { status, metadata } = await ended(client, taskId);
          if (status === 'failed') expect(metadata).toMatchObject({ error: 'object_not_found' });
          const keys: string[] = [];
          for await (const { key } of rig.originals.list(`u/${ownerId}/`)) keys.push(key);
          expect([moment, keys]).toEqual([moment, []]);
        }
      });

      it('leave it when they are deleted while they run', async () => {
        const { client } = await somebody();
        for (const moment of moments) {
          const { registration, assetId } = await upload(client, bytes, ofVideo);
          await rowOf(client, registration);
          const { taskId } = (await begin(client, registration)).body;
          if (moment === 'processing')
            await expect.poll(async () => (await taskOf(client, taskId)).status, patience).not.toBe('pending');
          const { metadata } = await taskOf(client, taskId);
          await client.delete(`/v1/media-tasks/${taskId}`);
          // Completed in time: the video is its output, and is deleted with it.
          if (metadata?.output !== undefined) continue;
          expect(await signed(client, assetId)).toMatchObject({ ready: metadata?.output === undefined });
        }
      });
    });

    it('of a deleted scope make nothing readable, even if a server completed them', async () => {
      const { client, ownerId } = await somebody();
      for (const moment of moments) {
        const { registration, assetId } = await upload(client, bytes, ofVideo);
        const { taskId } = (await begin(client, registration)).body;
        if (moment === 'processing')
          await expect.poll(async () => (await taskOf(client, taskId)).status, patience).not.toBe('pending');
        await rig.server.post('/v1/media-tasks', { taskId, ownerId, mediaType: 'video', status: 'completed' });
        await client.delete('/v1/scope', { ownerId });
        const isIdle = async () =>
          (await rig.jobs.depths()).every(({ queue, status }) => queue !== videoUploadQueue.name || status === 'dead');
        await expect.poll(isIdle, patience).toBe(true);
        const refs = [assetId, posterIdOf(assetId)];
        expect(Object.values((await client.sign(refs)).body).map(({ ready }) => ready)).toEqual([false, false]);
      }
    });

    it.runIf(isNightly)('of a scope are canceled with it, at any moment', { timeout: 300_000 }, async () => {
      const deletions = [
        (what: { scopeId: string }) => ({ scopeKind: 'thread', scopeId: what.scopeId }),
        () => ({ scopeKind: 'thread' }),
        () => ({}),
      ];
      const twice = [...moments, 'processing'];
      const cases = deletions.flatMap((scope) => twice.map((moment) => ({ scope, moment })));
      for (const { scope, moment } of cases) {
        const { client, ownerId } = await somebody();
        const { registration, assetId } = await upload(client, bytes, ofVideo);
        const other = await upload(client, bytes, { ...ofVideo, scopeKind: 'thread-2', scopeId: registration.scopeId });
        const [{ taskId }, kept] = [
          (await begin(client, registration)).body,
          (await begin(client, other.registration)).body,
        ];
        await expect
          .poll(async () => [moment, 'completed'].includes((await taskOf(client, taskId)).status), patience)
          .toBe(true);
        const request = { ownerId, ...scope(registration) };
        expect((await client.delete('/v1/scope', request)).status).toBe(200);
        const refs = [assetId, posterIdOf(assetId)];
        const readable = async () => Object.values((await client.sign(refs)).body).filter(({ ready }) => ready);
        expect(await readable()).toEqual([]);
        const task = await taskOf(client, taskId);
        if (task.status !== 'completed')
          expect(task).toMatchObject({ status: 'failed', metadata: { error: 'cancelled' } });
        const isAll = Object.keys(scope(registration)).length === 0;
        const fate = (await ended(client, kept.taskId)).status;
        if (!isAll) expect(fate).toBe('completed');
        else expect((await signed(client, other.assetId))?.ready).toBe(false);
        const isIdle = async () =>
          (await rig.jobs.depths()).every(({ queue, status }) => queue !== videoUploadQueue.name || status === 'dead');
        await expect.poll(isIdle, patience).toBe(true);
        expect(await readable()).toEqual([]);
        const posters: string[] = [];
        for await (const { key } of rig.originals.list(`u/${ownerId}/thread/`))
          if (key.includes(posterIdOf(assetId))) posters.push(key);
        expect(posters).toEqual([]);
      }
    });
  });
});
