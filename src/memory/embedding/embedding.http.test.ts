import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { dimensions, type EmbeddingServer, startEmbeddings } from '../../../test/memory/embeddings.fixture.ts';
import { type MemoryRig, newUser, onEveryDatabase, startMemory } from '../../../test/memory/rig.fixture.ts';
import type { EntityExport, MemoryPage } from '../admin/api.ts';
import type { Injection, SearchResult } from '../api.ts';
import type { Embedder } from './embedder.ts';
import { openEmbedder } from './open.ts';

const settings = (baseUrl: string, more: object = {}) => ({
  baseUrl,
  apiKey: 'a key',
  model: 'tiny',
  dimensions,
  ...more,
});

const good = { status: 200 };
const failures: readonly (readonly [string, EmbeddingServer['answer']])[] = [
  ['HTTP 500', () => ({ status: 500, body: '{}' })],
  ['HTTP 401', () => ({ status: 401, body: '{"error":{"message":"bad key"}}' })],
  ['HTTP 429', () => ({ status: 429, body: '{}' })],
  ['no JSON', () => ({ ...good, body: 'oops' })],
  ['NaN', () => ({ ...good, body: '{"data":[{"index":0,"embedding":[NaN]}]}' })],
  ['numbers too large', (vectors) => ({ ...good, body: answerOf(vectors.map(() => Array(dimensions).fill(1e308))) })],
  ['null in a vector', (vectors) => ({ ...good, body: answerOf(vectors.map(() => Array(dimensions).fill(null))) })],
  ['zeros', (vectors) => ({ ...good, body: answerOf(vectors.map(() => Array(dimensions).fill(0))) })],
  ['another dimension', (vectors) => ({ ...good, body: answerOf(vectors.map((vector) => vector.slice(1))) })],
  ['too few vectors', () => ({ ...good, body: '{"data":[]}' })],
  ['another shape', () => ({ ...good, body: '{"vectors":[]}' })],
];

function answerOf(vectors: readonly (readonly unknown[])[]): string {
  return JSON.stringify({ data: vectors.map((embedding, index) => ({ index, embedding })) });
}

