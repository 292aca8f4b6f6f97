/** Both processes are replaced one after the other while runs are under way: each run completes once. */

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mapConcurrently } from '#platform/concurrency.ts';
import { retry } from '#platform/resilience.ts';
import { isNightly } from '../lane.fixture.ts';
import { type Anywhere, type Fleet, openFleet, skipWithoutFleet } from './fleet.fixture.ts';
import { follow, type Instance } from './instances.fixture.ts';
import { expectLongRun, type LongRuns, openLongRuns, patience, question } from './longrun.fixture.ts';
import { type Chatter, newThread } from './rig.fixture.ts';

const runs = isNightly ? 100 : 6;
const credits = 100;

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
    const env = { ...long.env, AGENT_DRAIN_SECS: '0' };
    const services = ['agent', 'media', 'edge', 'memory'];
    let instances: readonly Instance[] = await Promise.all([1, 2].map(() => fleet.start({ services, env })));
    const at = (turn: number) => instances[turn % instances.length] as Instance;
    const users: Anywhere[] = [];
    while (users.length < runs) users.push(await fleet.user(credits));
    let index = 0;
    const started = await mapConcurrently(users, 8, async (user) => {
      const [tag, threadId] = [`<run ${randomUUID()}>`, newThread()];
      // Wherever the instances are at the time.
      const anywhere = new Proxy({} as Chatter, {
        get: (_target, name: keyof Chatter) => user(at(Math.floor(Math.random() * 2)))[name],
      });
      const taskId = await retry(() => user(at(index++)).ask(threadId, `${question} ${tag}`), patience);
      return { tag, threadId, taskId, user, reading: follow(taskId, [anywhere, anywhere]) };
    });
    for (const instance of instances) {
      await sleep(200);
      instance.child.kill('SIGTERM');
      expect(await instance.ended()).toBe(0);
      const next = await fleet.start({ portBase: instance.portBase, services, env });
      instances = instances.map((one) => (one === instance ? next : one));
    }
    for (const { tag, threadId, taskId, user, reading } of started) {
      // A machine that is too slow for all of them refuses images.
      const cost = await expectLongRun(user(at(0)), { threadId, taskId }, long, tag, [await reading], isNightly);
      const paid = { balance: credits - cost, reserved: 0, settled: cost };
      await expect.poll(() => fleet.ledger(user(at(0)))).toEqual(paid);
    }
  });
});
