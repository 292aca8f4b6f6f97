/** A paused memory takes nothing, and models get nothing of it. Origins: who added a memory, and in which conversation. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { openDatabase } from '#platform/db/open.ts';
import type { ActingClient } from '#platform/http/client.ts';
import { createLog } from '#platform/log.ts';
import { createPostgresDatabase, databaseEngines } from '../../../test/database.fixture.ts';
import { type ModelServer, startModelServer } from '../../../test/memory/modelserver.fixture.ts';
import {
  type Client,
  languageModelAt,
  type MemoryRig,
  newGroup,
  newUser,
  onEveryDatabase,
  type Refusal,
  startMemory,
  testInternalKey,
} from '../../../test/memory/rig.fixture.ts';
import type { EntityExport } from '../admin/api.ts';
import type { Injection, Memory, SearchResult } from '../api.ts';
import type { Extraction } from '../extraction/routes.ts';

interface State {
  readonly paused_at: string | null;
}
interface Entity {
  readonly entity_id: string;
  readonly entity_type: 'user' | 'group';
}

const query = ({ entity_id, entity_type }: Entity) => new URLSearchParams({ entity_id, entity_type });
const pathOf = ({ entity_id, entity_type }: Entity) => `/entities/${entity_type}/${encodeURIComponent(entity_id)}`;
const pause = (client: Client, entity: Entity, paused: unknown = true) =>
  client.send<State & Refusal>('PATCH', pathOf(entity), { paused });
const add = (client: Client, entity: Entity, content: string, more: object = {}) =>
  client.send<{ id: string } & Refusal>('POST', '/memory/add', { ...entity, content, type: 'preference', ...more });
const listOf = async ({ server }: MemoryRig, entity: Entity) =>
  (await server.send<{ memories: Memory[] }>('GET', `/memories?${query(entity)}`)).body.memories;
const contentsOf = async (rig: MemoryRig, entity: Entity) => (await listOf(rig, entity)).map(({ content }) => content);

onEveryDatabase('a pause', (engine) => {
  let model: ModelServer;
  let database: Database;
  let rig: MemoryRig;
  let other: MemoryRig;
  let own: { readonly entity_id: string; readonly entity_type: 'user' };
  const announced: unknown[] = [];
  const agent: ActingClient = {
    send: async ({ route, json }) => {
      announced.push([route, json]);
      return { status: 204, headers: {}, json: () => undefined } as never;
    },
  };
  beforeAll(async () => {
    model = await startModelServer();
    database = await engine.open(migrations);
    const languageModel = await languageModelAt(model.url);
    rig = await startMemory(engine, { database, languageModel, agent });
    other = await startMemory(engine, { database, languageModel });
    own = { entity_id: rig.userId, entity_type: 'user' };
  });
  afterAll(async () => {
    await rig.close();
    await other.close();
    await database.close();
    model.close();
  });
  beforeEach(() => find('I live in Porto', 'My dog is called Rex'));

  function find(...contents: readonly string[]) {
    model.handle(({ purpose }) =>
      purpose === 'judge'
        ? { json: { verdicts: [] } }
        : { json: { memories: contents.map((content) => ({ content, type: 'preference' })) } },
    );
  }
  const extract = (entity: Entity, more: object = {}) =>
    rig.server.send<Extraction>('POST', '/memory/extract', {
      ...entity,
      messages: [{ role: 'user', content: 'I moved to Porto.' }],
      ...more,
    });
  const inject = async (client: Client, entity: Entity, more: object = {}) =>
    (await client.send<Injection>('POST', '/inject', { ...entity, query: 'What do I like?', ...more })).body;
  const search = async (client: Client, entity: Entity) =>
    (await client.send<SearchResult>('POST', '/memory/search', { ...entity, query: 'tea' })).body.memories;
  const nothing = { profile: null, group_profile: null, memories: [] };

  it('of the user refuses additions, skips extractions, and tells models nothing, until it ends', async () => {
    expect((await rig.user.send<State>('GET', pathOf(own))).body).toEqual({ ...own, paused_at: null });
    const { id } = (await add(rig.user, own, 'I like tea')).body;
    const begun = await pause(rig.user, own);
    expect([begun.status, begun.body]).toEqual([200, { ...own, paused_at: expect.any(String) }]);
    expect((await pause(rig.user, own)).body).toEqual(begun.body);
    expect((await other.server.send<State>('GET', pathOf(own))).body).toEqual(begun.body);

    for (const client of [rig.user, rig.server, other.server]) {
      const { status, body } = await add(client, own, 'I like jazz');
      expect([status, body.error]).toEqual([409, 'memory_paused']);
    }
    const created = await rig.operator.send('POST', '/admin/memories', { ...own, content: 'x', type: 'preference' });
    expect([created.status, created.body.error]).toEqual([409, 'memory_paused']);
    const requestCount = model.requests.length;
    expect(await extract(own)).toEqual({ status: 200, body: { memories: [] } });
    expect(model.requests.length).toBe(requestCount);
    for (const client of [rig.user, rig.server, other.server]) expect(await inject(client, own)).toEqual(nothing);
    for (const client of [rig.server, other.server]) expect(await search(client, own)).toEqual([]);
    const onBehalf = rig.client({ 'x-internal-key': testInternalKey, 'x-on-behalf-of': own.entity_id });
    expect(await search(onBehalf, own)).toEqual([]);

    // The user sees, corrects and deletes what is stored.
    expect(await search(rig.user, own)).toMatchObject([{ id }]);
    expect((await rig.user.send('PUT', `/memory/${id}`, { content: 'I like green tea' })).status).toBe(200);
    expect(await contentsOf(rig, own)).toEqual(['I like green tea']);
    const exported = await rig.user.send<EntityExport>('GET', '/export');
    expect(exported.body).toMatchObject({ paused_at: begun.body.paused_at, memories: [{ id }] });

    for (let repeat = 0; repeat < 2; repeat += 1)
      expect((await pause(rig.user, own, false)).body).toEqual({ ...own, paused_at: null });
    expect((await inject(other.server, own)).memories).toMatchObject([{ id, content: 'I like green tea' }]);
    expect((await add(rig.user, own, 'I like jazz')).status).toBe(201);
    expect((await rig.user.send<EntityExport>('GET', '/export')).body.paused_at).toBeNull();
  });

  it('leaves the memory of a group to the others, and the one of a group is its own', async () => {
    const [user, group] = [newUser(), newGroup()];
    await add(rig.server, user, 'I like tea');
    await add(rig.server, group, 'We like tea');
    await pause(rig.server, user);
    const said = await inject(rig.server, user, { group_id: group.entity_id });
    expect([said.profile, said.memories.map(({ content }) => content)]).toEqual([null, ['We like tea']]);
    await pause(rig.server, user, false);
    await pause(rig.server, group);
    const after = await inject(rig.server, user, { group_id: group.entity_id });
    expect([after.group_profile, after.memories.map(({ content }) => content)]).toEqual([null, ['I like tea']]);
  });

  it('during an extraction prevents its additions, and the messages of a pause are never extracted', async () => {
    const user = newUser();
    model.handle(async ({ purpose }) => {
      if (purpose === 'extract') await pause(rig.server, user);
      return { json: { memories: [{ content: 'I live in Porto', type: 'preference' }] } };
    });
    expect(await extract(user)).toEqual({ status: 200, body: { memories: [] } });
    const during = new Date().toISOString();
    await pause(rig.server, user, false);
    find('I live in Porto');
    expect((await extract(user, { said_at: during })).body.memories).toEqual([]);
    expect(await contentsOf(rig, user)).toEqual([]);
    expect((await extract(user)).body.memories).toMatchObject([{ action: 'added' }]);
  });

  it('that arrives among additions lets none in after its response', async () => {
    const user = newUser();
    const subjects = ['bees', 'owls', 'cats', 'dogs', 'cows', 'hens', 'bats', 'rats', 'eels', 'ants'];
    const additions = subjects.map((subject, place) => add(place % 2 ? rig.server : other.server, user, subject));
    const answers = await Promise.all([pause(rig.server, user), pause(other.server, user)]);
    expect(new Set(answers.map(({ body }) => body.paused_at)).size).toBe(1);
    const atResponse = (await contentsOf(rig, user)).length;
    const statuses = (await Promise.all(additions)).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([]);
    expect(statuses.filter((status) => status === 201)).toHaveLength(atResponse);
    expect((await contentsOf(rig, user)).length).toBe(atResponse);
  });

  it('ends with an erasure, which leaves no trace of it', async () => {
    const user = newUser();
    await pause(rig.server, user);
    expect((await rig.server.send('GET', `/export?${query(user)}`)).status).toBe(200);
    await rig.server.send('DELETE', pathOf(user));
    expect((await rig.server.send('GET', `/export?${query(user)}`)).status).toBe(404);
    expect((await rig.server.send<State>('GET', pathOf(user))).body.paused_at).toBeNull();
  });

  it('is announced to the agent, as are deletions and erasures', async () => {
    const user = newUser();
    announced.length = 0;
    const { id } = (await add(rig.server, user, 'I like tea')).body;
    await add(rig.server, newGroup(), 'We like tea');
    expect(announced).toEqual([]);
    await pause(rig.server, user);
    await rig.server.send('DELETE', `/memory/${id}`);
    await rig.server.send('DELETE', pathOf(user));
    await pause(rig.server, newGroup());
    const news = ['/events', { userId: user.entity_id, type: 'memory.changed' }];
    expect(announced).toEqual([news, news, news]);
  });

  it('is for the user alone, and says what is wrong with a request', async () => {
    for (const entity of [newUser(), newGroup()]) {
      expect((await pause(rig.user, entity)).status).toBe(403);
      expect((await rig.user.send('GET', pathOf(entity))).status).toBe(403);
      expect((await rig.server.send<State>('GET', pathOf(entity))).body.paused_at).toBeNull();
      for (const client of [rig.client({}), rig.operator]) expect((await pause(client, entity)).status).toBe(401);
    }
    for (const change of [{ paused: 'yes' }, { paused: null }, {}]) {
      const { status, body } = await rig.user.send<Refusal>('PATCH', pathOf(own), change);
      expect([status, body.issues?.[0]?.path]).toEqual([400, 'body.paused']);
    }
    const robot = await rig.server.send<Refusal>('PATCH', '/entities/robot/x', { paused: true });
    expect([robot.status, robot.body.issues?.[0]?.path]).toEqual([400, 'params.entity_type']);
  });

  describe('the origin of a memory', () => {
    const originOf = ({ added_by, thread_id }: Memory) => [added_by, thread_id];
    const onlyOf = async (entity: Entity) => {
      const [memory] = await listOf(rig, entity);
      if (memory === undefined) throw new Error('there is no memory');
      return memory;
    };

    it('names who added it, and the conversation', async () => {
      await rig.server.send('DELETE', pathOf(own));
      const { id } = (await add(rig.user, own, 'I like tea')).body;
      expect(originOf((await rig.user.send<Memory>('GET', `/memory/${id}`)).body)).toEqual(['user', null]);
      expect((await search(rig.user, own)).map(({ added_by, thread_id }) => [added_by, thread_id])).toEqual([
        ['user', null],
      ]);
      const served = newUser();
      await add(rig.server, served, 'I like tea', { thread_id: 'thread-1' });
      expect(originOf(await onlyOf(served))).toEqual(['server', 'thread-1']);
      const extracted = newUser();
      await extract(extracted, { thread_id: 'thread-2' });
      expect((await listOf(rig, extracted)).map(originOf)).toEqual([
        ['model', 'thread-2'],
        ['model', 'thread-2'],
      ]);
      const exported = await rig.server.send<EntityExport>('GET', `/export?${query(served)}`);
      expect(exported.body.memories).toMatchObject([{ added_by: 'server', thread_id: 'thread-1' }]);
    });

    it('is that of the latest statement, and an edit leaves it', async () => {
      const user = newUser();
      const { id } = (await add(rig.server, user, 'I like tea', { thread_id: 'thread-1' })).body;
      await add(rig.server, user, 'I like tea', { thread_id: 'thread-0', said_at: '2020-01-01T00:00:00Z' });
      expect(originOf(await onlyOf(user))).toEqual(['server', 'thread-1']);
      await add(rig.server, user, 'I like tea!', { thread_id: 'thread-2' });
      expect(originOf(await onlyOf(user))).toEqual(['server', 'thread-2']);
      await rig.server.send('PUT', `/memory/${id}`, { content: 'I like green tea' });
      expect(originOf(await onlyOf(user))).toEqual(['server', 'thread-2']);
    });

    it.each([
      ['empty', ''],
      ['with a line break', 'a\nb'],
      ['too long', 'x'.repeat(257)],
      ['a number', 5],
    ])('is 400 for a thread that is %s', async (_, thread_id) => {
      for (const path of ['/memory/add', '/memory/extract']) {
        const body = { ...newUser(), thread_id, content: 'I like tea', type: 'preference' };
        const messages = [{ role: 'user', content: 'I like tea' }];
        const answer = await rig.server.send<Refusal>('POST', path, { ...body, messages });
        expect([answer.status, answer.body.issues?.[0]?.path]).toEqual([400, 'body.thread_id']);
      }
    });
  });
});

const program = join(import.meta.dirname, '../../../test/memory/judging.child.ts');
const isMissing = databaseEngines.find(({ name }) => name === 'postgres')?.missing ?? true;

it.skipIf(isMissing)('a pause survives kill -9, and a killed one has begun or not', { timeout: 60_000 }, async () => {
  const server = await createPostgresDatabase();
  const model = await startModelServer();
  const log = createLog({ level: 'silent' });
  const database = await openDatabase({ url: server.url, dataDir: '', migrations, log });
  const engine = { name: 'postgres' as const, missing: false, open: async () => database };
  const rig = await startMemory(engine, { database });
  const children: ChildProcess[] = [];
  try {
    const user = newUser();
    await add(rig.server, user, 'I like tea');
    for (const delayMs of [undefined, 0, 3]) {
      const child = spawn(process.execPath, [program, server.url, model.url], { stdio: ['ignore', 'pipe', 'inherit'] });
      children.push(child);
      const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
      const sent = fetch(`${url}${pathOf(user)}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json', 'x-internal-key': testInternalKey },
        body: JSON.stringify({ paused: true }),
      }).then(
        ({ status }) => status,
        () => 0,
      );
      if (delayMs === undefined) expect(await sent).toBe(200);
      else await new Promise((resolve) => setTimeout(resolve, delayMs));
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      const answered = (await sent) === 200;
      const state = (await rig.server.send<State>('GET', pathOf(user))).body;
      if (answered) expect(state.paused_at).not.toBeNull();
      expect((await add(rig.server, user, `I like tea${'!'.repeat(2)}`)).status).toBe(state.paused_at ? 409 : 200);
      expect((await pause(rig.server, user)).body.paused_at).toEqual(expect.any(String));
      expect((await add(rig.server, user, 'I like jazz')).status).toBe(409);
      await pause(rig.server, user, false);
    }
    expect(await contentsOf(rig, user)).toHaveLength(1);
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await rig.close();
    await database.close();
    await server.drop();
    model.close();
  }
});
