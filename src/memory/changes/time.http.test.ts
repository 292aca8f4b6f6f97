import { afterAll, beforeAll, expect, it } from 'vitest';
import type { z } from 'zod';
import { blindMemories, blindQuestions } from '../../../test/memory/blind.fixture.ts';
import { halves } from '../../../test/memory/meaning.fixture.ts';
import { type MemoryRig, newUser, onEveryDatabase, startMemory } from '../../../test/memory/rig.fixture.ts';
import type { addition, Injection, Memory } from '../api.ts';

const unrelated = [
  'How do I install a printer driver?',
  'What is the capital of Peru?',
  'Explain photosynthesis',
  'Write a haiku about autumn',
  'How many meters are in a mile?',
  'Who won the world cup in 1998?',
  'What causes earthquakes?',
  'Convert 20 degrees Celsius to Fahrenheit',
  'Give me a regex for email addresses',
  'What is the square root of 144?',
  'Why is the sky blue?',
  'Summarize the plot of Hamlet',
  'How do vaccines work?',
  'What does HTTP 404 mean?',
  'When did the Roman Empire fall?',
  'How do I reverse a linked list?',
  'What is inflation?',
  'How far is the moon?',
  'Translate good morning into Finnish',
  'Tell me a joke about penguins',
];

onEveryDatabase('time and relevance', (engine) => {
  let rig: MemoryRig;
  beforeAll(async () => {
    rig = await startMemory(engine);
  });
  afterAll(() => rig.close());

  type User = ReturnType<typeof newUser>;
  const add = async (user: User, content: string, more: object = {}) =>
    (
      await rig.server.send<z.output<typeof addition>>('POST', '/memory/add', {
        ...user,
        content,
        type: 'preference',
        ...more,
      })
    ).body;
  const inject = async (user: User, query: string) =>
    (await rig.server.send<Injection>('POST', '/inject', { ...user, query })).body;
  const read = async (id: string) => (await rig.server.send<Memory>('GET', `/memory/${id}`)).body;

  it('a memory carries when it was said, and what its relative date means', async () => {
    const user = newUser();
    const said = { said_at: '2026-03-01T10:00:00.000Z', type: 'episodic' };
    const { id } = await add(user, 'I travel to Oaxaca next month', said);
    expect(await read(id)).toMatchObject({ said_at: said.said_at });
    const { memories } = await inject(user, 'When do I travel to Oaxaca?');
    expect(memories[0]).toMatchObject({ said_at: said.said_at, when: '2026-04' });
    await add(user, 'I travel to Oaxaca next month', { ...said, said_at: '2026-05-01T10:00:00.000Z' });
    expect((await inject(user, 'When do I travel to Oaxaca?')).memories[0]).toMatchObject({ when: '2026-06' });
  });

  it('refuses a time that is none, and names the field', async () => {
    const request = { ...newUser(), content: 'I like tea', type: 'preference', said_at: 'yesterday' };
    const { status, body } = await rig.server.send('POST', '/memory/add', request);
    expect([status, body.issues?.[0]?.path]).toEqual([400, 'body.said_at']);
  });

  it('a correction replaces what it corrects, unless that was said later', async () => {
    const user = newUser();
    const home = await add(user, 'I live in Lyon');
    const meat = await add(user, 'I eat meat');
    const moved = await add(user, 'I moved to Lisbon');
    const stopped = await add(user, 'I no longer eat meat');
    expect(await read(home.id)).toMatchObject({ replaced_by: moved.id });
    expect(await read(meat.id)).toMatchObject({ replaced_by: stopped.id });
    const coffee = await add(user, 'I drink coffee at work');
    const tea = await add(user, 'I now drink green tea instead of coffee at work');
    const cup = await add(user, '我喝咖啡');
    const pot = await add(user, '我现在喝茶而不是咖啡');
    expect(await read(coffee.id)).toMatchObject({ replaced_by: tea.id });
    expect(await read(cup.id)).toMatchObject({ replaced_by: pot.id });
    const late = await add(user, 'I moved to Rome', { said_at: '2020-01-01T00:00:00Z' });
    expect(await read(moved.id)).toMatchObject({ replaced_by: null });
    expect(await read(late.id)).toMatchObject({ replaced_by: null });
    expect((await inject(user, 'Where do I live?')).profile?.facts.preferences).not.toContain('Lyon');
  });

  const ownFacts = [halves.tuned, halves.reported].flatMap(([person]) => person?.facts ?? []).slice(0, 40);
  const linesOf = (text: string) => text.trim().split('\n');
  it.each([
    ['own', 'episodic', ownFacts, unrelated],
    ['own', 'workflow', ownFacts, unrelated],
    ['blind', 'episodic', linesOf(blindMemories), linesOf(blindQuestions)],
    ['blind', 'workflow', linesOf(blindMemories), linesOf(blindQuestions)],
  ] as const)(
    'a question that concerns none of 40 memories finds at most one: %s set, %s',
    async (_, type, facts, questions) => {
      const user = newUser();
      for (const fact of facts) await add(user, fact, { type });
      const found = [];
      for (const question of questions) found.push((await inject(user, question)).memories.length);
      expect([facts.length, questions.length, Math.max(...found)]).toEqual([40, 20, 1]);
    },
  );

  it('each derived fact names its memories', async () => {
    const user = newUser();
    const { id } = await add(user, 'My name is Anna and I like cats');
    const { profile } = await inject(user, '');
    expect(profile).toMatchObject({ facts: { display_name: 'Anna' }, evidence: { display_name: [id] } });
    await rig.server.send('DELETE', `/memory/${id}`);
    expect((await inject(user, '')).profile?.facts.display_name).toBeUndefined();
  });

  it('the first instruction stays in the profile, however many and long the newer ones are', async () => {
    const user = newUser();
    await add(user, 'Never put a frame around my pictures', { type: 'instruction' });
    for (let place = 0; place < 20; place += 1)
      await add(user, `Rule ${place}: ${`sign ${place} goes to corner ${place}, `.repeat(30)}`, {
        type: 'instruction',
      });
    expect((await inject(user, '')).profile?.facts.standing_instructions).toContain('Never put a frame');
  });
});
