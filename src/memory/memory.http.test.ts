import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MemoryRig, newGroup, newUser, onEveryDatabase, startMemory } from '../../test/memory/rig.fixture.ts';
import type { FoundMemory, Injection, Memory, SearchResult } from './api.ts';

interface Added {
  readonly id: string;
  readonly deduplicated: boolean;
}

onEveryDatabase('the memory service', (engine) => {
  let rig: MemoryRig;
  beforeAll(async () => {
    rig = await startMemory(engine);
  });
  afterAll(() => rig.close());

  const add = (entity: object, content: string, more: object = {}) =>
    rig.server.send<Added>('POST', '/memory/add', { ...entity, content, type: 'episodic', ...more });
  const search = async (entity: object, query: string, more: object = {}) =>
    (await rig.server.send<SearchResult>('POST', '/memory/search', { ...entity, query, ...more })).body.memories;
  const contents = (memories: readonly FoundMemory[]) => memories.map(({ content }) => content);

  it('remembers and finds again', async () => {
    const user = newUser();
    const added = await add(user, 'I keep bees on the roof', { type: 'preference', metadata: { from: 'chat' } });
    expect(added.status).toBe(201);
    expect(added.body).toEqual({ id: expect.any(String), deduplicated: false });
    await add(user, 'My flight to Lisbon leaves on Friday');
    const [first] = await search(user, 'what about the bees?');
    expect(first).toEqual({
      id: added.body.id,
      ...user,
      type: 'preference',
      content: 'I keep bees on the roof',
      metadata: { from: 'chat' },
      score: expect.any(Number),
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      said_at: expect.stringMatching(/Z$/),
    });
  });

  it('merges a known memory, and reports that', async () => {
    const user = newUser();
    const first = await add(user, 'I keep bees on the roof', { metadata: { a: 1, b: 1 } });
    const again = await add(user, 'i keep bees on the roof.', { metadata: { b: 2 } });
    expect(again).toEqual({ status: 200, body: { id: first.body.id, deduplicated: true } });
    const found = await search(user, 'bees');
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ content: 'i keep bees on the roof.', metadata: { a: 1, b: 2 } });
    expect((await add(user, 'I keep bees on the roof', { type: 'workflow' })).status).toBe(201);
    expect((await add(newUser(), 'I keep bees on the roof')).status).toBe(201);
  });

  it('returns the profile, the user’s memories and three of the group', async () => {
    const user = newUser();
    const group = newGroup();
    await add(user, 'My name is Robin', { type: 'preference' });
    for (const place of ['Oslo', 'Rome', 'Kyoto', 'Cusco', 'Quito', 'Perth'])
      await add(user, `The trip to ${place} was wonderful`);
    for (const place of ['Lima', 'Bergen', 'Cairo', 'Hanoi']) await add(group, `We plan a trip to ${place} together`);
    const { status, body } = await rig.server.send<Injection>('POST', '/inject', {
      ...user,
      group_id: group.entity_id,
      query: 'which trip was it?',
    });
    expect(status).toBe(200);
    expect(body.profile).toMatchObject({ ...user, facts: { display_name: 'Robin' } });
    expect(body.group_profile).toBeNull();
    expect(body.memories.filter(({ entity_type }) => entity_type === 'user')).toHaveLength(5);
    expect(body.memories.filter(({ entity_type }) => entity_type === 'group')).toHaveLength(3);
    const scores = body.memories.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((left, right) => right - left));
    expect(body).not.toHaveProperty('degraded');
    const silent = await rig.server.send<Injection>('POST', '/inject', { ...user, query: '' });
    expect(silent.body).toMatchObject({ profile: { facts: { display_name: 'Robin' } }, memories: [] });
    const nobody = await rig.server.send<Injection>('POST', '/inject', { ...newUser(), query: 'trip' });
    expect(nobody.body).toEqual({ profile: null, group_profile: null, memories: [] });
  });

  it('returns a sentence once that both the user and the group have', async () => {
    const [user, group] = [newUser(), newGroup()];
    await add(group, 'We sail to Bergen in June');
    await add(group, 'We sail to Hanoi in July');
    await add(user, 'we sail to Bergen in June.');
    const request = { ...user, group_id: group.entity_id, query: 'where do we sail?' };
    const { body } = await rig.server.send<Injection>('POST', '/inject', request);
    expect(body.memories.map(({ content }) => content).toSorted()).toEqual([
      'We sail to Hanoi in July',
      'we sail to Bergen in June.',
    ]);
  });

  it('filters by type, and respects its limit', async () => {
    const user = newUser();
    for (let place = 0; place < 14; place += 1)
      await add(user, `Tea number ${place} tastes of ${'abcdefghijklmn'[place]}`);
    await add(user, 'Always serve tea hot', { type: 'instruction' });
    expect(await search(user, 'tea')).toHaveLength(10);
    expect(await search(user, 'tea', { limit: 100 })).toHaveLength(15);
    expect(contents(await search(user, 'tea', { type_filter: 'instruction' }))).toEqual(['Always serve tea hot']);
    expect(await search(user, 'tea', { type_filter: 'workflow' })).toEqual([]);
  });

  it('rewords and deletes', async () => {
    const user = newUser();
    const { body } = await add(user, 'I live in Berlin', { metadata: { source: 'chat' } });
    const edited = await rig.server.send<Memory>('PUT', `/memory/${body.id}`, { content: 'I live in Hamburg' });
    expect(edited.status).toBe(200);
    expect(edited.body).toMatchObject({ id: body.id, content: 'I live in Hamburg', metadata: { source: 'chat' } });
    expect(contents(await search(user, 'Berlin'))).not.toContain('I live in Berlin');
    expect(contents(await search(user, 'Hamburg'))).toEqual(['I live in Hamburg']);
    expect(await rig.server.send('DELETE', `/memory/${body.id}`)).toEqual({ status: 204, body: undefined });
    expect(await search(user, 'Hamburg')).toEqual([]);
    expect((await rig.server.send('DELETE', `/memory/${body.id}`)).status).toBe(404);
    expect((await rig.server.send('PUT', `/memory/${body.id}`, { content: 'x' })).status).toBe(404);
  });

  it('rejects an edit that would duplicate a memory', async () => {
    const user = newUser();
    await add(user, 'I drink tea');
    const { body } = await add(user, 'I drink coffee');
    const refused = await rig.server.send('PUT', `/memory/${body.id}`, { content: 'I drink TEA' });
    expect([refused.status, refused.body.error]).toEqual([409, 'duplicate_memory']);
    expect(contents(await search(user, 'coffee'))[0]).toBe('I drink coffee');
  });

  describe('the right to read and write', () => {
    const own = () => ({ entity_id: rig.userId, entity_type: 'user' });
    const body = (entity: object) => ({ ...entity, content: 'It rains', type: 'episodic', query: 'rain' });

    it.each(['/memory/add', '/memory/search', '/inject'])('POST %s: users their own, servers all', async (path) => {
      expect((await rig.client({}).send('POST', path, body(newUser()))).status).toBe(401);
      const wrongKey = rig.client({ 'x-internal-key': 'wrong' });
      expect((await wrongKey.send('POST', path, body(newUser()))).status).toBe(401);
      expect((await rig.user.send('POST', path, body(own()))).status).toBeLessThan(300);
      expect((await rig.user.send('POST', path, body(newUser()))).status).toBe(403);
      expect((await rig.user.send('POST', path, body(newGroup()))).status).toBe(403);
      expect((await rig.user.send('POST', path, body({ ...own(), entity_type: 'group' }))).status).toBe(403);
      expect((await rig.server.send('POST', path, body(newGroup()))).status).toBeLessThan(300);
      // The form is checked before the permission.
      expect((await rig.user.send('POST', path, { ...newUser() })).status).toBe(400);
    });

    it('a group in a turn is for servers', async () => {
      const request = { ...own(), query: 'rain', group_id: 'a-group' };
      expect((await rig.user.send('POST', '/inject', request)).status).toBe(403);
      expect((await rig.server.send('POST', '/inject', request)).status).toBe(200);
      expect((await rig.user.send('POST', '/inject', { ...request, group_id: null })).status).toBe(200);
    });

    it.each([
      ['PUT', { content: 'x' }],
      ['DELETE', undefined],
    ])('%s: a memory of another is 403, an unknown one 404', async (method, payload) => {
      const foreign = (await add(newUser(), 'The lake is frozen')).body.id;
      expect((await rig.user.send(method, `/memory/${foreign}`, payload)).status).toBe(403);
      expect((await rig.client({}).send(method, `/memory/${foreign}`, payload)).status).toBe(401);
      for (const id of [randomUUID(), 'nonsense', '%00', "';--"])
        expect((await rig.user.send(method, `/memory/${id}`, payload)).status).toBe(404);
      const mine = (await add({ entity_id: rig.userId, entity_type: 'user' }, `Mine ${method}`)).body.id;
      expect((await rig.user.send(method, `/memory/${mine}`, payload)).status).toBeLessThan(300);
    });
  });

  describe('forms', () => {
    const good = { entity_id: 'someone', entity_type: 'user', content: 'It rains', type: 'episodic' };
    const deep = (levels: number): unknown => (levels === 0 ? 1 : { in: deep(levels - 1) });

    it.each([
      ['empty content', { content: '' }, 400],
      ['a byte too many', { content: 'x'.repeat(32_769) }, 400],
      ['as many bytes as allowed', { content: 'x'.repeat(32_768) }, 201],
      ['bytes, not characters', { content: 'ß'.repeat(16_385) }, 400],
      ['NUL', { content: 'a\0b' }, 400],
      ['a lone surrogate', { content: 'a\ud800b' }, 400],
      ['emoji', { content: '👩‍👩‍👧‍👦🏳️‍🌈' }, 201],
      ['right to left, mixed', { content: 'أحب قهوة with 牛乳 ועוגה' }, 201],
      ['nothing but marks', { content: '...' }, 201],
      ['spaces', { content: '   ' }, 400],
      ['no content', { content: undefined }, 400],
      ['a number as content', { content: 5 }, 400],
      ['an unknown type', { type: 'opinion' }, 400],
      ['an unknown entity type', { entity_type: 'team' }, 400],
      ['an empty entity id', { entity_id: '' }, 400],
      ['an entity id with NUL', { entity_id: 'a\0' }, 400],
      ['an entity id that is too long', { entity_id: 'x'.repeat(257) }, 400],
      ['metadata that is a list', { metadata: [] }, 400],
      ['metadata with NUL', { metadata: { a: ['\0'] } }, 400],
      ['metadata with NUL in a name', { metadata: { '\0': 1 } }, 400],
      ['metadata with a lone surrogate', { metadata: { a: '\udfff' } }, 400],
      ['deep metadata', { metadata: { in: deep(31) } }, 201],
      ['deeper metadata', { metadata: { in: deep(32) } }, 400],
      ['very deep metadata', { metadata: { in: deep(95) } }, 400],
      ['large metadata', { metadata: { a: 'x'.repeat(65_528) } }, 201],
      ['larger metadata', { metadata: { a: 'x'.repeat(65_529) } }, 400],
      ['no metadata', { metadata: null }, 201],
    ])('add: %s', async (_title, changes, status) => {
      const answer = await rig.server.send('POST', '/memory/add', { ...good, entity_id: randomUUID(), ...changes });
      expect(answer.status).toBe(status);
      if (status === 400) expect(answer.body).toMatchObject({ error: 'invalid_request', issues: expect.any(Array) });
    });

    it.each([
      ['/memory/search', { limit: 0 }, 400],
      ['/memory/search', { limit: 101 }, 400],
      ['/memory/search', { limit: 1.5 }, 400],
      ['/memory/search', { limit: 100 }, 200],
      ['/memory/search', { type_filter: 'opinion' }, 400],
      ['/memory/search', { query: undefined }, 400],
      ['/memory/search', { query: '' }, 200],
      ['/memory/search', { query: 'a\0\ud800 👍 的' }, 200],
      ['/memory/search', { query: 'x '.repeat(100_000) }, 200],
      ['/inject', { limit: 0 }, 400],
      ['/inject', { limit: 101 }, 400],
      ['/inject', { query: undefined }, 400],
      ['/inject', { query: '   ' }, 200],
      ['/inject', { group_id: '' }, 400],
    ])('%s %j: %d', async (path, changes, status) => {
      await add({ entity_id: 'someone', entity_type: 'user' }, 'It rains');
      const request = { entity_id: 'someone', entity_type: 'user', query: 'rain', ...changes };
      expect((await rig.server.send('POST', path, request)).status).toBe(status);
    });

    it('bodies: 400, 413, 415', async () => {
      expect((await rig.server.send('POST', '/memory/add', '{')).status).toBe(400);
      expect((await rig.server.send('POST', '/memory/add', JSON.stringify({ a: 'x'.repeat(1_100_000) }))).status).toBe(
        413,
      );
      const plain = rig.client({ 'x-internal-key': 'an internal key', 'content-type': 'text/plain' });
      expect((await plain.send('POST', '/memory/add', 'x')).status).toBe(415);
    });
  });
});
