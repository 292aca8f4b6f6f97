/** Agents on one PostgreSQL and one Redis that lose their Redis, or are drained, while others read what they run. */
import { createClient } from '@redis/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isNightly } from '../lane.fixture.ts';
import { expectEnded, expectKept, owedFor } from './ends.fixture.ts';
import { type Fleet, openFleet, skipWithoutFleet } from './fleet.fixture.ts';
import { type Instance, type Watched, watch } from './instances.fixture.ts';
import { type Chatter, newThread } from './rig.fixture.ts';
import { textOf } from './stream.fixture.ts';

const credits = 20;
/** docs/specification/agent.md#runs. */
const endedWithinMs = 30_000;

describe.skipIf(skipWithoutFleet)('several processes of the agent on PostgreSQL and Redis', () => {
  let fleet: Fleet;
  let survivor: Instance;

  beforeAll(async () => {
    fleet = await openFleet();
    survivor = await fleet.start();
  });
  afterAll(() => fleet.close());

  /** Of a user of its own: the same one here and there. */
  async function userOf(instance: Instance): Promise<{ here: Chatter; there: Chatter }> {
    const user = await fleet.user(credits);
    return { here: user(instance), there: user(survivor) };
  }

  const flushed = async (url: string) => {
    const client = createClient({ url });
    await client.connect();
    await client.flushAll();
    client.destroy();
  };

  /** What is shown is paid, nothing is held, and the threads take the next question. */
  async function expectPaid(user: Chatter, runs: readonly Pick<Watched, 'threadId'>[]): Promise<void> {
    const threadIds = runs.map(({ threadId }) => threadId);
    const owed = await owedFor(user, threadIds);
    expect(await fleet.ledger(user)).toEqual({ balance: credits - owed, reserved: 0, settled: owed });
    for (const threadId of threadIds) await user.ended(await user.ask(threadId, 'Are you there?'));
  }

  it('a flushed Redis ends runs, frees threads, and charges nothing', {
    timeout: 120_000,
  }, async () => {
    const other = await fleet.start();
    const { here, there } = await userOf(other);
    const done = await watch(here, there, 'Tell me of the evening');
    await done.over;
    const asked = ['/slow 60', '/slow 60', '/long 30000', 'Remember that I am fond of evenings'];
    const watched = await Promise.all(asked.map((text) => watch(here, there, text)));
    await expect.poll(() => watched.every(({ events }) => events.length > 2), { timeout: 20_000 }).toBe(true);
    await flushed(fleet.redis.url);
    await Promise.all(watched.map(({ over }) => over));
    for (const run of watched) {
      const { status, error } = await there.ended(run.taskId);
      expect(typeof error).toBe(status === 'failed' ? 'string' : 'object');
      await expectKept(there, run, run.events);
    }
    await expectPaid(there, [done, ...watched]);
    expect((await there.task(watched[0]?.taskId ?? '')).status).toBe('failed');
    // The events of a run that had ended are created again from its message.
    for (const chatter of [here, there]) {
      const again = await chatter.stream(done.taskId);
      expect([again.done, textOf(again.events)]).toEqual([true, textOf(done.events)]);
      const rest = await chatter.stream(done.taskId, { lastEventId: done.events[2]?.id });
      expect([rest.done, rest.events.at(-1)?.data]).toMatchObject([true, { type: 'finish' }]);
    }
    await other.kill();
  });

  it.runIf(isNightly)(
    'a reader of a run whose process and log are both lost receives no premature end',
    {
      timeout: 120_000,
    },
    async () => {
      const victim = await fleet.start();
      const { here, there } = await userOf(victim);
      const taskId = await here.ask(newThread(), '/slow 60');
      const lastEventId = (await here.stream(taskId, { cutAfter: 3 })).events.at(-1)?.id;
      await victim.kill();
      await flushed(fleet.redis.url);
      expect((await there.task(taskId)).status).toBe('running');
      expect((await there.stream(taskId, { lastEventId })).status).toBe(503);
      expect((await there.ended(taskId)).status).toBe('failed');
      const rest = await there.stream(taskId, { lastEventId });
      expect([rest.status, rest.done]).toEqual([200, true]);
    },
  );

  it.runIf(isNightly)('no reader waits forever after a permanent loss of Redis', { timeout: 120_000 }, async () => {
    const other = await fleet.start();
    const { here, there } = await userOf(other);
    const done = await watch(here, there, 'Tell me of the evening');
    await done.over;
    const victim = await fleet.start();
    const doomed = await userOf(victim);
    const runs = [
      { user: there, ...(await watch(here, there, '/slow 60')) },
      // Its process dies too, so the shown part is unknown.
      { user: doomed.there, ...(await watch(doomed.here, doomed.there, '/slow 60')) },
    ];
    await expect.poll(() => runs.every(({ events }) => events.length > 3)).toBe(true);
    fleet.redis.signal('SIGKILL');
    void victim.kill();
    try {
      const goneAtMs = performance.now();
      await Promise.all(runs.map(({ over }) => over));
      expect(performance.now() - goneAtMs).toBeLessThan(endedWithinMs);
      for (const { user, taskId, events } of runs) {
        expect((await user.ended(taskId)).status).toBe('failed');
        expect(events.at(-1)?.data.type).toBe('error');
        expect(await fleet.ledger(user)).toMatchObject({ reserved: 0 });
      }
      const again = await there.stream(done.taskId);
      expect([again.done, textOf(again.events)]).toEqual([true, textOf(done.events)]);
    } finally {
      await fleet.redis.start();
    }
    await expect
      .poll(async () => (await there.call('POST', '/task', { threadId: newThread(), text: 'hi' })).status, {
        timeout: 20_000,
      })
      .toBe(201);
    await other.kill();
  });

  it('a draining instance lets runs continue, then hands them over, and exits', { timeout: 120_000 }, async () => {
    const other = await fleet.start({ env: { AGENT_DRAIN_SECS: '3' } });
    const { here, there } = await userOf(other);
    const [short, long] = await Promise.all([watch(here, there, '/slow 1'), watch(here, there, '/slow 60')]);
    const reading = here.stream(long.taskId);
    await expect.poll(() => long.events.length > 3, { timeout: 20_000 }).toBe(true);
    const askedAtMs = performance.now();
    other.child.kill('SIGTERM');
    await expect.poll(async () => (await here.call('GET', '/health')).status).toBe(503);
    expect((await here.call('GET', '/health')).body.status).toBe('draining');
    const refused = await here.call('POST', '/task', { threadId: newThread(), text: 'hi' });
    expect([refused.status, refused.body.error]).toEqual([503, 'draining']);
    expect((await here.call('GET', `/task/${long.taskId}`)).status).toBe(200);
    expect((await here.stream(long.taskId, { cutAfter: 2 })).events).toHaveLength(2);
    expect(await other.ended()).toBe(0);
    expect(performance.now() - askedAtMs).toBeLessThan(20_000);
    const here_ = await reading;
    expect([here_.done, here_.events.at(-1)?.data.type]).toEqual([false, 'text-delta']);
    await expect.poll(() => long.events.map(({ data }) => data.type)).toContain('data-restarted');
    await expect.poll(() => long.events.at(-1)?.data.type).toBe('text-delta');
    expect((await there.call('DELETE', `/task/${long.taskId}`)).status).toBe(204);
    await Promise.all([short.over, long.over]);
    expect(await expectEnded(there, short, [short.events])).toBe('completed');
    expect(await expectEnded(there, long, [long.events])).toBe('aborted');
    await expectPaid(there, [short, long]);
  });
});
