import { createHash, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { readMark } from '#platform/metadata/metadata.ts';
import { makeImage, svg } from '../../../test/media/images.fixture.ts';
import { digestOf, type Lists, turned } from '../../../test/media/lists.fixture.ts';
import { type MediaRig, onEveryPair, type Refusal, testLimits } from '../../../test/media/rig.fixture.ts';
import { type ScreenedRig, startScreened } from '../../../test/media/screened.fixture.ts';
import type { Asset } from '../api.ts';
import type { MediaTables } from '../tables.ts';

onEveryPair('POST /v1/deposits', (pair) => {
  let screened: ScreenedRig;
  let rig: MediaRig;
  let lists: Lists;
  let image: Buffer;
  let key: Record<string, string>;
  beforeAll(async () => {
    screened = await startScreened(pair);
    ({ rig, lists, image } = screened);
    key = { 'x-internal-key': rig.internalKey, 'x-on-behalf-of': rig.userId };
  });
  afterEach(() => screened.reset());
  afterAll(() => screened.close());

  const newImage = () => ({
    ...{ assetId: randomUUID(), scopeKind: 'generation', scopeId: '1', kind: 'image', mime: 'image/jpeg' },
    generated: 'ai',
  });

  async function send(body: Uint8Array | string, headers: Record<string, string> = key) {
    const answer = await fetch(`${rig.url}/v1/deposits`, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream', ...headers },
      body: new Uint8Array(Buffer.from(body)),
    });
    return { status: answer.status, body: (await answer.json()) as Asset & Refusal };
  }

  const deposit = (registration: object, bytes: Uint8Array, headers?: Record<string, string>) =>
    send(Buffer.concat([Buffer.from(`${JSON.stringify(registration)}\n`), bytes]), headers);

  const rowOf = (assetId: string) =>
    rig.database
      .queries<MediaTables>()
      .selectFrom('assets')
      .selectAll()
      .where('asset_id', '=', assetId)
      .executeTakeFirst();

  async function read(storageKey: string): Promise<Buffer | undefined> {
    const found = await rig.originals.get(storageKey);
    return found && Buffer.concat((await found.stream.toArray()) as Buffer[]);
  }

  it('makes an asset whose file has the mark, and whose row describes that file', async () => {
    const registration = newImage();
    const { status, body } = await deposit(registration, image);
    expect([status, body.ownerId, body.generated]).toEqual([201, rig.userId, 'ai']);
    const file = (await read(body.storageKey)) ?? Buffer.alloc(0);
    expect(readMark(file)).toBe('ai');
    expect([body.byteSize, body.sha256]).toEqual([file.length, digestOf('sha256', file)]);
    expect((await rowOf(body.assetId))?.md5).toBe(createHash('md5').update(file).digest('hex'));
    expect((await rig.user.sign([body.assetId])).body[body.assetId]).toMatchObject({ ready: true, generated: 'ai' });
    const usage = await rig.user.get<{ reservedBytes: number }>('/v1/usage');
    expect(usage.body.reservedBytes).toBe(0);
  });

  it('is repeatable, also after an attempt that had only stored the file', async () => {
    const registration = newImage();
    const first = await deposit(registration, image);
    const again = await deposit(registration, image);
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual(first.body);
    const { storage_key } = (await rowOf(registration.assetId)) ?? { storage_key: '' };
    await rig.database
      .queries<MediaTables>()
      .deleteFrom('assets')
      .where('asset_id', '=', registration.assetId)
      .execute();
    const third = await deposit(registration, image);
    expect([third.status, third.body.storageKey, third.body.sha256]).toEqual([201, storage_key, first.body.sha256]);
  });

  it('makes one asset of concurrent repetitions', async () => {
    const registration = newImage();
    const answers = await Promise.all(Array.from({ length: 4 }, () => deposit(registration, image)));
    expect(new Set(answers.map(({ body }) => body.sha256)).size).toBe(1);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  });

  it.each<[string, string, (pdq: string) => Promise<void>]>([
    ['their SHA-256', 'csam_blocked', () => lists.write('sha256', digestOf('sha256', image))],
    ['their MD5', 'csam_blocked', () => lists.write('md5', digestOf('md5', image))],
    ['their PDQ', 'csam_blocked', (pdq) => lists.write('pdq', turned(pdq, 31))],
  ])('blocks bytes as they were sent by %s, and keeps only the incident', async (_name, code, list) => {
    await list(screened.pdq);
    const registration = newImage();
    const { status, body } = await deposit(registration, image);
    expect([status, body.error]).toEqual([451, code]);
    expect(await rowOf(registration.assetId)).toBeUndefined();
    const incidents = await rig.database
      .queries<MediaTables>()
      .selectFrom('screening_incidents')
      .select(['sha256', 'md5'])
      .where('asset_id', '=', registration.assetId)
      .execute();
    expect(incidents).toEqual([{ sha256: digestOf('sha256', image), md5: digestOf('md5', image) }]);
    const left: string[] = [];
    for await (const { key } of rig.originals.list('')) if (key.includes(registration.assetId)) left.push(key);
    expect(left).toEqual([]);
  });

  it('stores nothing that it refuses', async () => {
    const tooLarge = Buffer.alloc(testLimits.maxImageBytes + 1);
    const png = await makeImage('png');
    const refusals: [unknown, number, string][] = [];
    for (const bytes of [svg, png.subarray(0, png.length / 2), tooLarge]) {
      const registration = newImage();
      const { status, body } = await deposit(registration, bytes);
      refusals.push([await rowOf(registration.assetId), status, body.error]);
    }
    expect(refusals).toEqual([
      [undefined, 422, 'unsupported_image'],
      [undefined, 422, 'undecodable_image'],
      [undefined, 413, 'asset_too_large'],
    ]);
  });

  it('names what is wrong with the request', async () => {
    const pathOf = async (body: Uint8Array | string) => (await send(body)).body.issues?.[0]?.path;
    expect(await pathOf(image)).toBe('body');
    expect(await pathOf('not JSON\nbytes')).toBe('body');
    expect(await pathOf(`${JSON.stringify({ ...newImage(), scopeKind: 'a b' })}\nbytes`)).toBe('body.scopeKind');
    expect(await pathOf(`${JSON.stringify({ ...newImage(), mime: 'video/mp4' })}\nbytes`)).toBe('body.mime');
    expect((await send('{}', { ...key, 'content-type': 'application/json' })).body.error).toBe(
      'unsupported_media_type',
    );
  });

  it('is for servers, with the rights of the user that they name', async () => {
    const token = await rig.issuer.token({ sub: rig.userId });
    expect((await deposit(newImage(), image, { authorization: `Bearer ${token}` })).status).toBe(403);
    expect((await deposit(newImage(), image, {})).status).toBe(401);
    expect((await deposit({ ...newImage(), ownerId: randomUUID() }, image)).status).toBe(403);
  });
});
