/** Legacy files are screened before they become assets; those that are blocked stay where others put them. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { says, saysClean, type TestClassifier } from '../../../test/media/classifier.fixture.ts';
import { inBucket, lay, standing } from '../../../test/media/laying.fixture.ts';
import { digestOf, type Lists, turned } from '../../../test/media/lists.fixture.ts';
import { type MediaRig, onEveryPair, type Refusal } from '../../../test/media/rig.fixture.ts';
import { type ScreenedRig, startScreened } from '../../../test/media/screened.fixture.ts';
import type { Asset } from '../api.ts';
import type { MediaTables } from '../tables.ts';
import { importedIdOf } from './importing.ts';

const blocked = [451, 'csam_blocked'];
const unscreened = [503, 'screening_unavailable'];
const passed = [201, null];

onEveryPair('the screening of legacy files', (pair) => {
  let rig: MediaRig;
  let lists: Lists;
  let classifier: TestClassifier;
  let image: Buffer;
  let other: Buffer;
  let pdq: string;
  let screened: ScreenedRig;
  beforeAll(async () => {
    screened = await startScreened(pair);
    ({ rig, lists, classifier, image, other, pdq } = screened);
  });
  afterEach(() => screened.reset());
  afterAll(() => screened.close());

  async function laid(bytes: Buffer, name = 'photo.jpg'): Promise<string> {
    const path = `${rig.userId}/${randomUUID()}/${name}`;
    await lay(rig, [path], bytes);
    return path;
  }

  async function imported(path: string) {
    const said = { ownerId: rig.userId, scopeKind: 'feed', scopeId: '1', path };
    const { status, body } = await inBucket(rig, rig.server).post<Asset & Refusal & { errorCode?: string }>(
      '/v1/assets/legacy',
      said,
    );
    return { outcome: [status, body.error ?? null], body };
  }

  const classifierSays = (answer: TestClassifier['answer']) => {
    classifier.answer = answer;
  };
  const outcomeOf = async (path: string) => (await imported(path)).outcome;
  const rowAt = (path: string) =>
    rig.database
      .queries<MediaTables>()
      .selectFrom('assets')
      .selectAll()
      .where('storage_key', '=', path)
      .executeTakeFirst();
  const incidentsOf = (path: string) =>
    rig.database
      .queries<MediaTables>()
      .selectFrom('screening_incidents')
      .selectAll()
      .where('asset_id', '=', importedIdOf(rig.legacyBucket, path))
      .execute();

  it.each<[string, string, () => Promise<unknown>]>([
    ['its SHA-256', 'a.jpg', () => lists.write('sha256', digestOf('sha256', image))],
    ['its MD5', 'a.jpg', () => lists.write('md5', digestOf('md5', image))],
    ['its PDQ', 'a.jpg', () => lists.write('pdq', turned(pdq, 31))],
    ['the classifier', 'a.jpg', async () => classifierSays(says({ match: true, list: 'industry' }))],
    ['its PDQ, under another name', 'video_1.mp4', () => lists.write('pdq', pdq)],
  ])('a match of %s makes no asset; the file stays, and is recorded once', async (_name, name, match) => {
    const path = await laid(image, name);
    await match();
    const { outcome, body } = await imported(path);
    expect([outcome, body.errorCode]).toEqual([blocked, 'csam_blocked']);
    expect(await outcomeOf(path)).toEqual(blocked);
    expect([await rowAt(path), await standing(rig, [path])]).toEqual([undefined, [path]]);
    const incident = {
      origin: `${rig.legacyBucket}/${path}`,
      sha256: digestOf('sha256', image),
      owner_id: rig.userId,
    };
    expect(await incidentsOf(path)).toMatchObject([incident]);
    // Other bytes at the same path are screened again.
    await lists.clear();
    classifier.answer = saysClean;
    await lay(rig, [path], other);
    expect(await outcomeOf(path)).toEqual(passed);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a list is broken', () => lists.write('pdq', 'broken')],
    ['the classifier says nothing', async () => classifierSays((response) => response.end())],
  ])('while %s there is no pass', async (_name, breakIt) => {
    const path = await laid(other);
    await breakIt();
    expect(await outcomeOf(path)).toEqual(unscreened);
    const assetId = importedIdOf(rig.legacyBucket, path);
    expect((await rowAt(path))?.ready_at ?? null).toBeNull();
    expect((await rig.server.sign([assetId])).body[assetId]).toEqual({ ready: false, error: 'not_found' });
    expect([await incidentsOf(path), await standing(rig, [path])]).toEqual([[], [path]]);
    await lists.clear();
    classifier.answer = saysClean;
    expect(await outcomeOf(path)).toEqual(passed);
  });

  it('stores the digests of allowed files', async () => {
    const path = await laid(image);
    const { body } = await imported(path);
    expect(await rowAt(path)).toMatchObject({
      sha256: digestOf('sha256', image),
      md5: digestOf('md5', image),
      pdq,
      pdq_quality: 100,
      screened_at: expect.any(Date),
    });
    const seen = classifier.seen.find(({ headers }) => headers['x-asset-id'] === body.assetId);
    expect([seen?.headers['content-type'], seen?.bytes.equals(image)]).toEqual(['image/jpeg', true]);
  });

  it('is done by each of many at once', async () => {
    const path = await laid(image);
    await lists.write('sha256', digestOf('sha256', image));
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => outcomeOf(path)));
    // A registration that gets no permit returns 503 with Retry-After.
    for (const [status] of outcomes) expect([451, 503]).toContain(status);
    expect(outcomes).toContainEqual(blocked);
    expect([await rowAt(path), (await incidentsOf(path)).length]).toEqual([undefined, 1]);
  });

  it.each<[string, () => Buffer, readonly unknown[]]>([
    ['whole', () => other, passed],
    ['too large for an image', () => Buffer.concat([image, Buffer.alloc(100_000)]), [413, 'asset_too_large']],
    ['damaged', () => image.subarray(0, 400), [422, 'undecodable_image']],
  ])('an image under another name that is %s is taken as an image', async (_name, make, outcome) => {
    const path = await laid(make(), 'video_2.mp4');
    const answer = await imported(path);
    expect(answer.outcome).toEqual(outcome);
    if (outcome !== passed) return expect(await rowAt(path)).toBeUndefined();
    expect(answer.body).toMatchObject({ mime: 'image/jpeg', kind: 'image', width: 160, blurhash: expect.any(String) });
    expect(await rowAt(path)).toMatchObject({ pdq: expect.any(String), screened_at: expect.any(Date) });
  });

  it('an asset shows the screened bytes, and none that replace them later', async () => {
    const path = await laid(other);
    const { assetId } = (await imported(path)).body;
    const signed = (await rig.user.sign([assetId])).body[assetId];
    if (!signed?.ready) throw new Error('it is not ready');
    const resized = String(signed.thumbUrl);
    expect([(await fetch(signed.url)).status, (await fetch(resized)).status]).toEqual([200, 200]);
    await lay(rig, [path], image);
    expect((await fetch(resized)).status).toBe(404);
    const marked = await rig.user.post<Refusal>('/v1/watermark', { ref: assetId });
    expect([marked.status, marked.body.error]).toEqual([404, 'not_found']);
  });
});
