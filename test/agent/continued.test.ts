/** Runs of six steps with three tools, whose process is killed: another one, or the next one, goes on from the last step. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { retry } from '#platform/resilience.ts';
import { isNightly } from '../lane.fixture.ts';
import { type Fleet, openFleet, skipWithoutFleet } from './fleet.fixture.ts';
import { follow, type Instance } from './instances.fixture.ts';
import { cost, expectLongRun, type LongRuns, openLongRuns, patience, question } from './longrun.fixture.ts';
import { type Chatter, newThread } from './rig.fixture.ts';
import type { SeenEvent } from './stream.fixture.ts';

/** One kill strikes this many runs, each at a moment of its own. */
const runsPerKill = isNightly ? 8 : 3;
const kills = Array.from({ length: isNightly ? 5 : 1 }, (_, kill) => kill);
/** The moments of a kill: the number of events that each run has shown. A whole run shows about 75. */
const momentsOf = (kill: number) =>
  Array.from({ length: runsPerKill }, (_, run) => 1 + Math.round((60 * (run + kill / kills.length)) / runsPerKill));
/** So that a reader sees an event before the model sends the next one. */
const paceMs = 40;
const credits = 100;
const services = ['agent', 'media', 'edge', 'memory'];

let long: LongRuns;
beforeAll(async () => {
  long = await openLongRuns(paceMs);
});
afterAll(() => long.close());

interface Begun {
  readonly threadId: string;
  readonly taskId: string;
  readonly tag: string;
  /** The user where the run goes on. */
  readonly there: Chatter;
  readonly readings: Promise<readonly (readonly SeenEvent[])[]>;
}

/** Begins a run that waits once it has shown so many events. Calls `onEvent` for each later one. */
async function begin([here, there]: readonly [Chatter, Chatter], moment: number, onEvent?: () => void): Promise<Begun> {
  const [tag, threadId, held] = [`<run ${randomUUID()}>`, newThread(), Promise.withResolvers<void>()];
  const events: SeenEvent[] = [];
  const push = events.push.bind(events);
  events.push = (...more) => {
    const count = push(...more);
    if (count > moment) onEvent?.();
    if (count !== moment) return count;
    long.hold(tag);
    held.resolve();
    return count;
  };
  const taskId = await retry(() => here.ask(threadId, `${question} ${tag}`), patience);
  const readings = Promise.all([follow(taskId, [there], events), follow(taskId, [here, there])]);
  await Promise.race([held.promise, readings]);
  return { there, tag, threadId, taskId, readings };
}

/** `isAlone`: no other process is there when theirs is killed. `hasLedger`: the test can read the database. */
const inLane = [
  { name: 'on PostgreSQL and Redis, another process', isAlone: false, hasLedger: true, isQuick: true },
  { name: 'alone on PostgreSQL, the next process', isAlone: true, hasLedger: true, isQuick: false },
  { name: 'alone on the embedded engines, the next process', isAlone: true, hasLedger: false, isQuick: false },
].filter(({ isQuick }) => isQuick || isNightly);

describe.skipIf(skipWithoutFleet).each(inLane)('$name goes on with runs that were killed', ({ isAlone, hasLedger }) => {
  let fleet: Fleet;
  let survivor: Instance;
  const settings = () => ({
    ...long.env,
    ...(isAlone && { REDIS_URL: '' }),
    ...(!hasLedger && { DATABASE_URL: 'embedded' }),
  });

  beforeAll(async () => {
    fleet = await openFleet();
    survivor = await fleet.start({ services, env: settings() });
  });
  afterAll(() => fleet.close());

  const startVictim = () => {
    const at = (offset: number) => `http://127.0.0.1:${survivor.portBase + offset}`;
    const siblings = { MEDIA_URL: at(1), MEMORY_URL: at(5), EDGE_URL: at(10), DATABASE_POOL_SIZE: '5' };
    return fleet.start({ env: { ...settings(), ...siblings } });
  };

  const at = async (victim: Instance) => {
    const anywhere = await fleet.user(credits);
    return [anywhere(victim), anywhere(survivor)] as const;
  };

  it.each(kills)('from a step of their own each, after kill %i', { timeout: 300_000 }, async (index) => {
    const victim = isAlone ? survivor : await startVictim();
    const struck = Promise.withResolvers<void>();
    let isReleased = false;
    let eventsLeft = runsPerKill;
    const onEvent = () => isReleased && --eventsLeft === 0 && struck.resolve();
    const begun = momentsOf(index).map(async (moment) => begin(await at(victim), moment, onEvent));
    const runs = await Promise.all(begun);
    // All go on at once, so that the kill meets them in the midst of what they do.
    isReleased = true;
    long.release();
    await Promise.race([struck.promise, Promise.all(runs.map(({ readings }) => readings))]);
    await victim.kill();
    if (isAlone) survivor = await fleet.start({ portBase: victim.portBase, services, env: settings() });
    for (const { there } of runs) await fleet.expireLeases(there);
    for (const { there, tag, readings, ...run } of runs) {
      await expectLongRun(there, run, long, tag, await readings);
      const [first] = await readings;
      expect(first?.map(({ data }) => data.type)).toContain('data-restarted');
      const paid = { balance: credits - cost, reserved: 0, settled: cost };
      if (hasLedger) await expect.poll(() => fleet.ledger(there)).toEqual(paid);
      else expect((await there.call('GET', '/credits')).body.credits).toBe(paid.balance);
    }
  });

  if (isAlone) return;

  it.runIf(isNightly)(
    'or ends those that were stopped afterwards or had too many restarts',
    { timeout: 60_000 },
    async () => {
      const victim = await startVictim();
      const user = await at(victim);
      const [, there] = user;
      const runs = await Promise.all([begin(user, 4), begin(user, 4)]);
      await victim.kill();
      const [stopped, failed] = runs;
      expect((await there.call('DELETE', `/task/${stopped.taskId}`)).status).toBe(204);
      await fleet.restartOften(failed.taskId);
      await fleet.expireLeases(there);
      for (const [{ taskId, readings }, end, outcome] of [
        [stopped, 'abort', { status: 'aborted', error: null }],
        [failed, 'error', { status: 'failed', error: expect.any(String) }],
      ] as const) {
        for (const events of await readings) expect(events.at(-1)?.data.type).toBe(end);
        expect(await there.task(taskId)).toMatchObject(outcome);
      }
      // What was shown of the stopped run is paid.
      const paid = { balance: credits - 1, reserved: 0, settled: 1 };
      await expect.poll(() => fleet.ledger(there)).toEqual(paid);
      for (const { threadId } of runs)
        expect((await there.call('GET', `/thread/${threadId}/current-task`)).body).toEqual({ task: null });
    },
  );
});
