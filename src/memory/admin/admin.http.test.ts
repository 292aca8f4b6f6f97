import { createHash, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MemoryRig, newGroup, newUser, onEveryDatabase, startMemory } from '../../../test/memory/rig.fixture.ts';
import type { Injection } from '../api.ts';
import type { AdminMemory, AdminProfile, EntityExport, MemoryHistory, MemoryPage, ProfilePage } from './api.ts';

type EntityFields = ReturnType<typeof newUser> | ReturnType<typeof newGroup>;

onEveryDatabase('the admin API of the memory service', (engine) => {
  let rig: MemoryRig;
  beforeAll(async () => {
    rig = await startMemory(engine);
  });
  afterAll(() => rig.close());

  const create = (entity: EntityFields, content: string, more: object = {}) =>
    rig.operator.send<AdminMemory>('POST', '/admin/memories', { ...entity, content, type: 'preference', ...more });
  const show = (id: string) => rig.operator.send<AdminMemory>('GET', `/admin/memories/${id}`);
  const historyOf = async (id: string) =>
    (await rig.operator.send<MemoryHistory>('GET', `/admin/memories/${id}/history`)).body.history;
  const undo = (id: string) => rig.operator.send<AdminMemory>('POST', `/admin/memories/${id}/undo`);
  const profileOf = (entity: EntityFields) => `/admin/profiles/${entity.entity_type}/${entity.entity_id}`;
  const inject = async (entity: EntityFields) =>
    (await rig.server.send<Injection>('POST', '/inject', { ...entity, query: '' })).body;

  it.each([
    ['GET', '/admin/memories'],
    ['POST', '/admin/memories'],
    ['GET', '/admin/memories/x'],
    ['PUT', '/admin/memories/x'],
    ['DELETE', '/admin/memories/x'],
    ['GET', '/admin/memories/x/history'],
    ['POST', '/admin/memories/x/undo'],
    ['GET', '/admin/profiles'],
    ['GET', '/admin/profiles/user/x'],
    ['PUT', '/admin/profiles/user/x'],
    ['DELETE', '/admin/profiles/user/x'],
    ['DELETE', '/admin/entities/user/x'],
    ['GET', '/admin/entities/user/x/export'],
  ])('%s %s: accepts the admin token only', async (method, path) => {
    for (const client of [rig.user, rig.server, rig.client({}), rig.client({ 'x-admin-token': '' })])
      expect((await client.send(method, path)).status).toBe(401);
    const wrong = rig.client({ 'x-admin-token': 'wrong', 'x-internal-key': 'an internal key' });
    expect(await wrong.send(method, path)).toMatchObject({ status: 401, body: { error: 'unauthorized' } });
    const both = rig.client({ 'x-admin-token': 'an admin token', 'x-internal-key': 'wrong' });
    expect((await both.send(method, path)).status).not.toBe(401);
  });

  it('creates, shows, edits, and deletes', async () => {
    const user = newUser();
    const made = await create(user, 'I like jazz', { metadata: { a: 1 } });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ ...user, content: 'I like jazz', metadata: { a: 1 }, links: [] });
    expect((await create(user, 'I like jazz.')).status).toBe(200);
    const edited = await rig.operator.send<AdminMemory>('PUT', `/admin/memories/${made.body.id}`, {
      type: 'workflow',
      metadata: { b: 2 },
    });
    expect(edited.body).toMatchObject({ content: 'I like jazz.', type: 'workflow', metadata: { b: 2 } });
    expect((await show(made.body.id)).body).toEqual(edited.body);
    expect((await rig.operator.send('DELETE', `/admin/memories/${made.body.id}`)).status).toBe(204);
    expect((await show(made.body.id)).status).toBe(404);
  });

  it.each(['GET', 'PUT', 'DELETE'])('%s of an unknown memory: 404', async (method) => {
    for (const id of [randomUUID(), 'nonsense', '%00'])
      expect((await rig.operator.send(method, `/admin/memories/${id}`, method === 'PUT' ? {} : undefined)).status).toBe(
        404,
      );
    for (const path of ['history', 'undo'])
      expect(
        (await rig.operator.send(path === 'undo' ? 'POST' : 'GET', `/admin/memories/${randomUUID()}/${path}`)).status,
      ).toBe(404);
  });

  it('lists in pages, by entity, type and text', async () => {
    const user = newUser();
    for (const tree of ['oak', 'Elm', 'ash', 'fir', 'yew']) await create(user, `I planted 100% of the ${tree}`);
    await create(user, 'Water the trees', { type: 'instruction' });
    const list = (query: string) =>
      rig.operator.send<MemoryPage>('GET', `/admin/memories?entity_id=${user.entity_id}&${query}`);
    const seen: string[] = [];
    let cursor = '';
    for (let pages = 0; pages < 3; pages += 1) {
      const { body } = await list(`limit=2${cursor && `&cursor=${cursor}`}`);
      expect(body.memories).toHaveLength(2);
      seen.push(...body.memories.map(({ content }) => content));
      cursor = body.next_cursor ?? '';
    }
    expect(cursor).toBe('');
    expect(new Set(seen).size).toBe(6);
    expect(seen[0]).toBe('Water the trees');
    expect((await list('q=ELM')).body.memories.map(({ content }) => content)).toEqual(['I planted 100% of the Elm']);
    expect((await list('q=100%25')).body.memories).toHaveLength(5);
    expect((await list('q=1_0')).body.memories).toEqual([]);
    expect((await list('type=instruction')).body.memories).toHaveLength(1);
    expect((await list('entity_type=group')).body).toEqual({ memories: [], next_cursor: null });
  });

  it.each([
    '/admin/memories?limit=0',
    '/admin/memories?limit=101',
    '/admin/memories?limit=x',
    '/admin/memories?type=opinion',
    '/admin/memories?entity_type=team',
    '/admin/memories?cursor=made-up',
    `/admin/memories?cursor=${Buffer.from('profiles 5').toString('base64url')}`,
    `/admin/memories?cursor=${Buffer.from('memories 5 ').toString('base64url')}`,
    `/admin/memories?cursor=${Buffer.from('memories -').toString('base64url')}`,
    '/admin/memories?cursor=',
    '/admin/profiles?cursor=made-up',
    '/admin/profiles?limit=0',
    '/admin/profiles/team/x',
    '/admin/entities/team/x/export',
  ])('GET %s: 400', async (path) => {
    expect((await rig.operator.send('GET', path)).status).toBe(400);
  });

  it('stores each previous version, and undoes changes one by one', async () => {
    const user = newUser();
    const { id } = (await create(user, 'I play chess', { metadata: { a: 1 } })).body;
    expect(await historyOf(id)).toEqual([]);
    expect((await undo(id)).status).toBe(409);
    await rig.server.send('POST', '/memory/add', {
      ...user,
      content: 'I PLAY CHESS',
      type: 'preference',
      metadata: { b: 2 },
    });
    await rig.server.send('PUT', `/memory/${id}`, { content: 'I play go' });
    // Adds nothing, so it is no change.
    await rig.server.send('PUT', `/memory/${id}`, { content: 'I play go' });
    expect(await historyOf(id)).toMatchObject([
      {
        number: 2,
        action: 'edit',
        actor: 'server',
        before: { content: 'I PLAY CHESS' },
        after: { content: 'I play go' },
        incoming: null,
        undone: false,
      },
      {
        number: 1,
        action: 'merge',
        before: { content: 'I play chess', metadata: { a: 1 } },
        after: { content: 'I PLAY CHESS', metadata: { a: 1, b: 2 } },
        incoming: { content: 'I PLAY CHESS', metadata: { b: 2 } },
        similarity: 1,
        embedder: 'builtin-5',
      },
    ]);
    expect((await undo(id)).body).toMatchObject({ content: 'I PLAY CHESS', metadata: { a: 1, b: 2 } });
    const second = await undo(id);
    expect(second).toMatchObject({ status: 200, body: { content: 'I play chess', metadata: { a: 1 } } });
    expect(await undo(id)).toMatchObject({ status: 409, body: { error: 'nothing_to_undo' } });
    expect((await historyOf(id)).map(({ undone }) => undone)).toEqual([true, true]);
    await rig.server.send('PUT', `/memory/${id}`, { content: 'I play bridge' });
    expect((await undo(id)).body.content).toBe('I play chess');
  });

  it('keeps the longer wording, and the other one in the history', async () => {
    const user = newUser();
    const full = "I work as a nurse at the children's hospital in Leeds with my sister";
    const { id } = (await create(user, full)).body;
    const short = "I work as a nurse at the children's hospital in Leeds";
    expect((await create(user, short)).body).toMatchObject({ id, content: full });
    expect((await historyOf(id))[0]).toMatchObject({ incoming: { content: short }, after: { content: full } });
    expect((await historyOf(id))[0]?.similarity).toBeGreaterThan(0.9);
  });

  it('undoing a merge makes two memories that never merge again', async () => {
    const user = newUser();
    const full = "I work as a nurse at the children's hospital in Leeds with my sister";
    const short = "I work as a nurse at the children's hospital in Leeds";
    const { id } = (await create(user, full, { metadata: { a: 1 } })).body;
    expect((await create(user, short, { metadata: { b: 2 } })).body.id).toBe(id);
    const restored = (await undo(id)).body;
    expect(restored).toMatchObject({ id, content: full, metadata: { a: 1 } });
    const all = async () =>
      (await rig.operator.send<MemoryPage>('GET', `/admin/memories?entity_id=${user.entity_id}`)).body.memories;
    const [other, ...rest] = await all();
    expect(other).toMatchObject({ content: short, metadata: { b: 2 }, links: [{ id, kind: 'related' }] });
    expect(rest).toMatchObject([{ id, content: full }]);
    // Each is added again, one of them after a deletion. Neither merges into the other.
    expect((await create(user, short)).body.id).toBe(other?.id);
    await rig.operator.send('DELETE', `/admin/memories/${other?.id}`);
    expect((await create(user, `${short}.`)).status).toBe(201);
    expect((await create(user, full)).body.id).toBe(id);
    expect(await all()).toHaveLength(2);
  });

  it('a repeated memory becomes the newest; edits of metadata do not change the order', async () => {
    const user = newUser();
    const first = (await create(user, 'I like tea')).body;
    const second = (await create(user, 'I keep bees')).body;
    const preferences = async () => (await inject(user)).profile?.facts.preferences;
    expect(await preferences()).toBe('I keep bees\nI like tea');
    const again = await create(user, 'I like tea');
    expect([again.status, again.body.id]).toEqual([200, first.id]);
    expect(Date.parse(again.body.updated_at)).toBeGreaterThan(Date.parse(second.updated_at));
    expect(await preferences()).toBe('I like tea\nI keep bees');
    expect(await historyOf(first.id)).toEqual([]);
    const edited = await rig.operator.send<AdminMemory>('PUT', `/admin/memories/${second.id}`, { metadata: { a: 1 } });
    expect(edited.body).toMatchObject({ metadata: { a: 1 }, updated_at: second.updated_at });
    expect(await preferences()).toBe('I like tea\nI keep bees');
  });

  it('removes links when a wording changes or a memory is deleted', async () => {
    const user = newUser();
    const one = (await create(user, 'I have two cats')).body;
    const two = (await create(user, 'I have three cats')).body;
    expect(two.links).toEqual([{ id: one.id, kind: 'conflict' }]);
    await rig.operator.send('PUT', `/admin/memories/${two.id}`, { content: 'I sail' });
    expect((await show(one.id)).body.links).toEqual([]);
    await undo(two.id);
    expect((await show(one.id)).body.links).toEqual([{ id: two.id, kind: 'conflict' }]);
    await rig.operator.send('DELETE', `/admin/memories/${two.id}`);
    expect((await show(one.id)).body.links).toEqual([]);
  });

  describe('profiles', () => {
    it('never lose a name, a language or instructions to the number of memories', { timeout: 300_000 }, async () => {
      const user = newUser();
      await create(user, 'My name is Robin.');
      const second = (await create(user, 'My name is Rob.')).body;
      await create(user, 'Always answer in German', { type: 'instruction' });
      const rows = Array.from({ length: 250 }, (_, index) => `I own the book with the number ${index}`);
      for (const content of rows) await create(user, content);
      expect((await inject(user)).profile?.facts).toMatchObject({
        display_name: 'Rob',
        language: 'de',
        standing_instructions: 'Always answer in German',
      });
      await rig.operator.send('DELETE', `/admin/memories/${second.id}`);
      expect((await inject(user)).profile?.facts.display_name).toBe('Robin');
    });

    it('keep their language when a newer instruction names none', async () => {
      const user = newUser();
      await create(user, 'Always answer in German', { type: 'instruction' });
      await create(user, 'Write in constructor style where you can', { type: 'instruction' });
      expect((await inject(user)).profile).toMatchObject({ language: 'de', facts: { language: 'de' } });
    });

    it('are derived from preferences and instructions, and withdrawn with them', async () => {
      const user = newUser();
      await create(user, 'It rained at my wedding', { type: 'episodic' });
      expect((await inject(user)).profile).toBeNull();
      const { id } = (await create(user, 'My name is Robin.')).body;
      await create(user, 'Always answer in German', { type: 'instruction' });
      expect((await inject(user)).profile).toMatchObject({
        language: 'de',
        facts: {
          display_name: 'Robin',
          language: 'de',
          preferences: 'My name is Robin.',
          standing_instructions: 'Always answer in German',
        },
      });
      const shown = await rig.operator.send<AdminProfile>('GET', profileOf(user));
      expect(shown.body.derived.display_name).toEqual({ value: 'Robin', evidence: [id] });
      await rig.operator.send('DELETE', `/admin/memories/${id}`);
      const { profile } = await inject(user);
      expect(profile?.facts).not.toHaveProperty('display_name');
      expect(profile?.facts).not.toHaveProperty('preferences');
    });

    it('a profile with derived facts only is deleted with the last of them', async () => {
      const user = newUser();
      const { id } = (await create(user, 'Call me Kim')).body;
      expect((await inject(user)).profile?.facts.display_name).toBe('Kim');
      await rig.operator.send('DELETE', `/admin/memories/${id}`);
      expect((await inject(user)).profile).toBeNull();
      expect((await rig.operator.send('GET', profileOf(user))).status).toBe(404);
    });

    it('locks facts that operators write, and preserves them when memories change', async () => {
      const group = newGroup();
      const written = await rig.operator.send<AdminProfile>('PUT', profileOf(group), {
        summary: 'Plans a trip',
        facts: { display_name: 'The Travellers' },
        language: 'fr',
      });
      expect(written.status).toBe(200);
      expect(written.body).toMatchObject({ ...group, summary: 'Plans a trip', locked: ['display_name'] });
      const { id } = (await create(group, 'My name is Robin')).body;
      const facts = async () => (await inject(group)).profile?.facts;
      expect(await facts()).toMatchObject({ display_name: 'The Travellers', preferences: 'My name is Robin' });
      await rig.operator.send('DELETE', `/admin/memories/${id}`);
      expect(await facts()).toEqual({ display_name: 'The Travellers' });
      // What is absent stays, null takes away.
      await rig.operator.send('PUT', profileOf(group), { summary: null });
      expect((await inject(group)).profile).toMatchObject({ summary: null, language: 'fr' });
      expect((await rig.operator.send('DELETE', profileOf(group))).status).toBe(204);
      expect((await inject(group)).profile).toBeNull();
      expect((await rig.operator.send('DELETE', profileOf(group))).status).toBe(404);
      expect((await rig.operator.send('GET', profileOf(group))).status).toBe(404);
    });

    it.each([
      { facts: { a: 1 } },
      { facts: [] },
      { summary: 'x'.repeat(1001) },
      { summary: 'a\0' },
      { facts: { 'a\0': 'b' } },
      { facts: { a: 'b\ud800' } },
      { language: 'not a tag' },
    ])('PUT %j: 400', async (body) => {
      expect((await rig.operator.send('PUT', profileOf(newUser()), body)).status).toBe(400);
    });

    it('are listed in pages and found by text', async () => {
      const word = `quokka${randomUUID()}`;
      for (let count = 0; count < 3; count += 1)
        await rig.operator.send('PUT', profileOf(newUser()), { summary: `Keeps a ${word}` });
      const first = await rig.operator.send<ProfilePage>('GET', `/admin/profiles?q=${word.toUpperCase()}&limit=2`);
      expect(first.body.profiles).toHaveLength(2);
      const rest = await rig.operator.send<ProfilePage>(
        'GET',
        `/admin/profiles?q=${word}&limit=2&cursor=${first.body.next_cursor}`,
      );
      expect(rest.body.profiles).toHaveLength(1);
      expect(rest.body.next_cursor).toBeNull();
    });
  });

  it('exports everything of an entity, and erases it without a trace', async () => {
    const user = newUser();
    const other = newUser();
    const path = `/admin/entities/${user.entity_type}/${user.entity_id}`;
    expect((await rig.operator.send('GET', `${path}/export`)).status).toBe(404);
    const secret = 'zyzzyva';
    await create(user, `My name is ${secret}`, { metadata: { [secret]: secret } });
    await create(user, `The ${secret} sings two songs`);
    const { id } = (await create(user, `The ${secret} sings three songs`)).body;
    await rig.operator.send('PUT', `/admin/memories/${id}`, { content: `A ${secret} rests` });
    await rig.operator.send('PUT', profileOf(user), { summary: secret, facts: { [secret]: secret } });
    await create(other, 'I stay');
    expect((await inject(user)).profile?.summary).toBe(secret);

    const exported = await rig.operator.send<EntityExport>('GET', `${path}/export`);
    expect(exported.status).toBe(200);
    expect(exported.body).toMatchObject({ ...user, profile: { summary: secret } });
    expect(exported.body.memories).toHaveLength(3);
    expect(exported.body.memories.find((memory) => memory.id === id)?.history).toHaveLength(1);

    expect((await rig.operator.send('DELETE', path)).status).toBe(204);
    expect((await rig.operator.send('GET', `${path}/export`)).status).toBe(404);
    expect((await show(id)).status).toBe(404);
    expect(await inject(user)).toEqual({ profile: null, group_profile: null, memories: [] });
    const dump = await dumpOf(rig);
    expect(dump).not.toContain(secret);
    expect(dump).not.toContain(user.entity_id);
    expect(dump).toContain(other.entity_id);
    // If you know the id, you can check the record of the erasure.
    const db = rig.database.queries<{ memory_erasures: { salt: string; entity_digest: string } }>();
    const erasures = await db.selectFrom('memory_erasures').selectAll().execute();
    const digestOf = (salt: string) => createHash('sha256').update(`${salt} user ${user.entity_id}`).digest('hex');
    expect(erasures.filter(({ salt, entity_digest }) => entity_digest === digestOf(salt))).toHaveLength(1);
    // Repeated, it is no error; and what comes after is found.
    expect((await rig.operator.send('DELETE', path)).status).toBe(204);
    await create(user, 'I am back');
    expect((await rig.operator.send<EntityExport>('GET', `${path}/export`)).body.memories).toHaveLength(1);
  });
});

/** Every row of every table, as text. */
async function dumpOf(rig: MemoryRig): Promise<string> {
  const db = rig.database.queries<object>();
  const { rows: tables } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public'`.execute(db);
  const dumps = await Promise.all(
    tables.map(({ name }) => sql<{ line: string }>`select t::text as line from ${sql.table(name)} t`.execute(db)),
  );
  return dumps.flatMap(({ rows }) => rows.map(({ line }) => line)).join('\n');
}
