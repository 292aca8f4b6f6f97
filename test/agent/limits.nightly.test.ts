/** The limits of one user hold across processes: they are counted in the database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fleet, openFleet, skipWithoutFleet } from './fleet.fixture.ts';
import type { Instance } from './instances.fixture.ts';
import { newThread } from './rig.fixture.ts';

describe.skipIf(skipWithoutFleet)('two processes of the agent', () => {
  let fleet: Fleet;
  let instances: readonly [Instance, Instance];
  beforeAll(async () => {
    fleet = await openFleet();
    // Runs of a killed process then end.
    const env = { AGENT_CONTINUE_RUNS: 'false' };
    instances = await Promise.all([fleet.start({ env }), fleet.start({ env })]);
  });
  afterAll(() => fleet.close());

  it('start exactly 10 of 30 runs of one user, and one more for each that ends', async () => {
    const user = await fleet.user(100);
    const at = instances.map((instance) => user(instance));
    const start = (place: number) => at[place % 2]?.call('POST', '/task', { threadId: newThread(), text: '/slow 600' });
    const startMany = async (count: number) => {
      const answers = await Promise.all(Array.from({ length: count }, (_, place) => start(place)));
      expect(new Set(answers.map((answer) => answer?.status))).toEqual(new Set([201, 429]));
      return answers.flatMap((answer) => (answer?.status === 201 ? [String(answer.body.taskId)] : []));
    };
    const started = await startMany(30);
    expect(started).toHaveLength(10);
    const [here, there] = at as [(typeof at)[number], (typeof at)[number]];
    expect(await fleet.ledger(here)).toEqual({ balance: 90, reserved: 10, settled: 0 });
    await Promise.all(
      started.slice(0, 4).map(async (taskId) => {
        await there.call('DELETE', `/task/${taskId}`);
        await here.ended(taskId);
      }),
    );
    expect(await startMany(20)).toHaveLength(4);
  });

  it('count the runs of a process that was killed until they have ended', async () => {
    const user = await fleet.user(100);
    const doomed = await fleet.start();
    const [here, there] = [user(doomed), user(instances[0])];
    for (let place = 0; place < 10; place += 1) await here.ask(newThread(), '/slow 600');
    await doomed.kill();
    const start = async () => (await there.call('POST', '/task', { threadId: newThread(), text: '/slow 600' })).status;
    expect(await start()).toBe(429);
    await fleet.expireLeases(there);
    await expect.poll(start, { timeout: 60_000 }).toBe(201);
  });
});
