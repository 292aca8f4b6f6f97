/** A profile follows the verdicts of the judge. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { judging, type ModelServer, startModelServer } from '../../../test/memory/modelserver.fixture.ts';
import {
  languageModelAt,
  type MemoryRig,
  newUser,
  onEveryDatabase,
  startMemory,
} from '../../../test/memory/rig.fixture.ts';
import type { Injection } from '../api.ts';

onEveryDatabase('the profile of an entity with a judge', (engine) => {
  let model: ModelServer;
  let rig: MemoryRig;
  beforeAll(async () => {
    model = await startModelServer();
    rig = await startMemory(engine, { languageModel: await languageModelAt(model.url) });
  });
  afterAll(async () => {
    await rig.close();
    model.close();
  });

  const add = async (user: object, content: string, type: string) =>
    (await rig.server.send<{ id: string }>('POST', '/memory/add', { ...user, content, type })).body.id;
  const profileOf = async (user: object): Promise<Record<string, string | null>> => {
    const { body } = await rig.server.send<Injection>('POST', '/inject', { ...user, query: '' });
    return { language: body.profile?.language ?? null, ...body.profile?.facts };
  };
  const replacing = (newer: string, older: string) =>
    model.handle(judging((one, other) => (one === newer && other === older ? 'replaces' : 'keep_both')));

  it('drops the facts of a replaced memory, and restores them with an undo', async () => {
    const user = newUser();
    // No rule reads the newer wording, so only the judge can end the fact.
    const [older, newer] = ['Reply in German', 'From now on, my mother tongue is fine for your replies, not German'];
    replacing(newer, older);
    await add(user, 'My name is Anna', 'preference');
    const replaced = await add(user, older, 'instruction');
    expect(await profileOf(user)).toMatchObject({ language: 'de', standing_instructions: older });
    await add(user, newer, 'instruction');
    const after = {
      language: null,
      display_name: 'Anna',
      preferences: 'My name is Anna',
      standing_instructions: newer,
    };
    await expect.poll(() => profileOf(user), { timeout: 15_000 }).toEqual(after);

    expect((await rig.operator.send('POST', `/admin/memories/${replaced}/undo`)).status).toBe(200);
    const both = `${older}\n${newer}`;
    const { standing_instructions: listed, ...facts } = await profileOf(user);
    expect(facts).toMatchObject({ language: 'de', display_name: 'Anna' });
    expect(listed?.split('\n').toSorted()).toEqual(both.split('\n').toSorted());
  });

  it('preserves facts that an operator wrote', async () => {
    const user = newUser();
    const [older, newer] = ['Call me Max', 'Nobody shortens my name any more'];
    replacing(newer, older);
    await add(user, older, 'preference');
    const path = `/admin/profiles/user/${user.entity_id}`;
    expect((await rig.operator.send('PUT', path, { facts: { team: 'Blue' } })).status).toBe(200);
    expect(await profileOf(user)).toMatchObject({ display_name: 'Max', team: 'Blue' });
    await add(user, newer, 'preference');
    await expect
      .poll(() => profileOf(user), { timeout: 15_000 })
      .toEqual({
        language: null,
        preferences: newer,
        team: 'Blue',
      });
  });
});
