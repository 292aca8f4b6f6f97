/** An instance that runs is killed at every kind of moment; others, over the same PostgreSQL and Redis, clear up. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyNth } from '../lane.fixture.ts';
import { expectEnded, owedFor } from './ends.fixture.ts';
import { type Fleet, openFleet, skipWithoutFleet } from './fleet.fixture.ts';
import { follow, type Instance } from './instances.fixture.ts';
import { type Moment, moments } from './moments.fixture.ts';
import { type Chatter, newThread } from './rig.fixture.ts';
import type { SeenEvent } from './stream.fixture.ts';
import { tap } from './tapping.fixture.ts';

const struckMoments = everyNth(moments, 20);
const credits = 200;
/** Runs go on within 30 s (docs/specification/agent.md#runs-that-continue), and last a few seconds. */
const endedWithinMs = 60_000;
/** The number of processes that are started and killed at the same time, while tests wait for the runs of others. */
const lanes = 3;
const texts: Readonly<Record<string, string>> = {
  'a text': 'Tell me of the evening',
  'an image': 'Make an image of it',
  'a video': 'Make a video of it',
};

interface Reading {
  readonly events: readonly SeenEvent[];
  readonly endedAtMs: number;
}

interface Run {
  readonly threadId: string;
  readonly taskId: string;
  readonly readings: Promise<readonly Reading[]>;
}

interface Struck {
  readonly user: Chatter;
  readonly atMs: number;
  readonly runs: readonly Run[];
  /** Threads, those of starts that were not answered too. */
  readonly threadIds: readonly string[];
}

describe.skipIf(skipWithoutFleet)('an instance is killed as', () => {
  let fleet: Fleet;
  let survivor: Instance;
  const outcomes = new Map<Moment, Promise<Struck>>();

  beforeAll(async () => {
    fleet = await openFleet();
    survivor = await fleet.start({ services: ['agent', 'media', 'edge', 'memory'] });
    const busy: Promise<unknown>[] = Array(lanes).fill(Promise.resolve());
    for (const [index, moment] of struckMoments.entries()) {
      const struck = (busy[index % lanes] as Promise<unknown>).then(() => strikeAt(moment));
      // The test of this moment receives the error. Until then, the rejection must count as handled.
      busy[index % lanes] = struck.catch(() => undefined);
      outcomes.set(moment, struck);
    }
  });
  afterAll(() => fleet.close());

  async function startVictim() {
    const portOf = (offset: number) => `http://127.0.0.1:${survivor.portBase + offset}`;
    const taps = {
      database: await tap(fleet.databaseUrl),
      redis: await tap(fleet.redis.url),
      media: await tap(portOf(1)),
    };
    const env = {
      DATABASE_URL: taps.database.url,
      REDIS_URL: taps.redis.url,
      MEDIA_URL: taps.media.url,
      MEMORY_URL: portOf(5),
      EDGE_URL: portOf(10),
      // Of several at once; PostgreSQL lets in a hundred by default.
      DATABASE_POOL_SIZE: '5',
    };
    return { victim: await fleet.start({ env }), taps };
  }

  /** Runs of several kinds are under way when it falls; each has a reader here and one elsewhere. */
  async function strikeAt({ engine, asks = 'a text', ...point }: Moment): Promise<Struck> {
    const { victim, taps } = await startVictim();
    const anywhere = await fleet.user(credits);
    const [here, there] = [anywhere(victim), anywhere(survivor)];
    const threadIds: string[] = [];
    const read = async (taskId: string, ...at: readonly [Chatter, ...Chatter[]]): Promise<Reading> => ({
      events: await follow(taskId, at),
      endedAtMs: performance.now(),
    });
    const begin = async (text: string): Promise<Run> => {
      const threadId = newThread();
      threadIds.push(threadId);
      const taskId = await here.ask(threadId, text);
      return { threadId, taskId, readings: Promise.all([read(taskId, there), read(taskId, here, there)]) };
    };
    const slow = await begin('/slow 10');
    const bystanders = [slow, await begin('Remember that I am fond of evenings')];
    const killed = Promise.withResolvers<number>();
    taps[engine].arm(point, () => {
      void victim.kill();
      killed.resolve(performance.now());
    });
    const text = texts[asks];
    // It may die before it answers.
    if (asks === 'stop') here.call('DELETE', `/task/${slow.taskId}`).catch(() => undefined);
    const asking = Promise.allSettled(text === undefined ? [] : [begin(text), begin(text)]);
    const atMs = await killed.promise;
    await victim.ended();
    const begun = (await asking).flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    await Promise.all(Object.values(taps).map((one) => one.close()));
    return { user: there, atMs, runs: [...bystanders, ...begun], threadIds };
  }

  it.each(struckMoments)('$when', { timeout: 300_000 }, async (moment) => {
    const { user, atMs, runs, threadIds } = await (outcomes.get(moment) as Promise<Struck>);
    const isFree = async (threadId: string) =>
      (await user.call('GET', `/thread/${threadId}/current-task`)).body.task === null;
    await expect.poll(async () => Promise.all(threadIds.map(isFree)), { timeout: 90_000 }).not.toContain(false);
    for (const run of runs) {
      const readings = await run.readings;
      for (const { endedAtMs } of readings) expect(endedAtMs - atMs).toBeLessThan(endedWithinMs);
      await expectEnded(
        user,
        run,
        readings.map(({ events }) => events),
      );
    }
    // A video that was ordered goes on; then nothing is held any more, and what is shown is paid, to the credit.
    await expect.poll(async () => (await fleet.ledger(user)).reserved, { timeout: 90_000 }).toBe(0);
    const owed = await owedFor(user, threadIds);
    expect(await fleet.ledger(user)).toEqual({ balance: credits - owed, reserved: 0, settled: owed });
    for (const threadId of threadIds) await user.ask(threadId, 'Are you there?');
  });
});
