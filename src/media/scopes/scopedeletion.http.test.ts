import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type PlantOptions, plant, remaining } from '../../../test/media/planting.fixture.ts';
import { type Client, type MediaRig, onEveryPair, type Refusal, startMedia } from '../../../test/media/rig.fixture.ts';
import { listed } from '../../../test/platform/objects/objects.fixture.ts';
import type { ScopeDeleted } from '../api.ts';

onEveryPair('DELETE /v1/scope', (pair) => {
  let rig: MediaRig;
  beforeAll(async () => {
    rig = await startMedia(pair);
  });
  afterAll(() => rig.close());

  const remove = (client: Client, payload: object) => client.delete<ScopeDeleted>('/v1/scope', payload);
  const deleted = (r2Deleted: number, dbDeleted: number) => ({
    status: 200,
    body: { r2Deleted, legacyDeleted: 0, dbDeleted },
  });

  /** One asset each, with watermark files: the scope asked for, another id, another kind, ids and kinds that start alike. */
  async function plantScopes(ownerId: string) {
    const one = (scope: PlantOptions) => plant(rig, 1, { ownerId, beside: ['.wm.jpg', '.wm.mp4'], ...scope });
    return {
      asked: await one({ scopeKind: 'thread', scopeId: '1', isReady: false }),
      otherId: await one({ scopeKind: 'thread', scopeId: '2' }),
      longerId: await one({ scopeKind: 'thread', scopeId: '12' }),
      otherKind: await one({ scopeKind: 'feed', scopeId: '1' }),
      longerKind: await one({ scopeKind: 'threads', scopeId: '1' }),
    };
  }

  it.each<[string, object, readonly string[]]>([
    ['one scope', { scopeKind: 'thread', scopeId: '1' }, ['otherId', 'longerId', 'otherKind', 'longerKind']],
    ['a kind', { scopeKind: 'thread' }, ['otherKind', 'longerKind']],
    ['everything', {}, []],
    ['nothing', { scopeKind: 'none' }, ['asked', 'otherId', 'longerId', 'otherKind', 'longerKind']],
  ])('deletes %s, and nothing else', async (_name, scope, kept) => {
    const ownerId = randomUUID();
    const planted = await plantScopes(ownerId);
    const foreign = await plantScopes(randomUUID());
    const count = 5 - kept.length;
    expect(await remove(rig.server, { ownerId, ...scope })).toMatchObject(deleted(3 * count, count));
    for (const [name, assets] of Object.entries(planted)) {
      const isKept = kept.includes(name);
      expect(await remaining(rig, assets)).toEqual(isKept ? { rows: 1, objects: 3 } : { rows: 0, objects: 0 });
    }
    for (const assets of Object.values(foreign)) expect(await remaining(rig, assets)).toEqual({ rows: 1, objects: 3 });
    expect(await remove(rig.server, { ownerId, ...scope })).toMatchObject(deleted(0, 0));
  });

  it.each<[string, () => object]>([
    ['with the own id', () => ({ ownerId: rig.userId })],
    ['with the own id in upper case', () => ({ ownerId: rig.userId.toUpperCase() })],
    [
      'with own legacy prefixes',
      () => ({
        ownerId: rig.userId,
        legacyPrefixes: [`${rig.userId}/`, `feed/${rig.userId}/a`, `avatars/${rig.userId}/`],
      }),
    ],
  ])('lets a user delete the own, %s', async (_name, more) => {
    const planted = await plant(rig, 2);
    const foreign = await plant(rig, 1, { ownerId: randomUUID() });
    expect(await remove(rig.user, more())).toMatchObject(deleted(2, 2));
    expect(await remaining(rig, planted)).toEqual({ rows: 0, objects: 0 });
    expect(await remaining(rig, foreign)).toEqual({ rows: 1, objects: 1 });
  });

  it('counts the objects that there are', async () => {
    const ownerId = randomUUID();
    await plant(rig, 2, { ownerId, beside: ['.wm.jpg'] });
    const [bare] = await plant(rig, 1, { ownerId });
    // Other files there have no row, so they stay.
    const stray = `${bare?.storageKey}.other`;
    await rig.originals.put(stray, Buffer.from('x'), { contentType: 'image/png', size: 1 });
    await rig.originals.remove([String(bare?.storageKey)]);
    expect(await remove(rig.server, { ownerId })).toMatchObject(deleted(4, 3));
    expect(await rig.originals.head(stray)).toBeDefined();
  });

  it('processes large scopes page by page', { timeout: 120_000 }, async () => {
    const ownerId = randomUUID();
    await plant(rig, 700, { ownerId });
    await plant(rig, 100, { ownerId, scopeId: '2', beside: ['.wm.jpg'] });
    expect(await remove(rig.server, { ownerId })).toMatchObject(deleted(900, 800));
    expect(await listed(rig.originals, `u/${ownerId}/`)).toEqual([]);
  });

  it('deletes each asset once for concurrent requests', async () => {
    const ownerId = randomUUID();
    await plant(rig, 30, { ownerId });
    const answers = await Promise.all(Array.from({ length: 4 }, () => remove(rig.server, { ownerId })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(answers.reduce((sum, { body }) => sum + body.dbDeleted, 0)).toBe(30);
    expect(await listed(rig.originals, `u/${ownerId}/`)).toEqual([]);
  });

  it.each<[string, () => object]>([
    ['somebody else', () => ({ ownerId: randomUUID() })],
    ["somebody else's prefix", () => ({ ownerId: rig.userId, legacyPrefixes: [`${rig.userId}/`, `${randomUUID()}/`] })],
    ['a prefix that others start with too', () => ({ ownerId: rig.userId, legacyPrefixes: [rig.userId] })],
    ['a public scope as a whole', () => ({ ownerId: rig.userId, legacyPrefixes: ['feed/'] })],
  ])('403 for %s, and nothing is deleted', async (_name, payload) => {
    const planted = await plant(rig, 1);
    const answer = await rig.user.delete<Refusal>('/v1/scope', payload());
    expect([answer.status, answer.body.error]).toEqual([403, 'forbidden']);
    expect(await remaining(rig, planted)).toEqual({ rows: 1, objects: 1 });
  });

  const ownerId = randomUUID();
  it.each<[string, unknown, string]>([
    ['no body', '', 'body'],
    ['no owner', {}, 'body.ownerId'],
    ['an owner that is no UUID', { ownerId: 'me' }, 'body.ownerId'],
    ['an id without a kind', { ownerId, scopeId: '1' }, 'body.scopeId'],
    ['an empty kind', { ownerId, scopeKind: '' }, 'body.scopeKind'],
    ['a kind of 65 characters', { ownerId, scopeKind: 'x'.repeat(65) }, 'body.scopeKind'],
    ['an id of 129 characters', { ownerId, scopeKind: 'thread', scopeId: 'x'.repeat(129) }, 'body.scopeId'],
    ['a wildcard', { ownerId, scopeKind: 'thread', scopeId: '%' }, 'body.scopeId'],
    ['an empty prefix', { ownerId, legacyPrefixes: [''] }, 'body.legacyPrefixes.0'],
    ['a prefix of all', { ownerId, legacyPrefixes: ['/'] }, 'body.legacyPrefixes.0'],
    ['a prefix upwards', { ownerId, legacyPrefixes: [`${ownerId}/`, `${ownerId}/../`] }, 'body.legacyPrefixes.1'],
    ['an absolute prefix', { ownerId, legacyPrefixes: ['/a/'] }, 'body.legacyPrefixes.0'],
    ['prefixes that are no list', { ownerId, legacyPrefixes: 'a/' }, 'body.legacyPrefixes'],
    ['a bad bucket', { ownerId, legacyBucket: 'a/b' }, 'body.legacyBucket'],
  ])('400 for %s', async (_name, payload, path) => {
    const { status, body } = await rig.server.delete<Refusal>('/v1/scope', payload);
    expect([status, body.error, body.issues?.[0]?.path]).toEqual([400, 'invalid_request', path]);
  });

  it.each<[string, object, string]>([
    ['no owner', { scopeKind: 'thread', scopeId: '1' }, 'body.ownerId'],
    ['an empty body', {}, 'body.ownerId'],
    ['an owner that is null', { ownerId: null }, 'body.ownerId'],
    ['a kind that is null', { scopeKind: null }, 'body.scopeKind'],
    ['an id that is null', { scopeKind: 'thread', scopeId: null }, 'body.scopeId'],
    ['a misspelled id', { scopeKind: 'thread', scopeid: '1' }, 'body.scopeid'],
    ['a misspelled kind', { scope_kind: 'thread' }, 'body.scope_kind'],
    ['a field of another route', { ids: [randomUUID()] }, 'body.ids'],
  ])('400 for %s, and nothing is deleted', async (name, scope, path) => {
    const planted = await plant(rig, 1);
    for (const client of [rig.user, rig.server]) {
      const owner = name === 'no owner' || name === 'an empty body' ? {} : { ownerId: rig.userId };
      const { status, body } = await client.delete<Refusal>('/v1/scope', { ...owner, ...scope });
      expect([status, body.error, body.issues?.map((issue) => issue.path)]).toEqual([400, 'invalid_request', [path]]);
      expect(body.message).toContain(path);
    }
    expect(await remaining(rig, planted)).toEqual({ rows: 1, objects: 1 });
  });

  it('401 without a credential', async () => {
    expect((await remove(rig.client({}), { ownerId })).status).toBe(401);
  });
});
