import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { paint, photo, pipe, scene, sceneColour } from '../../../test/image/images.fixture.ts';
import { bmpOf } from '../../../test/media/bmp.fixture.ts';
import { says, saysClean, type TestClassifier } from '../../../test/media/classifier.fixture.ts';
import { clip } from '../../../test/media/clips.fixture.ts';
import { fixture } from '../../../test/media/heif.fixture.ts';
import {
  digestOf as digest,
  type ListKind,
  type Lists,
  pdqOfImage,
  turned,
} from '../../../test/media/lists.fixture.ts';
import {
  embedded,
  type MediaRig,
  onEveryPair,
  put,
  type Refusal,
  startMedia,
  upload,
} from '../../../test/media/rig.fixture.ts';
import { type ScreenedRig, startScreened } from '../../../test/media/screened.fixture.ts';
import { render } from '../../../test/media/videosamples.fixture.ts';
import { skipWithout } from '../../../test/programs.fixture.ts';
import { posterIdOf } from '../assets/asset.ts';
import type { MediaTables } from '../tables.ts';
import type { MediaTask, VideoTask } from '../tasks/api.ts';

const jpeg = { mime: 'image/jpeg' };
const blocked = [451, 'csam_blocked'];
const unscreened = [503, 'screening_unavailable'];