onEveryDatabase('with an embedding server', (engine) => {
  let server: EmbeddingServer;
  let database: Database;
  let rig: MemoryRig;
  let embedder: Embedder;
  beforeAll(async () => {
    server = await startEmbeddings();
    database = await engine.open(migrations);
    embedder = openEmbedder(settings(server.url));
    rig = await startMemory(engine, { embedder, database });
  });
  beforeEach(() => {
    server.answer = () => undefined;
  });
  afterAll(async () => {
    await rig.close();
    await Promise.all([server.close(), database.close()]);
  });

  const add = (entity: object, content: string, from = rig) =>
    from.server.send<{ id: string }>('POST', '/memory/add', { ...entity, content, type: 'preference' });
  const search = async (entity: object, query: string, from = rig) =>
    (await from.server.send<SearchResult>('POST', '/memory/search', { ...entity, query })).body;

  it('leaves a paraphrase apart, because a plan and its outcome are as similar, and links a negation', async () => {
    const user = newUser();
    const first = await add(user, 'I am a vegetarian');
    expect((await add(user, 'I live on vegetables')).status).toBe(201);
    expect((await add(user, 'I am not a vegetarian')).status).toBe(201);
    const { memories } = (await rig.operator.send<MemoryPage>('GET', `/admin/memories?entity_id=${user.entity_id}`))
      .body;
    expect(memories[0]?.links).toContainEqual({ id: first.body.id, kind: 'conflict' });
  });

  it('sends several texts at once, with model, dimensions and key', async () => {
    server.requests.length = 0;
    const vectors = await embedder.embed(Array.from({ length: 100 }, (_, place) => `text ${place}`));
    expect(vectors).toHaveLength(100);
    expect(server.requests.map(({ input }) => input.length)).toEqual([64, 36]);
    expect(server.requests[0]).toMatchObject({ model: 'tiny', dimensions });
    // Vectors come back in any order; each belongs to its text.
    expect(vectors[7]).toEqual((await embedder.embed(['text 7']))[0]);
  });

  it.each(failures)('%s: writes return 503 and change nothing, and searches use text', async (_title, answer) => {
    const user = newUser();
    const { id } = (await add(user, 'I keep bees')).body;
    const state = async () => {
      const path = `/admin/entities/user/${user.entity_id}/export`;
      const { exported_at: _now, ...rest } = (await rig.operator.send<EntityExport>('GET', path)).body;
      return rest;
    };
    const before = await state();
    server.answer = answer;
    const failing = await startMemory(engine, { embedder: openEmbedder(settings(server.url)), database });
    try {
      expect(await add(user, 'I keep goats', failing)).toMatchObject({
        status: 503,
        body: { error: 'embedder_unavailable' },
      });
      const edited = await failing.server.send('PUT', `/memory/${id}`, { content: 'I keep wasps' });
      expect(edited.status).toBe(503);
      expect((await failing.operator.send('PUT', `/admin/memories/${id}`, { content: 'x' })).status).toBe(503);
      expect(await state()).toEqual(before);
      expect(await search(user, 'bees', failing)).toMatchObject({
        memories: [{ content: 'I keep bees' }],
        degraded: true,
      });
      const turn = await failing.server.send<Injection>('POST', '/inject', { ...user, query: 'bees?' });
      expect(turn).toMatchObject({ status: 200, body: { memories: [{ id }], degraded: true } });
      expect(turn.body.profile).not.toBeNull();
      expect((await failing.server.send('DELETE', `/memory/${id}`)).status).toBe(204);
    } finally {
      await failing.close();
    }
  });

  it('uses an embedder again after its recovery', async () => {
    const user = newUser();
    server.answer = () => ({ status: 400, body: '{}' });
    expect((await add(user, 'I keep bees')).status).toBe(503);
    server.answer = () => undefined;
    expect((await add(user, 'I keep bees')).status).toBe(201);
    expect(await search(user, 'bees')).not.toHaveProperty('degraded');
  });

  it('rejects a model that changes its dimensions, and finds its memories by text', async () => {
    const user = newUser();
    const vague = settings(server.url, { model: 'vague', dimensions: 0 });
    const rigs = [
      await startMemory(engine, { embedder: openEmbedder(vague), database }),
      await startMemory(engine, { embedder: openEmbedder(vague), database }),
    ] as const;
    try {
      expect((await add(user, 'I keep bees', rigs[0])).status).toBe(201);
      server.answer = (vectors) => ({ ...good, body: answerOf(vectors.map((vector) => vector.slice(24))) });
      expect((await add(user, 'I keep goats', rigs[0])).status).toBe(503);
      expect(await search(user, 'bees', rigs[0])).toMatchObject({ degraded: true });
      expect((await search(user, 'bees', rigs[1])).memories.map(({ content }) => content)).toEqual(['I keep bees']);
    } finally {
      await Promise.all(rigs.map((one) => one.close()));
    }
  });

  it('an embedder that hangs: a search waits for it no longer than it may', { timeout: 20_000 }, async () => {
    const user = newUser();
    await add(user, 'I keep bees');
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`;
    const hanging = await startMemory(engine, { embedder: openEmbedder(settings(url)), database });
    try {
      const since = performance.now();
      expect(await search(user, 'bees', hanging)).toMatchObject({
        memories: [{ content: 'I keep bees' }],
        degraded: true,
      });
      expect((await add(user, 'I keep goats', hanging)).status).toBe(503);
      // Each is to be answered within 10 s (docs/specification/http.md#failing-engines).
      expect(performance.now() - since).toBeLessThan(20_000);
    } finally {
      silent.closeAllConnections();
      silent.close();
      await hanging.close();
    }
  });

  it('another embedder: finds memories by text first, then by its own vectors, and never by mixed vectors', async () => {
    const user = newUser();
    await add(user, 'I keep bees on the roof');
    await add(user, 'I paint boats');
    const changed = await startMemory(engine, {
      embedder: openEmbedder(settings(server.url, { model: 'other', dimensions: 0 })),
      database,
    });
    try {
      const found = await search(user, 'bees', changed);
      expect(found.memories[0]?.content).toBe('I keep bees on the roof');
      expect(found).not.toHaveProperty('degraded');
      const db = database.queries<{ memories: { entity_id: string; embedder: string } }>();
      const embedders = async () => {
        const rows = await db
          .selectFrom('memories')
          .select('embedder')
          .where('entity_id', '=', user.entity_id)
          .execute();
        return rows.map((row) => row.embedder);
      };
      await expect.poll(embedders, { timeout: 20_000 }).toEqual(['other', 'other']);
      expect((await search(user, 'bees', changed)).memories[0]?.content).toBe('I keep bees on the roof');
      expect(await add(user, 'I really keep bees on the roof', changed)).toMatchObject({ status: 200 });
    } finally {
      await changed.close();
    }
  });

  describe('settings', () => {
    it('no address: the built-in embedder', async () => {
      expect(openEmbedder(settings('builtin')).name).toBe('builtin-5');
    });

    it('`local` without the files of its model: a fault that names the command', () => {
      expect(() => openEmbedder(settings('local'), { dataDir: '/nowhere' })).toThrow(/npm run embedder/);
    });
  });
});
