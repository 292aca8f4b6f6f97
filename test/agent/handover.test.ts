/** Both processes are replaced one after the other while runs are under way: each run completes once. */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isNightly } from '../lane.fixture.ts';
import { type Fleet, openFleet, skipWithoutFleet } from './fleet.fixture.ts';
import { follow, type Instance } from './instances.fixture.ts';
import { cost, expectLongRun, type LongRuns, openLongRuns, question } from './longrun.fixture.ts';
import { type Chatter, newThread } from './rig.fixture.ts';

const runs = isNightly ? 100 : 6;
const credits = 1000;

describe.skipIf(skipWithoutFleet)('a rolling replacement of two processes', () => {
  let fleet: Fleet;
  let long: LongRuns;
  beforeAll(async () => {
    [fleet, long] = [await openFleet(), await openLongRuns()];
  });
  afterAll(async () => {
    await fleet.close();
    await long.close();
  });

  it('fails no run and doubles no tool call', { timeout: 600_000 }, async () => {
    const env = { ...long.env, AGENT_DRAIN_SECS: '0', AGENT_MAX_RUNS_PER_USER: '1000', RATE_LIMIT_PER_MINUTE: '0' };
    const services = ['agent', 'media', 'edge', 'memory'];
    let instances: readonly Instance[] = await Promise.all([1, 2].map(() => fleet.start({ services, env })));
    const user = await fleet.user(credits);
    const at = (turn: number) => user(instances[turn % instances.length] as Instance);
    // Wherever the instances are at the time.
    const anywhere = new Proxy({} as Chatter, {
      get: (_target, name: keyof Chatter) => at(Math.floor(Math.random() * 2))[name],
    });
    const started = await Promise.all(
      Array.from({ length: runs }, async (_, index) => {
        const [tag, threadId] = [`<run ${randomUUID()}>`, newThread()];
        const taskId = await at(index).ask(threadId, `${question} ${tag}`);
        return { tag, threadId, taskId, reading: follow(taskId, [anywhere, anywhere]) };
      }),
    );
    for (const instance of instances) {
      await sleep(200);
      instance.child.kill('SIGTERM');
      expect(await instance.ended()).toBe(0);
      const next = await fleet.start({ portBase: instance.portBase, services, env });
      instances = instances.map((one) => (one === instance ? next : one));
    }
    for (const { tag, threadId, taskId, reading } of started)
      await expectLongRun(at(0), { threadId, taskId }, long, tag, [await reading]);
    expect(await fleet.ledger(at(0))).toEqual({
      balance: credits - runs * cost,
      reserved: 0,
      settled: runs * cost,
    });
  });
});
