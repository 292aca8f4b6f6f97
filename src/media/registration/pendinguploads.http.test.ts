import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { validityS } from '../../../test/media/addresses.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { type MediaRig, onEveryPair, type Refusal, startMedia, upload } from '../../../test/media/rig.fixture.ts';
import type { PendingObject } from '../api.ts';

const path = '/v1/uploads/sign-pending';

onEveryPair(`POST ${path}`, (pair) => {
  let rig: MediaRig;
  beforeAll(async () => {
    rig = await startMedia(pair);
  });
  afterAll(() => rig.close());

  /** An uploaded object, and the request of a server that reads it. */
  async function pending(changes: object = {}, bytes: Uint8Array = Buffer.from('bytes')) {
    const { registration } = await upload(rig.user, bytes, changes);
    const { assetId, scopeKind, scopeId, mime } = registration;
    return { assetId, scopeKind, scopeId, mime, ownerId: rig.userId };
  }

  const sign = (payload: object) => rig.server.post<PendingObject>(path, payload);

  it('returns a URL and the size of an upload', async () => {
    const bytes = Buffer.from('not a film');
    const { status, body } = await sign(await pending({ mime: 'video/mp4' }, bytes));
    expect(status).toBe(200);
    expect(body).toEqual({ url: expect.any(String), byteSize: bytes.length });
    const object = await fetch(body.url);
    expect([object.status, object.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    expect(Buffer.from(await object.arrayBuffer())).toEqual(bytes);
    expect((await fetch(`${body.url}0`)).status).toBe(403);
  });

  it('accepts ids and MIME types in any case', async () => {
    const said = await pending();
    const shouted = { assetId: said.assetId.toUpperCase(), ownerId: said.ownerId.toUpperCase(), mime: 'IMAGE/PNG' };
    expect((await sign({ ...said, ...shouted })).status).toBe(200);
  });

  it('does not register the object, and accepts a registered one', async () => {
    const { registration } = await upload(rig.user, await makeImage('png'));
    const request = { ...registration, ownerId: rig.userId };
    expect((await sign(request)).status).toBe(200);
    expect((await rig.user.sign([registration.assetId])).body[registration.assetId]).toEqual({
      ready: false,
      error: 'not_found',
    });
    expect((await rig.user.register(registration)).status).toBe(201);
    expect((await sign(request)).status).toBe(200);
  });

  it.each([
    ['an hour, when nothing is said', undefined, 3600],
    ['an hour, when null is said', null, 3600],
    ['as long as is said', 60, 60],
    ['a day at most', 86_400, 86_400],
  ])('is valid for %s', async (_name, expiresIn, lengthS) => {
    const { body } = await sign({ ...(await pending()), expiresIn });
    expect(validityS(body.url)).toBeGreaterThan(lengthS - 5);
    expect(validityS(body.url)).toBeLessThanOrEqual(lengthS);
  });

  it('accepts one second', async () => {
    expect((await sign({ ...(await pending()), expiresIn: 1 })).status).toBe(200);
  });

  it.each<[string, object]>([
    ['another id', { assetId: randomUUID() }],
    ['another owner', { ownerId: randomUUID() }],
    ['another scope kind', { scopeKind: 'Thread' }],
    ['another scope', { scopeId: 'other' }],
    ['a mime of another extension', { mime: 'image/jpeg' }],
  ])('%s than the upload had is 404', async (_name, changes) => {
    const { status, body } = await rig.server.post(path, { ...(await pending()), ...changes });
    expect([status, body.error]).toEqual([404, 'not_found']);
  });

  it('a reservation without an upload is 404', async () => {
    const said = { scopeKind: 'thread', scopeId: '1', kind: 'image', mime: 'image/png' };
    const { assetId } = (await rig.user.reserve(said)).body;
    expect((await rig.server.post(path, { ...said, assetId, ownerId: rig.userId })).status).toBe(404);
  });

  it.each<[string, object, string]>([
    ['no owner', { ownerId: undefined }, 'body.ownerId'],
    ['no id', { assetId: undefined }, 'body.assetId'],
    ['an id that is no UUID', { assetId: '../x' }, 'body.assetId'],
    ['no mime', { mime: undefined }, 'body.mime'],
    ['a mime with parameters', { mime: 'video/webm; codecs=vp9' }, 'body.mime'],
    ['no scopeKind', { scopeKind: undefined }, 'body.scopeKind'],
    ['too long a scopeKind', { scopeKind: 'k'.repeat(65) }, 'body.scopeKind'],
    ['too long a scopeId', { scopeId: 's'.repeat(129) }, 'body.scopeId'],
    ['a path in the scope', { scopeId: '../..' }, 'body.scopeId'],
    ['a second more than a day', { expiresIn: 86_401 }, 'body.expiresIn'],
    ['no time at all', { expiresIn: 0 }, 'body.expiresIn'],
    ['less than no time', { expiresIn: -1 }, 'body.expiresIn'],
    ['half a second', { expiresIn: 0.5 }, 'body.expiresIn'],
    ['a time that is a text', { expiresIn: '60' }, 'body.expiresIn'],
  ])('%s is a 400', async (_name, changes, told) => {
    const { status, body } = await rig.server.post<Refusal>(path, { ...(await pending()), ...changes });
    expect([status, body.error]).toEqual([400, 'invalid_request']);
    expect(body.issues?.map((issue) => issue.path)).toEqual([told]);
  });

  it('is for servers only', async () => {
    const said = await pending();
    expect((await rig.client({}).post(path, '{ no json')).status).toBe(401);
    expect((await rig.client({ 'x-internal-key': 'guess' }).post(path, said)).status).toBe(401);
    const asUser = await rig.user.post(path, said);
    expect([asUser.status, asUser.body.error]).toEqual([403, 'forbidden']);
    expect((await rig.user.post(path, { ...said, mime: '' })).status).toBe(400);
  });
});
