import { afterAll, beforeAll, expect, it } from 'vitest';
import { type MemoryRig, newGroup, newUser, onEveryDatabase, startMemory } from '../../../test/memory/rig.fixture.ts';
import type { Injection, MemoryType } from '../api.ts';

onEveryDatabase('what /inject adds to what it finds', (engine) => {
  let rig: MemoryRig;
  beforeAll(async () => {
    rig = await startMemory(engine);
  });
  afterAll(() => rig.close());

  async function remember(entity: object, said: readonly (readonly [MemoryType, string])[]) {
    for (const [type, content] of said) {
      const { status } = await rig.server.send('POST', '/memory/add', { ...entity, type, content });
      expect(status).toBe(201);
    }
  }
  const inject = async (request: object) =>
    (await rig.server.send<Injection>('POST', '/inject', request)).body.memories;

  const facts = [
    ['instruction', 'Answer in German'],
    ['episodic', 'We talked about the harbor of Oslo'],
    ['preference', 'I like etchings'],
    ['workflow', 'Invoices are sent on the first of the month'],
    ['preference', 'My dog is called Rex'],
  ] as const;

  it('adds the newest instructions and preferences, marked, after the found memories', async () => {
    const user = newUser();
    await remember(user, facts);
    const memories = await inject({ ...user, query: 'harbor of Oslo', limit: 5 });
    expect(memories[0]).toMatchObject({ content: 'We talked about the harbor of Oslo' });
    expect(memories[0]).not.toHaveProperty('fallback');
    const standing = memories.filter(({ type }) => type === 'instruction' || type === 'preference');
    expect(standing).toHaveLength(3);
    const added = memories.filter(({ fallback }) => fallback);
    expect(added).toEqual(memories.slice(memories.length - added.length));
    expect(added.every(({ type }) => type === 'instruction' || type === 'preference')).toBe(true);
    expect(memories.map(({ score }) => score)).toEqual(memories.map(({ score }) => score).toSorted((a, b) => b - a));
  });

  it('returns only those, newest first, if it found none', async () => {
    const user = newUser();
    await remember(user, facts);
    const memories = await inject({ ...user, query: '\u{10FFFD}\u{10FFFC}', limit: 5 });
    expect(memories.map(({ content, fallback }) => [content, fallback])).toEqual([
      ['My dog is called Rex', true],
      ['I like etchings', true],
      ['Answer in German', true],
    ]);
  });

  it('no memory twice, and no more than the limit', async () => {
    const user = newUser();
    await remember(user, facts);
    const memories = await inject({ ...user, query: 'What is the name of my dog Rex?', limit: 5 });
    expect(new Set(memories.map(({ id }) => id)).size).toBe(memories.length);
    expect(await inject({ ...user, query: 'qwxz', limit: 2 })).toHaveLength(2);
  });

  it.each([
    'What do you know about me?',
    'Hey, what do you remember about me?',
    'Was weißt du über mich?',
    '你知道我的什么？',
    '私について何を知っていますか',
    'Qu’est-ce que tu sais de moi ?',
  ])('a question about everything gets them: %s', async (query) => {
    const user = newUser();
    await remember(user, facts);
    const memories = await inject({ ...user, query, limit: 2 });
    expect(memories.map(({ content, fallback }) => [content, fallback])).toEqual([
      ['My dog is called Rex', true],
      ['I like etchings', true],
    ]);
  });

  it.each(['', '   \n'])('nothing to an empty query: %j', async (query) => {
    const user = newUser();
    await remember(user, facts);
    expect(await inject({ ...user, query })).toEqual([]);
  });

  it('returns nothing of other users, and nothing for an unknown entity', async () => {
    const [user, stranger] = [newUser(), newUser()];
    await remember(user, facts);
    expect(await inject({ ...stranger, query: 'What do you know about me?' })).toEqual([]);
  });

  it('returns only found memories of the group', async () => {
    const [user, group] = [newUser(), newGroup()];
    await remember(group, facts);
    const memories = await inject({ ...user, group_id: group.entity_id, query: 'qwxz' });
    expect(memories.filter(({ fallback }) => fallback)).toEqual([]);
  });
});