onEveryPair(
  'screening',
  (pair) => {
    let rig: MediaRig;
    let lists: Lists;
    let classifier: TestClassifier;
    let image: Buffer;
    let other: Buffer;
    let pdq: string;
    let screened: ScreenedRig;
    beforeAll(async () => {
      screened = await startScreened(pair, '/judge?of=1');
      ({ rig, lists, classifier, image, other, pdq } = screened);
    });
    afterEach(() => screened.reset());
    afterAll(() => screened.close());

    const list = (kind: ListKind, text: string) => lists.write(kind, text);
    const register = async (said: object) => {
      const { status, body } = await rig.user.post<Refusal & { errorCode?: string }>('/v1/assets', said);
      return [status, body.error ?? null];
    };
    const isReady = async (assetId: string) => (await rig.server.sign([assetId])).body[assetId]?.ready;
    const incidents = (assetId: string) =>
      rig.database
        .queries<MediaTables>()
        .selectFrom('screening_incidents')
        .selectAll()
        .where('asset_id', '=', assetId)
        .execute();
    const rows = (assetId: string) =>
      rig.database.queries<MediaTables>().selectFrom('assets').selectAll().where('asset_id', '=', assetId).execute();

    describe('by lists', () => {
      it.each<[string, ListKind, () => string, readonly unknown[]]>([
        ['its SHA-256', 'sha256', () => digest('sha256', image), blocked],
        ['its MD5, in capitals', 'md5', () => `# a list\r\n${digest('md5', image).toUpperCase()}\r\n`, blocked],
        ['its PDQ', 'pdq', () => pdq, blocked],
        ['a PDQ at a distance of 31', 'pdq', () => `${'0'.repeat(64)}\n${turned(pdq, 31)}\n`, blocked],
        ['a PDQ at a distance of 32', 'pdq', () => turned(pdq, 32), [201, null]],
        ['other digests', 'sha256', () => `${digest('sha256', other)}\n`, [201, null]],
      ])('with %s', async (_name, kind, text, outcome) => {
        await list(kind, text());
        const { registration, assetId } = await upload(rig.user, image, jpeg);
        expect(await register(registration)).toEqual(outcome);
        expect(await isReady(assetId)).toBe(outcome !== blocked);
        expect(await incidents(assetId)).toHaveLength(outcome === blocked ? 1 : 0);
      });

      it('an image that was resized and recompressed', async () => {
        await list('pdq', pdq);
        const edited = await pipe(photo(160, 120)).resize(300).webp({ quality: 50 }).toBuffer();
        const { registration } = await upload(rig.user, edited, { mime: 'image/webp' });
        expect(await register(registration)).toEqual(blocked);
      });

      it('an image with little detail is not matched by its PDQ', async () => {
        const blank = await pipe(paint(100, 100, 3, () => [1, 2, 3]))
          .png()
          .toBuffer();
        await list('pdq', await pdqOfImage(blank));
        const { registration } = await upload(rig.user, blank);
        expect(await register(registration)).toEqual([201, null]);
      });

      it('a list counts from the moment that it is written', async () => {
        const first = await upload(rig.user, image, jpeg);
        expect(await register(first.registration)).toEqual([201, null]);
        await list('md5', digest('md5', image));
        const second = await upload(rig.user, image, jpeg);
        expect(await register(second.registration)).toEqual(blocked);
        await list('md5', '');
        const third = await upload(rig.user, image, jpeg);
        expect(await register(third.registration)).toEqual([201, null]);
        // What became ready before stays what it was.
        expect(await register(first.registration)).toEqual([200, null]);
      });

      it.each<[string, () => Promise<unknown>]>([
        ['a line that is no digest', () => list('pdq', `${'0'.repeat(64)}\nnot a hash\n`)],
        ['a digest cut off', () => list('sha256', 'abcdef')],
        ['a folder in place of a file', () => mkdir(join(lists.folder, 'md5.txt'))],
      ])('with %s there is no pass, until it is mended', async (_name, breakIt) => {
        await breakIt();
        const { registration, assetId, storageKey } = await upload(rig.user, image, jpeg);
        const answer = await rig.user.post('/v1/assets', registration);
        expect([answer.status, answer.body.error]).toEqual(unscreened);
        expect(answer.headers.has('retry-after')).toBe(true);
        expect(JSON.stringify(answer.body)).not.toMatch(/txt|lists|digest/);
        expect([await isReady(assetId), (await rows(assetId))[0]?.ready_at]).toEqual([false, null]);
        expect(await rig.originals.head(storageKey)).toBeDefined();
        await lists.clear();
        expect(await register(registration)).toEqual([201, null]);
      });

      it('a match counts although another list is broken', async () => {
        await list('sha256', 'broken');
        await list('pdq', pdq);
        const { registration } = await upload(rig.user, image, jpeg);
        expect(await register(registration)).toEqual(blocked);
      });
    });

    describe('blocked content', () => {
      const block = async () => {
        await list('sha256', digest('sha256', image));
        const what = { scopeKind: 'feed', scopeId: '1', kind: 'image', ...jpeg };
        const reservation = (await rig.user.reserve(what)).body;
        expect(await put(reservation, image)).toBe(200);
        const said = { ...what, assetId: reservation.assetId };
        const pending = await rig.server.post<{ url: string }>('/v1/uploads/sign-pending', {
          ...said,
          ownerId: rig.userId,
        });
        expect((await fetch(pending.body.url)).status).toBe(200);
        const answer = await rig.user.post<Refusal & { errorCode: string }>('/v1/assets', said);
        return { said, reservation, pendingUrl: pending.body.url, answer };
      };

      it('is reported as specified', async () => {
        const { answer } = await block();
        expect([answer.status, answer.body]).toEqual([
          451,
          {
            error: 'csam_blocked',
            errorCode: 'csam_blocked',
            message: expect.any(String),
            requestId: expect.any(String),
          },
        ]);
      });

      it('is unreachable by every URL: no row, object or derivative', async () => {
        const { said, reservation, pendingUrl } = await block();
        const { assetId, storageKey } = reservation;
        expect(await rows(assetId)).toEqual([]);
        expect(await rig.originals.head(storageKey)).toBeUndefined();
        expect((await fetch(pendingUrl)).status).toBe(404);
        expect((await rig.user.post('/v1/fit', { ref: assetId })).status).toBe(404);
        expect(await isReady(assetId)).toBe(false);
        expect((await rig.server.post('/v1/uploads/sign-pending', { ...said, ownerId: rig.userId })).status).toBe(404);
        for await (const { key } of rig.originals.list(`u/${rig.userId}/feed/1/${assetId}`)) throw new Error(key);
        expect(await register(said)).toEqual([409, 'object_not_found']);
      });

      it('leaves a record, without anything of the image', async () => {
        const { reservation } = await block();
        const [incident, ...more] = await incidents(reservation.assetId);
        expect(more).toEqual([]);
        expect(incident).toEqual({
          incident_id: expect.any(String),
          asset_id: reservation.assetId,
          owner_id: rig.userId,
          scope_kind: 'feed',
          scope_id: '1',
          kind: 'image',
          mime: 'image/jpeg',
          byte_size: image.length,
          etag: expect.any(String),
          sha256: digest('sha256', image),
          md5: digest('md5', image),
          pdq,
          pdq_quality: 100,
          check_name: 'digests',
          list: 'sha256',
          listed: digest('sha256', image),
          distance: 0,
          origin: null,
          status: 'open',
          resolved_at: null,
          note: null,
          appeal: null,
          appealed_at: null,
          thread_id: null,
          share_id: null,
          reports: 0,
          is_priority: false,
          decision: null,
          statement: null,
          earlier: [],
          title: null,
          generation: null,
          source_id: null,
          evidence_until: null,
          created_at: expect.any(Date),
        });
      });

      it('is screened again when other bytes are uploaded to the same URL', async () => {
        const { said, reservation } = await block();
        expect(await put(reservation, image)).toBe(200);
        expect(await register(said)).toEqual(blocked);
        expect(await incidents(said.assetId)).toHaveLength(1);
        expect(await put(reservation, other)).toBe(200);
        expect(await register(said)).toEqual([201, null]);
        expect(await isReady(said.assetId)).toBe(true);
      });

      it('is blocked once by concurrent registrations', async () => {
        await list('pdq', pdq);
        const { registration, assetId, storageKey } = await upload(rig.user, image, jpeg);
        const outcomes = await Promise.all(Array.from({ length: 20 }, () => register(registration)));
        for (const [status] of outcomes) expect([451, 409]).toContain(status);
        expect(outcomes.map(([status]) => status)).toContain(451);
        expect([await rows(assetId), await rig.originals.head(storageKey)]).toEqual([[], undefined]);
        expect(await incidents(assetId)).toHaveLength(1);
      });
    });

    describe('bytes uploaded to the key of a deleted asset while its upload URL is valid', () => {
      const fetched = async (url: string) => {
        const response = await fetch(url);
        await response.arrayBuffer();
        return response.status;
      };

      it('are not served by any URL signed for it', async () => {
        const what = { scopeKind: 'feed', scopeId: '1', kind: 'image', ...jpeg };
        const reservation = (await rig.user.reserve(what)).body;
        await put(reservation, other);
        const { assetId, storageKey } = reservation;
        expect(await register({ ...what, assetId })).toEqual([201, null]);
        const signed = (await rig.user.sign([assetId])).body[assetId];
        if (!signed?.ready) throw new Error('not ready');
        const fit = await rig.user.post<{ url: string }>('/v1/fit', { ref: assetId, width: 50 });
        const resized = [String(signed.thumbUrl), String(signed.previewUrl), fit.body.url];
        for (const url of [signed.url, ...resized]) expect(await fetched(url)).toBe(200);

        await rig.user.delete('/v1/assets', { ids: [assetId] });
        expect(await put(reservation, image)).toBe(200);
        for (const url of resized) expect(await fetched(url)).toBe(404);
        // An S3 server cannot sign a condition: see docs/screening.md.
        if (pair.name.includes('files')) {
          expect(await fetched(signed.url)).toBe(404);
          const range = await fetch(signed.url, { headers: { range: 'bytes=0-9', 'if-none-match': '"x"' } });
          expect([range.status, (await fetch(signed.url, { method: 'HEAD' })).status]).toEqual([404, 404]);
        }
        expect(await rig.originals.head(storageKey)).toBeDefined();
      });
    });

    it('stores the digests of an allowed image', async () => {
      const { registration, assetId } = await upload(rig.user, image, jpeg);
      await register(registration);
      expect((await rows(assetId))[0]).toMatchObject({
        sha256: digest('sha256', image),
        md5: digest('md5', image),
        pdq,
        pdq_quality: 100,
        screened_at: expect.any(Date),
      });
    });

    describe('an image under another name', () => {
      const facts = { width: 7, height: 8, durationMs: 9 };
      it.each(['video/mp4', 'application/octet-stream', 'audio/mpeg'])('%s is screened all the same', async (mime) => {
        await list('pdq', pdq);
        const bad = await upload(rig.user, image, { mime });
        expect(await register(bad.registration)).toEqual(blocked);
        const good = await upload(rig.user, other, { mime });
        const { status, body } = await rig.user.register({ ...good.registration, ...facts });
        expect([status, body]).toMatchObject([201, { mime: 'image/jpeg', width: 160, height: 120, durationMs: null }]);
        const signed = (await rig.user.sign([good.assetId])).body[good.assetId];
        expect(signed).toMatchObject({ ready: true, thumbUrl: expect.any(String) });
        expect((await rig.user.post('/v1/fit', { ref: good.assetId })).status).toBe(200);
      });

      it.each<[string, () => Buffer, readonly unknown[]]>([
        ['too large for an image', () => Buffer.concat([image, Buffer.alloc(100_000)]), [413, 'asset_too_large']],
        ['damaged', () => image.subarray(0, 400), [422, 'undecodable_image']],
      ])('that is %s is refused as an image', async (_name, make, outcome) => {
        const { registration, storageKey } = await upload(rig.user, make(), { mime: 'video/mp4' });
        expect(await register(registration)).toEqual(outcome);
        expect(await rig.originals.head(storageKey)).toBeUndefined();
      });
    });

    describe('a file that is not an image', () => {
      const film = Buffer.from('a film, as far as its name goes');

      it.each<[string, ListKind]>([
        ['SHA-256', 'sha256'],
        ['MD5', 'md5'],
      ])('is blocked by its %s', async (_name, kind) => {
        await list(kind, digest(kind === 'md5' ? 'md5' : 'sha256', film));
        const { registration, assetId, storageKey } = await upload(rig.user, film, {
          mime: 'application/octet-stream',
        });
        expect(await register(registration)).toEqual(blocked);
        expect([await rows(assetId), await rig.originals.head(storageKey)]).toEqual([[], undefined]);
        expect(await incidents(assetId)).toMatchObject([
          { sha256: digest('sha256', film), check_name: 'digests', list: kind, pdq: null, pdq_quality: null },
        ]);
      });

      it('has its digests in its row', async () => {
        const { registration, assetId } = await upload(rig.user, film, { mime: 'video/mp4' });
        expect(await register(registration)).toEqual([201, null]);
        const digests = { sha256: digest('sha256', film), md5: digest('md5', film), pdq: null, screened_at: null };
        expect(await rows(assetId)).toMatchObject([digests]);
      });

      it('has digests even if it is empty', async () => {
        const { registration, assetId } = await upload(rig.user, Buffer.alloc(0), { mime: 'text/plain' });
        expect(await register(registration)).toEqual([201, null]);
        expect(await rows(assetId)).toMatchObject([{ sha256: digest('sha256', Buffer.alloc(0)) }]);
      });

      it('is rejected while a list of digests is broken, but not for another list', async () => {
        await list('sha256', 'broken');
        const { registration } = await upload(rig.user, film, { mime: 'video/mp4' });
        expect(await register(registration)).toEqual(unscreened);
        await lists.clear();
        await list('pdq', 'broken');
        expect(await register(registration)).toEqual([201, null]);
      });
    });

    it.skipIf(skipWithout('ffmpeg'))(
      'a prohibited video fails its task, and leaves nothing',
      async () => {
        const folder = await mkdtemp(join(tmpdir(), 'atelier-prohibited-'));
        const film = await readFile(await render(clip, folder));
        await rm(folder, { recursive: true });
        await list('sha256', digest('sha256', film));
        const { registration, assetId, storageKey } = await upload(rig.user, film, {
          kind: 'video',
          mime: 'video/mp4',
        });
        const begun = await rig.user.post<VideoTask>('/v1/media-tasks/video', registration);
        const task = async () => (await rig.user.get<MediaTask>(`/v1/media-tasks/${begun.body.taskId}`)).body;
        await expect.poll(async () => (await task()).status, { timeout: 60_000 }).toBe('failed');
        expect((await task()).metadata).toMatchObject({ error: 'csam_blocked' });
        expect(await incidents(assetId)).toMatchObject([{ list: 'sha256', sha256: digest('sha256', film) }]);
        for await (const { key } of rig.originals.list(storageKey.slice(0, storageKey.lastIndexOf('/'))))
          expect(key).not.toContain(assetId);
        expect([await rows(assetId), await rows(posterIdOf(assetId))]).toEqual([[], []]);
      },
      90_000,
    );

    it.each<[string, string, () => Buffer]>([
      ['HEIC', 'image/heic', () => fixture('scene.heic')],
      ['BMP', 'image/bmp', () => bmpOf(96, 64, sceneColour)],
    ])('an image in %s is found by the hash of the same image in PNG', async (_format, mime, make) => {
      await list('pdq', await pdqOfImage(await pipe(scene(96, 64)).png().toBuffer()));
      const { registration } = await upload(rig.user, make(), { mime });
      expect(await register(registration)).toEqual(blocked);
    });

    describe('by the classifier', () => {
      it('it is sent the bytes, their type as detected and the id', async () => {
        const { registration, assetId } = await upload(rig.user, image, { mime: 'image/png' });
        await register(registration);
        const seen = classifier.seen.find(({ headers }) => headers['x-asset-id'] === assetId);
        expect(seen?.path).toBe('/judge?of=1');
        expect(seen?.headers).toMatchObject({ 'content-type': 'image/jpeg', 'content-length': String(image.length) });
        expect(seen?.bytes.equals(image)).toBe(true);
      });

      it('receives images only', async () => {
        const { registration, assetId } = await upload(rig.user, Buffer.from('a film'), { mime: 'video/mp4' });
        expect(await register(registration)).toEqual([201, null]);
        expect(classifier.seen.some(({ headers }) => headers['x-asset-id'] === assetId)).toBe(false);
      });

      it.each<[string, object, string]>([
        ['with a list', { match: true, list: 'industry', more: 1 }, 'industry'],
        ['without a list', { match: true }, ''],
        ['with a list that cannot be stored', { match: true, list: 'a\0b' }, 'a b'],
      ])('a match %s blocks', async (_name, verdict, named) => {
        classifier.answer = says(verdict);
        const { registration, assetId } = await upload(rig.user, other, jpeg);
        expect(await register(registration)).toEqual(blocked);
        expect(await incidents(assetId)).toMatchObject([
          { check_name: 'classifier', list: named, listed: null, distance: null },
        ]);
      });

      it.each<[string, TestClassifier['answer']]>([
        ['500', (response) => response.writeHead(500).end('{"match":false}')],
        ['404', (response) => response.writeHead(404).end('{"match":false}')],
        ['201', (response) => response.writeHead(201).end('{"match":false}')],
        ['204', (response) => response.writeHead(204).end()],
        ['a redirect to a better answer', (response) => response.writeHead(307, { location: '/clean' }).end()],
        ['nothing', (response) => response.end()],
        ['a page', (response) => response.end('<html>all is well</html>')],
        ['a word in place of a truth', says({ match: 'false' })],
        ['null', says({ match: null })],
        ['another question’s answer', says({ ok: true })],
        ['a list that has no name', says({ match: false, list: 7 })],
        ['a list of answers', says([{ match: false }])],
        [
          'half an answer',
          (response) => {
            response.writeHead(200, { 'content-length': '99' }).write('{"match":false}', () => response.destroy());
          },
        ],
        ['the end of the connection', (response) => response.destroy()],
        ['a megabyte', says({ match: false, padding: 'x'.repeat(1e6) })],
        [
          'without end',
          (response) => {
            const flood = () => {
              if (response.destroyed) return;
              response.write(' '.repeat(10_000));
              setTimeout(flood, 5);
            };
            flood();
          },
        ],
      ])('that answers %s, nothing passes, and a retry is screened again', async (_name, answer) => {
        classifier.answer = answer;
        const { registration, assetId } = await upload(rig.user, other, jpeg);
        expect(await register(registration)).toEqual(unscreened);
        expect([await isReady(assetId), await incidents(assetId)]).toEqual([false, []]);
        classifier.answer = saysClean;
        expect(await register(registration)).toEqual([201, null]);
      });

      it('that is slow is waited for, and no longer than the limit', { timeout: 60_000 }, async () => {
        classifier.answer = (response) => void setTimeout(() => saysClean(response), 1500);
        const slow = await upload(rig.user, other, jpeg);
        expect(await register(slow.registration)).toEqual([201, null]);
        classifier.answer = () => undefined;
        const hurried = await startMedia(pair, { screeningUrl: classifier.url, classifierTimeoutMs: 500 });
        try {
          const { registration, assetId } = await upload(hurried.user, other, jpeg);
          const { status, body } = await hurried.user.post('/v1/assets', registration);
          expect([status, body.error]).toEqual(unscreened);
          expect((await hurried.user.sign([assetId])).body[assetId]?.ready).toBe(false);
        } finally {
          await hurried.close();
        }
      });

      it('a match of a list does not wait for it', async () => {
        classifier.answer = () => undefined;
        await list('sha256', digest('sha256', other));
        const { registration } = await upload(rig.user, other, jpeg);
        expect(await register(registration)).toEqual(blocked);
      });
    });
  },
  { quickLane: [embedded] },
);

onEveryPair('screening with a classifier that is down, and lists that are not there', (pair) => {
  it.each([[{ screeningUrl: 'http://127.0.0.1:1/' }], [{ blockedHashes: join(tmpdir(), `missing-${randomUUID()}`) }]])(
    '%j passes nothing',
    async (settings) => {
      const rig = await startMedia(pair, settings);
      try {
        const { registration } = await upload(rig.user, await pipe(scene(60, 40)).png().toBuffer());
        const { status, body } = await rig.user.post('/v1/assets', registration);
        expect([status, body.error]).toEqual(unscreened);
      } finally {
        await rig.close();
      }
    },
  );
});
