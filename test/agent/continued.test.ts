/** Runs of six steps with three tools, whose process is killed: another one, or the next one, goes on from the last step. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newPlace } from '../acceptance/running.fixture.ts';
import { createPostgresDatabase, laneEngines } from '../database.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import { startTestIssuer } from '../platform/tokenissuer.fixture.ts';
import { type Fleet, openFleet, skipWithoutFleet } from './fleet.fixture.ts';
import { follow, type Instance, startInstance, userAt } from './instances.fixture.ts';
import { cost, expectLongRun, type LongRuns, openLongRuns, question } from './longrun.fixture.ts';
import { newThread } from './rig.fixture.ts';
import type { SeenEvent } from './stream.fixture.ts';

/** How many events a reader has seen when the process is killed. The whole stream has about 70. */
const every = (moments: number) =>
  Array.from({ length: moments }, (_, index) => 1 + Math.round((index * 66) / moments));
const [distributed, alone] = isNightly ? [every(40), every(40)] : [[12, 30, 47], [22]];
const credits = 100;
const lanes = 3;

let long: LongRuns;
beforeAll(async () => {
  long = await openLongRuns();
});
afterAll(() => long.close());

const tagOf = () => `<run ${randomUUID()}>`;

/** Resolves once the reader has seen so many events. */
function seen(count: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const events: SeenEvent[] = [];
  const push = events.push.bind(events);
  events.push = (...more) => {
    const length = push(...more);
    if (length >= count) resolve();
    return length;
  };
  return { events, reached: promise };
}

describe.skipIf(skipWithoutFleet)('on PostgreSQL and Redis, another process goes on with a run that was killed', () => {
  let fleet: Fleet;
  let survivor: Instance;
  let busy: Promise<unknown>[] = [];
  const outcomes = new Map<number, Promise<void>>();

  beforeAll(async () => {
    fleet = await openFleet();
    survivor = await fleet.start({ services: ['agent', 'media', 'edge', 'memory'], env: long.env });
    busy = Array(lanes).fill(Promise.resolve());
    for (const [index, moment] of distributed.entries()) {
      const struck = (busy[index % lanes] as Promise<unknown>).then(() => strikeAt(moment));
      busy[index % lanes] = struck.catch(() => undefined);
      outcomes.set(moment, struck);
    }
  });
  afterAll(() => fleet.close());

  async function strikeAt(moment: number): Promise<void> {
    const at = (offset: number) => `http://127.0.0.1:${survivor.portBase + offset}`;
    const env = { ...long.env, MEDIA_URL: at(1), MEMORY_URL: at(5), EDGE_URL: at(10), DATABASE_POOL_SIZE: '5' };
    const victim = await fleet.start({ env });
    const anywhere = await fleet.user(credits);
    const [here, there] = [anywhere(victim), anywhere(survivor)];
    const tag = tagOf();
    const threadId = newThread();
    const taskId = await here.ask(threadId, `${question} ${tag}`);
    const { events, reached } = seen(moment);
    const readings = Promise.all([follow(taskId, [there], events), follow(taskId, [here, there])]);
    await Promise.race([reached, readings]);
    await victim.kill();
    await fleet.expireLeases(there);
    await expectLongRun(there, { threadId, taskId }, long, tag, await readings);
    await expect.poll(() => fleet.ledger(there)).toEqual({ balance: credits - cost, reserved: 0, settled: cost });
  }

  it.each(distributed)('after %i events', { timeout: 600_000 }, (moment) => outcomes.get(moment));

  it('or ends it, if it was stopped afterwards or had too many restarts', { timeout: 600_000 }, async () => {
    const victim = await fleet.start({ env: long.env });
    const anywhere = await fleet.user(credits);
    const [here, there] = [anywhere(victim), anywhere(survivor)];
    const runs = await Promise.all(
      ['stopped', 'failed'].map(async () => {
        const threadId = newThread();
        const taskId = await here.ask(threadId, `${question} ${tagOf()}`);
        const { events, reached } = seen(4);
        const reading = follow(taskId, [there], events);
        await reached;
        return { threadId, taskId, reading };
      }),
    );
    await victim.kill();
    const [stopped, failed] = runs as [(typeof runs)[0], (typeof runs)[0]];
    expect((await there.call('DELETE', `/task/${stopped.taskId}`)).status).toBe(204);
    await fleet.restartOften(failed.taskId);
    await fleet.expireLeases(there);
    expect((await stopped.reading).at(-1)?.data).toMatchObject({ type: 'abort' });
    expect((await failed.reading).at(-1)?.data).toMatchObject({ type: 'error' });
    expect(await there.task(stopped.taskId)).toMatchObject({ status: 'aborted', error: null });
    expect(await there.task(failed.taskId)).toMatchObject({ status: 'failed', error: expect.any(String) });
    // What was shown of the stopped run is paid.
    const paid = { balance: credits - 1, reserved: 0, settled: 1 };
    await expect.poll(() => fleet.ledger(there)).toEqual(paid);
    for (const { threadId } of runs)
      expect((await there.call('GET', `/thread/${threadId}/current-task`)).body).toEqual({ task: null });
  });
});

/** The quick lane takes PostgreSQL, which starts faster. */
const engines = laneEngines.filter(({ missing }) => !missing).map(({ name }) => name);

describe.each(engines)('alone on %s, the next process goes on with a run that was killed', (engine) => {
  it.each(alone)('after %i events', { timeout: 120_000 }, async (moment) => {
    const [place, issuer] = [await newPlace(), await startTestIssuer()];
    const database = engine === 'postgres' ? await createPostgresDatabase() : undefined;
    const url = database && { DATABASE_URL: database.url };
    const env = { ...place.env, ...long.env, ...url, JWKS_URL: issuer.jwksUrl };
    const services = ['agent', 'media', 'edge', 'memory'];
    let instance = await startInstance(place.portBase, env, services);
    try {
      const user = await userAt(issuer, instance.url, randomUUID());
      const tag = tagOf();
      const threadId = newThread();
      const taskId = await user.ask(threadId, `${question} ${tag}`);
      const { events, reached } = seen(moment);
      const reading = follow(taskId, [user], events);
      await Promise.race([reached, reading]);
      await instance.kill();
      instance = await startInstance(place.portBase, env, services);
      await expectLongRun(user, { threadId, taskId }, long, tag, [await reading]);
      expect((await user.call('GET', '/credits')).body.credits).toBe(100 - cost);
    } finally {
      await instance.kill();
      await issuer.close();
      await database?.drop();
      await place.remove();
    }
  });
});
