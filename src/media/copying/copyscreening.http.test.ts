/** Copies are screened: by stored digests from the object store, by their bytes from other stores. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { says, saysClean, type TestClassifier } from '../../../test/media/classifier.fixture.ts';
import { inBucket, lay, standing } from '../../../test/media/laying.fixture.ts';
import { digestOf, type ListKind, type Lists, turned } from '../../../test/media/lists.fixture.ts';
import { type MediaRig, onEveryPair, type Refusal, upload } from '../../../test/media/rig.fixture.ts';
import { type ScreenedRig, startScreened } from '../../../test/media/screened.fixture.ts';
import type { Asset } from '../api.ts';
import type { MediaTables } from '../tables.ts';

const blocked = [451, 'csam_blocked'];
const unscreened = [503, 'screening_unavailable'];
const passed = [201, null];

onEveryPair('the screening of copies', (pair) => {
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

  const tables = () => rig.database.queries<MediaTables>();
  const rowsOf = (ownerId: string) =>
    tables().selectFrom('assets').selectAll().where('owner_id', '=', ownerId).execute();
  const incidentsOf = (ownerId: string) =>
    tables().selectFrom('screening_incidents').selectAll().where('owner_id', '=', ownerId).execute();
  const classifierSays = (answer: TestClassifier['answer']) => {
    classifier.answer = answer;
  };
  const isReady = async (assetId: string) => (await rig.server.sign([assetId])).body[assetId]?.ready;

  async function registered(bytes: Buffer, mime = 'image/jpeg'): Promise<string> {
    const { registration, assetId } = await upload(rig.user, bytes, { mime });
    expect((await rig.user.register(registration)).status).toBe(201);
    return assetId;
  }

  /** Of the images of a time that knew no screening. */
  async function unseen(bytes: Buffer): Promise<string> {
    const assetId = await registered(bytes);
    const nothing = { pdq: null, pdq_quality: null, screened_at: null };
    await tables().updateTable('assets').set(nothing).where('asset_id', '=', assetId).execute();
    return assetId;
  }

  async function laid(bytes: Buffer, name = 'photo.jpg'): Promise<string> {
    const path = `${randomUUID()}/${name}`;
    await lay(rig, [path], bytes);
    return path;
  }

  async function imported(bytes: Buffer): Promise<string> {
    const said = { ownerId: rig.userId, scopeKind: 'thread', scopeId: '1', path: await laid(bytes) };
    const { status, body } = await inBucket(rig, rig.server).post<Asset>('/v1/assets/legacy', said);
    expect(status).toBe(201);
    return body.assetId;
  }

  /** To an owner who has nothing else. */
  async function copied(fromAssetId: string) {
    const toOwnerId = randomUUID();
    const { status, headers, body } = await inBucket(rig, rig.server).post<Asset & Refusal & { errorCode?: string }>(
      '/v1/copy',
      { fromAssetId, toOwnerId, toScopeKind: 'feed', toScopeId: '1' },
    );
    return { toOwnerId, outcome: [status, body.error ?? null], headers, body };
  }

  async function leavesNothing(ownerId: string): Promise<void> {
    expect(await rowsOf(ownerId)).toEqual([]);
    for await (const { key } of rig.originals.list(`u/${ownerId}/`)) throw new Error(`${key} is left`);
  }

  describe('inside the object store', () => {
    it.each<[string, ListKind, () => string, readonly unknown[]]>([
      ['its SHA-256', 'sha256', () => digestOf('sha256', image), blocked],
      ['its MD5', 'md5', () => digestOf('md5', image), blocked],
      ['a PDQ at a distance of 31', 'pdq', () => turned(pdq, 31), blocked],
      ['a PDQ at a distance of 32', 'pdq', () => turned(pdq, 32), passed],
      ['other digests', 'sha256', () => digestOf('sha256', other), passed],
    ])('with %s on a list', async (_name, kind, text, outcome) => {
      const source = await registered(image);
      await lists.write(kind, text());
      const copy = await copied(source);
      expect(copy.outcome).toEqual(outcome);
      if (outcome === blocked) await leavesNothing(copy.toOwnerId);
      else expect(await isReady(copy.body.assetId)).toBe(true);
      expect(await incidentsOf(copy.toOwnerId)).toHaveLength(outcome === blocked ? 1 : 0);
      // What became ready before a list grew stays what it was.
      expect(await isReady(source)).toBe(true);
    });

    it('a blocked copy is reported as a blocked registration is, and its incident names the source', async () => {
      const source = await registered(image);
      await lists.write('pdq', turned(pdq, 5));
      const { body, toOwnerId } = await copied(source);
      expect(body).toEqual({
        error: 'csam_blocked',
        errorCode: 'csam_blocked',
        message: expect.any(String),
        requestId: expect.any(String),
      });
      expect(await incidentsOf(toOwnerId)).toEqual([
        {
          incident_id: expect.any(String),
          asset_id: expect.not.stringMatching(source),
          owner_id: toOwnerId,
          scope_kind: 'feed',
          scope_id: '1',
          kind: 'image',
          mime: 'image/jpeg',
          byte_size: image.length,
          etag: expect.stringMatching(/./),
          sha256: digestOf('sha256', image),
          md5: digestOf('md5', image),
          pdq,
          pdq_quality: 100,
          check_name: 'pdq',
          list: 'pdq',
          listed: turned(pdq, 5),
          distance: 5,
          origin: source,
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
        },
      ]);
    });

    it('does not call the classifier twice for the same bytes', async () => {
      const source = await registered(other);
      const asked = classifier.seen.length;
      classifier.answer = says({ match: true });
      expect((await copied(source)).outcome).toEqual(passed);
      expect(classifier.seen).toHaveLength(asked);
    });

    it('a copy has the digests of its source, and so do its copies', async () => {
      const { body, toOwnerId } = await copied(await registered(image));
      expect(await rowsOf(toOwnerId)).toMatchObject([
        {
          sha256: digestOf('sha256', image),
          md5: digestOf('md5', image),
          pdq,
          pdq_quality: 100,
          screened_at: expect.any(Date),
        },
      ]);
      await lists.write('pdq', pdq);
      expect((await copied(body.assetId)).outcome).toEqual(blocked);
    });

    it('an image with another mime is screened too', async () => {
      const source = await registered(image, 'video/mp4');
      expect((await copied(source)).outcome).toEqual(passed);
      await lists.write('md5', digestOf('md5', image));
      expect((await copied(source)).outcome).toEqual(blocked);
    });

    it('a file that is not an image is matched by its digests only', async () => {
      const film = Buffer.from('a film');
      const source = await registered(film, 'video/mp4');
      await lists.write('pdq', 'broken');
      expect((await copied(source)).outcome).toEqual(passed);
      await lists.write('md5', digestOf('md5', film));
      const bad = await copied(source);
      expect(bad.outcome).toEqual(blocked);
      await leavesNothing(bad.toOwnerId);
    });

    it('reads a file without digests that is not an image', async () => {
      const film = Buffer.from('a film of old');
      const source = await registered(film, 'video/mp4');
      await rig.database
        .queries<MediaTables>()
        .updateTable('assets')
        .set({ sha256: null, md5: null })
        .where('asset_id', '=', source)
        .execute();
      const good = await copied(source);
      expect(good.outcome).toEqual(passed);
      expect(await rowsOf(good.toOwnerId)).toMatchObject([{ sha256: digestOf('sha256', film), pdq: null }]);
      await lists.write('sha256', digestOf('sha256', film));
      expect((await copied(source)).outcome).toEqual(blocked);
    });

    it('concurrent copies of it store nothing', async () => {
      const source = await registered(image);
      await lists.write('sha256', digestOf('sha256', image));
      const copies = await Promise.all(Array.from({ length: 10 }, () => copied(source)));
      expect(copies.map(({ outcome }) => outcome)).toEqual(Array(10).fill(blocked));
      for (const { toOwnerId } of copies) await leavesNothing(toOwnerId);
    });
  });

  describe.each<[string, (bytes: Buffer) => Promise<string>]>([
    ['an asset that was never screened', unseen],
    ['a legacy path', laid],
    ['an asset in the legacy backend', imported],
  ])('of %s', (_name, make) => {
    it('the bytes are read, and sent to the classifier', async () => {
      const source = await make(other);
      const { outcome, body, toOwnerId } = await copied(source);
      expect(outcome).toEqual(passed);
      const seen = classifier.seen.find(({ headers }) => headers['x-asset-id'] === body.assetId);
      expect(seen?.bytes.equals(other)).toBe(true);
      const known = { sha256: digestOf('sha256', other), pdq: expect.any(String), screened_at: expect.any(Date) };
      expect(await rowsOf(toOwnerId)).toMatchObject([known]);
    });

    it.each<[string, () => Promise<unknown>]>([
      ['its SHA-256', () => lists.write('sha256', digestOf('sha256', image))],
      ['its PDQ', () => lists.write('pdq', turned(pdq, 31))],
      ['the classifier', async () => classifierSays(says({ match: true, list: 'industry' }))],
    ])('a match of %s blocks it, and its source stays', async (_check, match) => {
      const source = await make(image);
      await match();
      const { outcome, toOwnerId } = await copied(source);
      expect(outcome).toEqual(blocked);
      await leavesNothing(toOwnerId);
      const origin = source.includes('/') ? `${rig.legacyBucket}/${source}` : source;
      expect(await incidentsOf(toOwnerId)).toMatchObject([{ origin, sha256: digestOf('sha256', image) }]);
      if (source.includes('/')) expect(await standing(rig, [source])).toEqual([source]);
      else expect(await isReady(source)).toBe(true);
    });
  });

  it.each<[string, (bytes: Buffer) => Promise<string>, () => Promise<unknown>]>([
    ['an asset', registered, () => lists.write('pdq', 'broken')],
    ['an asset that was never screened', unseen, () => lists.write('md5', 'broken')],
    ['a legacy path', laid, () => lists.write('sha256', 'broken')],
    ['a legacy path', laid, async () => classifierSays(says({ match: 'no' }))],
  ])('of %s passes nothing while a check cannot be completed', async (_name, make, breakIt) => {
    const source = await make(other);
    await breakIt();
    const { outcome, headers, toOwnerId } = await copied(source);
    expect(outcome).toEqual(unscreened);
    expect(headers.has('retry-after')).toBe(true);
    await leavesNothing(toOwnerId);
    expect(await incidentsOf(toOwnerId)).toEqual([]);
    await lists.clear();
    classifier.answer = saysClean;
    expect((await copied(source)).outcome).toEqual(passed);
  });

  describe('of an image in a legacy file of another name', () => {
    it('is screened all the same, and has the mime that its bytes show', async () => {
      const good = await copied(await laid(other, 'a.mp4'));
      expect(good.body).toMatchObject({ mime: 'image/jpeg', kind: 'image', width: 160, blurhash: expect.any(String) });
      expect(await rowsOf(good.toOwnerId)).toMatchObject([{ pdq: expect.any(String), screened_at: expect.any(Date) }]);
      await lists.write('pdq', pdq);
      const bad = await copied(await laid(image, 'a.mp4'));
      expect(bad.outcome).toEqual(blocked);
      await leavesNothing(bad.toOwnerId);
    });

    it.each<[string, () => Buffer, readonly unknown[]]>([
      ['too large for an image', () => Buffer.concat([image, Buffer.alloc(100_000)]), [413, 'asset_too_large']],
      ['damaged', () => image.subarray(0, 400), [422, 'undecodable_image']],
    ])('that is %s is refused as an image', async (_name, make, outcome) => {
      const copy = await copied(await laid(make(), 'a.bin'));
      expect(copy.outcome).toEqual(outcome);
      await leavesNothing(copy.toOwnerId);
    });
  });
});
