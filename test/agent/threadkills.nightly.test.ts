/** An instance is killed while it deletes a thread or starts a run with a key; a repetition at another instance finishes it. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPostgres } from '#platform/db/postgres.ts';
import { createLog } from '#platform/log.ts';
import { everyNth } from '../lane.fixture.ts';
import { type Fleet, openFleet, skipWithoutFleet } from './fleet.fixture.ts';
import type { Instance } from './instances.fixture.ts';
import { type Chatter, newThread } from './rig.fixture.ts';
import { type Point, tap } from './tapping.fixture.ts';

const credits = 20;
const commit = /\bcommit\0/;
const rowsAreRemoved = /delete from "agent_threads"/;
const keyIsTaken = /insert into "agent_starts"/;

interface Deletion extends Point {
  readonly when: string;
  readonly text: string;
}
const deletions: readonly Deletion[] = [
  { when: 'the thread is hidden', says: [/with hidden as/, commit], strike: 'after', text: '/slow 60' },
  { when: 'videos are canceled', says: [/update "agent_videos"/, commit], strike: 'after', text: 'Make a video of it' },
  { when: 'rows are about to be removed', says: [rowsAreRemoved, commit], strike: 'before', text: 'Hello' },
  { when: 'the thread is about to be hidden', says: [/with hidden as/, commit], strike: 'before', text: '/slow 60' },
  { when: 'rows are removed', says: [rowsAreRemoved, commit], strike: 'after', text: 'Hello' },
];
const starts: readonly (Point & { readonly when: string })[] = [
  { when: 'is committed, and the caller does not know', says: [keyIsTaken, commit], strike: 'after' },
  { when: 'is about to be committed', says: [keyIsTaken, commit], strike: 'before' },
];

describe.skipIf(skipWithoutFleet)('a process is killed', () => {
  let fleet: Fleet;
  let survivor: Instance;
  beforeAll(async () => {
    fleet = await openFleet();
    survivor = await fleet.start({ services: ['agent', 'media', 'edge', 'memory'] });
  });
  afterAll(() => fleet.close());

  async function startVictim() {
    const portOf = (offset: number) => `http://127.0.0.1:${survivor.portBase + offset}`;
    const database = await tap(fleet.databaseUrl);
    const env = {
      DATABASE_URL: database.url,
      MEDIA_URL: portOf(1),
      MEMORY_URL: portOf(5),
      EDGE_URL: portOf(10),
      DATABASE_POOL_SIZE: '5',
    };
    return { victim: await fleet.start({ env }), database };
  }

  /** Sends the request to a process that dies at the point. */
  async function killDuring(
    point: Point,
    prepare: (here: Chatter) => Promise<unknown>,
    send: (here: Chatter) => Promise<unknown>,
  ) {
    const { victim, database } = await startVictim();
    const anywhere = await fleet.user(credits);
    const [here, there] = [anywhere(victim), anywhere(survivor)];
    await prepare(here);
    const killed = Promise.withResolvers<void>();
    database.arm(point, () => void victim.kill().then(killed.resolve));
    await send(here).catch(() => undefined);
    await killed.promise;
    await Promise.all([database.close(), fleet.expireLeases(there)]);
    return there;
  }

  async function rowsOf(threadId: string): Promise<number> {
    const database = await openPostgres({
      url: fleet.databaseUrl,
      poolSize: 1,
      migrations: [],
      log: createLog({ level: 'silent' }),
    });
    const { rows } = await sql<{ count: number }>`
      select (
        (select count(*) from agent_threads where thread_id = ${threadId})
        + (select count(*) from agent_messages where thread_id = ${threadId})
        + (select count(*) from agent_runs where thread_id = ${threadId})
        + (select count(*) from agent_videos where thread_id = ${threadId}))::int as count`.execute(database.queries());
    await database.close();
    return rows[0]?.count ?? Number.NaN;
  }

  it.each(everyNth(deletions, 5))('during a deletion: $when', { timeout: 120_000 }, async ({ text, ...point }) => {
    const threadId = newThread();
    const remove = (chatter: Chatter) => chatter.call('DELETE', `/threads/${threadId}`);
    const begin = async (here: Chatter) => {
      const taskId = await here.ask(threadId, text);
      if (text === 'Hello') await here.ended(taskId);
      else await here.stream(taskId, { cutAfter: 3 });
    };
    const user = await killDuring(point, begin, remove);
    const { status } = await remove(user);
    expect([204, 404]).toContain(status);
    expect((await user.call('GET', `/threads/${threadId}`)).status).toBe(404);
    expect(await user.messages(threadId)).toEqual([]);
    expect(await rowsOf(threadId)).toBe(0);
    expect((await fleet.ledger(user)).reserved).toBe(0);
    await user.ended(await user.ask(threadId, 'Are you there?'));
    expect((await user.messages(threadId)).length).toBe(2);
  });

  it.each(everyNth(starts, 2))(
    'during a start with a key that $when: the repetition is the one run',
    { timeout: 120_000 },
    async (point) => {
      const [threadId, key] = [newThread(), { 'idempotency-key': 'a key' }];
      const start = (chatter: Chatter) => chatter.call('POST', '/task', { threadId, text: 'Hello' }, key);
      const user = await killDuring(point, async () => undefined, start);
      const answers = [await start(user), await start(user)];
      expect(answers.map(({ status }) => status)).toEqual([201, 201]);
      expect(answers[1]?.body).toEqual(answers[0]?.body);
      await user.ended(String(answers[0]?.body.taskId));
      const questions = (await user.messages(threadId)).filter(({ role }) => role === 'user');
      expect(questions.length).toBe(1);
      const { settled, reserved } = await fleet.ledger(user);
      expect(reserved).toBe(0);
      expect(settled).toBeLessThanOrEqual(1);
    },
  );
});
