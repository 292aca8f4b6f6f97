import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { everyNth, isNightly } from '../../../test/lane.fixture.ts';
import { badVideos, longVideo } from '../../../test/media/badvideos.fixture.ts';
import { clip } from '../../../test/media/clips.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { type Client, type MediaRig, onEveryPair, startMedia, upload } from '../../../test/media/rig.fixture.ts';
import { render } from '../../../test/media/videosamples.fixture.ts';
import { skipWithout } from '../../../test/programs.fixture.ts';
import type { WatermarkedVideo } from '../api.ts';
import { watermarkKeyOf } from '../assets/storagekey.ts';
import { createFfmpeg } from '../video/ffmpeg.ts';
import { probeVideo } from '../video/probing.ts';
import { longWatermarkQueue, watermarkQueue } from './videowatermark.ts';

const run = promisify(execFile);
const patience = { timeout: 60_000, interval: 20 };

onEveryPair('POST /v1/watermark-video', (pair) => {
  describe.skipIf(skipWithout('ffmpeg'))('', () => {
    let rig: MediaRig;
    let folder: string;
    let bytes: Buffer;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'atelier-wm-'));
      bytes = await readFile(await render(clip, folder));
    });
    beforeEach(async () => {
      rig = await startMedia(pair);
    });
    afterEach(() => rig.close());
    afterAll(() => rm(folder, { recursive: true, force: true }));

    const depths = async ({ name } = watermarkQueue) => (await rig.jobs.depths()).filter(({ queue }) => queue === name);
    /** A red video of `seconds`, which is repeated `times`. Its file is small. */
    async function rendered(seconds: number, size: string, times: number): Promise<Buffer> {
      const [once, file] = [join(folder, `${randomUUID()}.mp4`), join(folder, `${randomUUID()}.mp4`)];
      const source = `color=red:size=${size}:rate=10:duration=${seconds}`;
      const codec = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '600', '-pix_fmt', 'yuv420p'];
      await run('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', source, ...codec, once]);
      await run('ffmpeg', ['-v', 'error', '-stream_loop', String(times - 1), '-i', once, '-c', 'copy', file]);
      return readFile(file);
    }
    const ask = (ref: string, client: Client = rig.user) =>
      client.post<WatermarkedVideo>('/v1/watermark-video', { ref, legacyBucket: rig.legacyBucket });
    const codeOf = (body: object) => ('error' in body ? body.error : undefined);
    const registered = async (content: Uint8Array = bytes, changes: object = {}) => {
      const { registration, assetId, storageKey } = await upload(rig.user, content, {
        kind: 'video',
        mime: 'video/mp4',
        ...changes,
      });
      const { status } = await rig.user.register(registration);
      if (status !== 201) throw new Error(`the registration was answered ${status}`);
      return { assetId, key: storageKey, made: watermarkKeyOf('video', storageKey, '') };
    };

    it('creates the file next to its source once for concurrent requests, and signs it', {
      timeout: 60_000,
    }, async () => {
      const { assetId, made } = await registered();
      const answers = await Promise.all([
        ask(assetId),
        ask(assetId),
        ask(assetId, rig.server),
        ask(assetId.toUpperCase()),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const before = await rig.originals.head(made);
      const read = await fetch(answers[0]?.body.url ?? '');
      expect([read.status, read.headers.get('content-type')]).toEqual([200, 'video/mp4']);
      const file = join(folder, 'made.mp4');
      await writeFile(file, Buffer.from(await read.arrayBuffer()));
      const facts = await probeVideo(createFfmpeg('ffmpeg'), file);
      expect(facts).toMatchObject({ width: 160, height: 90, hasSound: true });
      expect(facts.durationMs).toBeGreaterThan(2800);
      expect((await ask(assetId)).status).toBe(200);
      expect(await rig.originals.head(made)).toEqual(before);
      // Signing responses know nothing of it; deleting the source takes it along.
      expect((await rig.user.delete('/v1/assets', { ids: [assetId] })).status).toBe(200);
      expect(await rig.originals.head(made)).toBeUndefined();
      expect((await ask(assetId)).status).toBe(404);
    });

    it('requires the right to read the source', { timeout: 60_000 }, async () => {
      const own = await registered();
      expect(await ask(own.assetId, rig.otherUser)).toMatchObject({ status: 404, body: { error: 'not_found' } });
      const open = await registered(bytes, { scopeKind: 'feed' });
      expect((await ask(open.assetId, rig.otherUser)).status).toBe(200);
      expect((await ask(open.assetId, rig.client({}))).status).toBe(401);
    });

    it('works on legacy files, and stores the result next to them', { timeout: 60_000 }, async () => {
      const path = `feed/${randomUUID()}/video_1.mp4`;
      await rig.legacyFiles.put(path, bytes, { contentType: 'video/mp4' });
      const { status, body } = await ask(path, rig.otherUser);
      expect(status).toBe(200);
      expect((await fetch(body.url)).status).toBe(200);
      expect(await rig.legacyFiles.head(watermarkKeyOf('video', path, ''))).toBeDefined();
      expect((await ask(`${randomUUID()}/video_1.mp4`, rig.otherUser)).status).toBe(404);
      await rig.legacyFiles.remove([path, watermarkKeyOf('video', path, '')]);
    });

    it('rejects unresolved refs, files that are not videos, and invalid refs', async () => {
      const image = await registered(await makeImage('png'), { kind: 'image', mime: 'image/png' });
      const sound = await registered(Buffer.from('sound'), { kind: 'audio', mime: 'audio/mpeg' });
      expect((await ask(randomUUID())).status).toBe(404);
      expect((await ask('a/path.mp4')).status).toBe(404);
      for (const ref of [image.assetId, sound.assetId, 'x', '', '../a/b', 'a//b']) {
        expect(await ask(ref)).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
      }
      expect((await rig.user.post('/v1/watermark-video', {})).status).toBe(400);
    });

    it('returns 422 each time for a file that is not a playable video', { timeout: 60_000 }, async () => {
      // The tests of video tasks cover all of them by day.
      const some = everyNth(badVideos, 6);
      const fates = some.map(async ([name, make]) => {
        const own = await mkdtemp(join(folder, 'bad-'));
        const { assetId, made } = await registered(await make(own));
        const answers = [await ask(assetId), await ask(assetId)].map(({ status, body }) => [status, codeOf(body)]);
        return { name, answers, isThere: (await rig.originals.head(made)) !== undefined };
      });
      // A file that shows an image is an image, whatever its name is.
      const refusal = (name: string) => (name === 'an image' ? [400, 'invalid_request'] : [422, 'undecodable_video']);
      expect(await Promise.all(fates)).toEqual(
        some.map(([name]) => ({ name, answers: [refusal(name), refusal(name)], isThere: false })),
      );
    });

    it.runIf(isNightly)('is 422 for one of three hours', async () => {
      const { assetId, made } = await registered(await readFile(await render(longVideo, folder)));
      expect(await ask(assetId)).toMatchObject({ status: 422, body: { error: 'video_too_large' } });
      expect(await rig.originals.head(made)).toBeUndefined();
    });

    it('removes the file when its source is deleted during the job', { timeout: 60_000 }, async () => {
      for (const waitMs of everyNth([20, 150, 400, 800], 2)) {
        const { assetId, made } = await registered();
        const response = ask(assetId);
        await sleep(waitMs);
        await rig.user.delete('/v1/assets', { ids: [assetId] });
        // It may have been signed just before.
        expect([404, 200]).toContain((await response).status);
        while ((await depths()).some(({ status }) => status !== 'dead')) await sleep(20);
        expect(await rig.originals.head(made)).toBeUndefined();
      }
    });

    it.runIf(isNightly)(
      'makes the file of a long video for calls from before and after the move',
      { timeout: 120_000 },
      async () => {
        const { assetId, made } = await registered(await rendered(62, '64x64', 1));
        const first = ask(assetId);
        await expect.poll(async () => (await depths(longWatermarkQueue)).length, patience).toBe(1);
        expect([await ask(assetId), await first].map(({ status }) => status)).toEqual([200, 200]);
        expect(await rig.originals.head(made)).toBeDefined();
      },
    );

    it.runIf(isNightly)('of long videos delays no other video', { timeout: 120_000 }, async () => {
      const long = await registered(await rendered(60, '1920x1080', 6));
      const short = await registered();
      const response = ask(long.assetId);
      const states = async () => (await depths(longWatermarkQueue)).map(({ status, count }) => [status, count]);
      await expect.poll(states, patience).toEqual([['running', 1]]);
      const askedAgain = ask(long.assetId);
      expect((await ask(short.assetId)).status).toBe(200);
      expect(await states()).toEqual([['running', 1]]);
      expect(await depths()).toEqual([]);
      await rig.media.close();
      expect([(await response).status, (await askedAgain).status]).toEqual([503, 503]);
    });

    it('returns 503 to waiting calls when the service closes, and the next service finishes', async () => {
      const { assetId } = await registered();
      await rig.jobs.stop();
      const response = ask(assetId);
      while ((await depths()).length === 0) await sleep(20);
      const closing = rig.media.close();
      const { status, body, headers } = await response;
      expect([status, body]).toMatchObject([503, { error: 'watermark_pending' }]);
      expect(headers.get('retry-after')).toBe('5');
      await closing;
    });
  });
});
