/** Events of users across two processes, of which one is killed between a change and its readers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isNightly } from '../lane.fixture.ts';
import { type Fleet, openFleet, skipWithoutFleet } from './fleet.fixture.ts';
import type { Instance } from './instances.fixture.ts';
import { type Chatter, newThread } from './rig.fixture.ts';
import type { SeenEvent } from './stream.fixture.ts';
import { type Listening, listen, typesOf } from './userevents.fixture.ts';

const withinMs = 40_000;

describe.skipIf(skipWithoutFleet)('events of users in two processes', { timeout: 120_000 }, () => {
  let fleet: Fleet;
  let survivor: Instance;
  let victim: Instance;
  beforeAll(async () => {
    fleet = await openFleet();
    // Runs of a killed process then end.
    const env = { AGENT_CONTINUE_RUNS: 'false' };
    [survivor, victim] = await Promise.all([fleet.start({ env }), fleet.start()]);
  });
  afterAll(() => fleet.close());

  const of = (events: readonly SeenEvent[], taskId: string) => events.filter(({ data }) => data.taskId === taskId);
  const receives = (listening: Listening, taskId: string, type: string) =>
    expect.poll(() => typesOf(of(listening.events, taskId)), { timeout: withinMs }).toContain(type);

  /** No number is missing between the first and the last, so nothing was lost or came in another order. */
  const expectUnbroken = (events: readonly SeenEvent[]) => {
    const ids = events.map(({ id }) => Number(id));
    expect(ids).toEqual(ids.map((_, index) => Number(ids[0]) + index));
  };

  it('are received in both processes, and by no other user', async () => {
    const [user, stranger] = [await fleet.user(20), await fleet.user(20)];
    const [here, there] = [user(survivor), user(victim)];
    const [listening, elsewhere, foreign] = await Promise.all([
      listen(survivor.url, here),
      listen(victim.url, there),
      listen(victim.url, stranger(victim)),
    ]);
    const taskId = await there.ask(newThread(), 'Good evening');
    await Promise.all([listening, elsewhere].map((one) => receives(one, taskId, 'run.ended')));
    expect(listening.events).toEqual(elsewhere.events);
    expectUnbroken(listening.events);
    expect(foreign.events).toEqual([]);
    await Promise.all([listening, elsewhere, foreign].map((one) => one.close()));
  });

  it('are received after the writing and the reading process were killed', async () => {
    const user = await fleet.user(20);
    const [there, here] = [user(victim), user(survivor)];
    const cut = await listen(victim.url, there);
    const watching = await listen(survivor.url, here);
    const starts = await Promise.all(
      ['Good evening', '/slow 60', '/slow 60'].map((text) => there.ask(newThread(), text)),
    );
    await receives(cut, String(starts[0]), 'run.ended');
    await receives(cut, String(starts[2]), 'run.started');
    await victim.kill();
    await fleet.expireLeases(here);
    // The survivor ends the runs. The reader that was cut off resumes there.
    const resumed = await listen(survivor.url, here, cut.lastEventId());
    for (const taskId of starts) await receives(watching, taskId, 'run.ended');
    const seen = () => [...cut.events, ...resumed.events];
    await expect.poll(() => seen().length).toBe(watching.events.length);
    expect(seen()).toEqual(watching.events);
    expectUnbroken(watching.events);
    for (const taskId of starts) {
      const types = typesOf(of(watching.events, taskId));
      expect(types).toEqual(['run.started', 'credits.changed', 'run.ended']);
    }
    await Promise.all([resumed, watching].map((one) => one.close()));
  });

  it('match the committed changes after repeated kills during starts', async () => {
    const user = await fleet.user(200);
    const here = user(survivor);
    const watching = await listen(survivor.url, here);
    const started: string[] = [];
    for (const afterStarts of isNightly ? [1, 2] : [2]) {
      const next = await fleet.start();
      const there = user(next);
      const starts = Array.from({ length: 4 }, () => start(there));
      await Promise.all(starts.slice(0, afterStarts));
      await next.kill();
      await fleet.expireLeases(here);
      for (const taskId of await Promise.all(starts)) if (taskId !== undefined) started.push(taskId);
    }
    for (const taskId of started) await receives(watching, taskId, 'run.ended');
    expectUnbroken(watching.events);
    const types = typesOf(watching.events);
    const count = (type: string) => types.filter((one) => one === type).length;
    // Also runs whose start was committed although its response was lost.
    await expect.poll(() => count('run.started') - count('run.ended'), { timeout: withinMs }).toBe(0);
    expect(count('run.started')).toBeGreaterThanOrEqual(started.length);
    const { balance } = await fleet.ledger(here);
    expect(watching.events.findLast(({ data }) => data.type === 'credits.changed')?.data.credits).toBe(balance);
    await watching.close();
  });
});

const start = (user: Chatter): Promise<string | undefined> => user.ask(newThread(), '/slow 60').catch(() => undefined);
