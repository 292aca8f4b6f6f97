/** An entity that is erased while work on it waits or runs: nothing of it comes back. */
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { judging, type ModelServer, startModelServer } from '../../../test/memory/modelserver.fixture.ts';
import {
  languageModelAt,
  type MemoryRig,
  newUser,
  onEveryDatabase,
  startMemory,
} from '../../../test/memory/rig.fixture.ts';
import { createBuiltinEmbedder } from '../embedding/builtin.ts';
import type { Extraction } from '../extraction/routes.ts';

type Entity = ReturnType<typeof newUser>;

onEveryDatabase('an erasure', (engine) => {
  let model: ModelServer;
  let database: Database;
  let rig: MemoryRig;
  beforeAll(async () => {
    model = await startModelServer();
    database = await engine.open(migrations);
    rig = await startMemory(engine, { database, languageModel: await languageModelAt(model.url) });
  });
  afterAll(async () => {
    await rig.close();
    await database.close();
    model.close();
  });
  beforeEach(() => model.handle(finding('I live in Porto', 'My dog is called Rex')));

  const finding =
    (...contents: string[]): Parameters<ModelServer['handle']>[0] =>
    ({ purpose }) =>
      purpose === 'judge'
        ? { json: { verdicts: [] } }
        : { json: { memories: contents.map((content) => ({ content, type: 'preference' })) } };
  const messages = [{ role: 'user', content: 'I moved to Porto.' }];
  const extract = (user: Entity, more: object = {}) =>
    rig.server.send<Extraction>('POST', '/memory/extract', { ...user, messages, ...more });
  const add = (user: Entity, content: string) =>
    rig.server.send('POST', '/memory/add', { ...user, content, type: 'preference' });
  const erase = async (user: Entity) =>
    expect((await rig.server.send('DELETE', `/entities/user/${user.entity_id}`)).status).toBe(204);
  /** The tables that contain the id of the user. */
  const tracesOf = async ({ entity_id: id }: Entity) => {
    const db = database.queries<object>();
    const { rows } = await sql<{ name: string }>`
      select tablename as name from pg_tables where schemaname = 'public'`.execute(db);
    const found: string[] = [];
    for (const { name } of rows) {
      const { rows: hits } = await sql`select from ${sql.table(name)} t where strpos(t::text, ${id}) > 0`.execute(db);
      if (hits.length > 0) found.push(name);
    }
    return found;
  };

  /** Erases the user when the model is asked, before it answers. */
  function eraseDuring(purpose: 'judge' | 'extract', user: Entity, answer: Parameters<ModelServer['handle']>[0]) {
    const { promise: erased, resolve } = Promise.withResolvers<void>();
    model.handle(async (request) => {
      if (request.purpose === purpose) {
        await erase(user);
        resolve();
      }
      return answer(request);
    });
    return erased;
  }

  it('during an extraction prevents its additions', async () => {
    const user = newUser();
    await add(user, 'I like tea');
    void eraseDuring('extract', user, finding('I live in Porto'));
    expect(await extract(user)).toEqual({ status: 200, body: { memories: [] } });
    expect(await tracesOf(user)).toEqual([]);
  });

  it('between two additions of an extraction, removes the first and prevents the second', async () => {
    // An extraction that arrives after the erasure has no effect either.
    const before = { said_at: new Date().toISOString() };
    const users = Array.from({ length: 12 }, newUser);
    model.handle(finding(...Array.from({ length: 15 }, (_, place) => `Fact ${place}: ${'abcdefghijklmno'[place]}`)));
    await Promise.all(
      users.map(async (user, place) => {
        const extraction = extract(user, before);
        for (let round = 0; round <= place; round += 1) await rig.server.send('GET', `/export?${query(user)}`);
        await erase(user);
        expect((await extraction).status).toBe(200);
        expect(await tracesOf(user)).toEqual([]);
      }),
    );
  });

  it('is final for messages that were written before it, and does not affect later ones', async () => {
    const user = newUser();
    const before = new Date().toISOString();
    const requestCount = model.requests.length;
    await erase(user);
    expect(await extract(user, { said_at: before })).toEqual({ status: 200, body: { memories: [] } });
    // The model is not asked either: the call would count under the id of the user.
    expect(model.requests.length).toBe(requestCount);
    expect(await tracesOf(user)).toEqual([]);
    expect((await extract(user)).body.memories).toHaveLength(2);
    const other = newUser();
    expect((await extract(other, { said_at: before })).body.memories).toHaveLength(2);
    expect((await extract(other, { said_at: '2999-01-01T00:00:00Z' })).status).toBe(200);
    for (const said_at of ['yesterday', '0000-01-01T00:00:00Z', '2026-11-22T10:00:00+23:59', 5])
      expect((await extract(other, { said_at })).status).toBe(400);
  });

  it('during a judgement leaves no verdict', async () => {
    const user = newUser();
    const erased = eraseDuring(
      'judge',
      user,
      judging(() => 'replaces'),
    );
    await add(user, 'I live in Lisbon');
    await add(user, 'I live in Porto');
    await erased;
    await expect.poll(unfinishedJobs).toBe(0);
    expect(await tracesOf(user)).toEqual([]);
  });

  describe('while another embedder embeds the memories again', () => {
    it('is not undone by the lock of the entity', async () => {
      const user = newUser();
      await add(user, 'I like tea');
      const { promise: embedded, resolve: onEmbedding } = Promise.withResolvers<void>();
      const { promise: gate, resolve: open } = Promise.withResolvers<void>();
      const builtin = createBuiltinEmbedder();
      const embedder = {
        ...builtin,
        name: 'another',
        embed: async (texts: readonly string[]) => {
          if (texts.includes('I like tea')) {
            onEmbedding();
            await gate;
          }
          return builtin.embed(texts);
        },
      };
      const other = await startMemory(engine, { database, embedder });
      try {
        await embedded;
        await erase(user);
        open();
        const again = async () =>
          (
            await sql`select from jobs where queue = 'memory/reembed another' and status = 'done'`.execute(
              database.queries<object>(),
            )
          ).rows.length;
        await expect.poll(again, { timeout: 20_000 }).toBeGreaterThan(0);
        expect(await tracesOf(user)).toEqual([]);
      } finally {
        await other.close();
      }
    });
  });

  const query = (user: Entity) => new URLSearchParams(user);
  const unfinishedJobs = async () =>
    (
      await sql`select from jobs where queue = 'memory/judge' and status in ('waiting', 'running') and run_at < now()`.execute(
        database.queries<object>(),
      )
    ).rows.length;
});
