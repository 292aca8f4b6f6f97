/** A deploy under load: two instances are replaced one after the other, while people start runs, read, ask and stop. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectEnded, owedFor } from './ends.fixture.ts';
import { type Anywhere, type Fleet, openFleet, skipWithoutFleet } from './fleet.fixture.ts';
import { follow, type Instance } from './instances.fixture.ts';
import { type Chatter, newThread } from './rig.fixture.ts';
import type { SeenEvent } from './stream.fixture.ts';

const people = 8;
const credits = 1000;
const drainS = 4;

interface Run {
  readonly threadId: string;
  readonly taskId: string;
  readonly isStopped: boolean;
  readonly reading: Promise<readonly SeenEvent[]>;
}

describe.skipIf(skipWithoutFleet)('a rolling restart of two instances under load', () => {
  let fleet: Fleet;
  /** To which a balancer sends: those whose health is good, as far as it has looked. */
  let balanced: readonly Instance[] = [];
  const env = { AGENT_DRAIN_SECS: String(drainS), AGENT_MAX_RUNS_PER_USER: '1000' };

  beforeAll(async () => {
    fleet = await openFleet();
    balanced = await Promise.all([fleet.start({ env }), fleet.start({ env })]);
  });
  afterAll(() => fleet.close());

  const any = <T>(list: readonly T[]) => list[Math.floor(Math.random() * list.length)] as T;

  /** The view of a balancer: an instance is out while it drains, and in again when its successor responds. */
  async function replace(instance: Instance): Promise<void> {
    instance.child.kill('SIGTERM');
    while ((await fetch(`${instance.url}/health`).then(({ status }) => status)) !== 503) await sleep(20);
    balanced = balanced.filter((other) => other !== instance);
    expect(await instance.ended()).toBe(0);
    balanced = [...balanced, await fleet.start({ portBase: instance.portBase, env })];
  }

  /** Starts, reads, polls and stops runs until the test ends it. */
  async function live(user: Anywhere, until: AbortSignal) {
    const here = (): Chatter => user(any(balanced));
    const failures: unknown[] = [];
    const runs: Run[] = [];
    const ask = async (method: string, path: string, expected: number, body?: object) => {
      const answer = await here()
        .call(method, path, body)
        .catch((error: Error) => ({
          status: 0,
          body: { error: String(error.cause ?? error) } as Record<string, unknown>,
        }));
      const { status, body: said } = answer;
      // A draining instance rejects only new runs. A machine that is too slow may reject any request.
      const isDocumented = said.error === 'overloaded' || (method === 'POST' && said.error === 'draining');
      if (status !== expected && !(status === 503 && isDocumented)) failures.push([method, path, status, said]);
      return answer;
    };
    while (!until.aborted) {
      const threadId = newThread();
      const text = any(['/slow 1', '/slow 2', '/slow 60', 'Tell me of the evening']);
      const { status, body } = await ask('POST', '/task', 201, { threadId, text });
      if (status !== 201) continue;
      const taskId = String(body.taskId);
      const isStopped = text !== '/slow 60' && Math.random() < 0.3;
      // Wherever it is: the next try may come to another instance.
      const reading = follow(taskId, [here(), here(), ...balanced.map(user)]);
      runs.push({ threadId, taskId, isStopped, reading });
      await ask('GET', `/task/${taskId}`, 200);
      if (isStopped) await ask('DELETE', `/task/${taskId}`, 204);
      await ask('GET', `/messages/${threadId}`, 200);
      await ask('GET', `/thread/${threadId}/current-task`, 200);
      await sleep(Math.random() * 400);
    }
    return { failures, runs };
  }

  it('fails no request, loses no event, and leaves no run, thread or credit behind', async () => {
    const users: Anywhere[] = [];
    while (users.length < people) users.push(await fleet.user(credits));
    const over = new AbortController();
    const living = Promise.all(users.map((user) => live(user, over.signal)));
    try {
      await sleep(1500);
      for (const instance of balanced) {
        await replace(instance);
        await sleep(1000);
      }
    } finally {
      over.abort();
    }
    const lives = await living;
    expect(lives.flatMap(({ failures }) => failures)).toEqual([]);
    const statuses = new Set<string>();
    for (const [index, { runs }] of lives.entries()) {
      const user = (users[index] as Anywhere)(any(balanced));
      for (const { taskId } of runs) {
        if ((await user.task(taskId)).status === 'running') await user.call('DELETE', `/task/${taskId}`);
      }
      for (const run of runs) {
        const status = await expectEnded(user, run, [await run.reading]);
        statuses.add(status);
        if (run.isStopped) expect(['aborted', 'completed']).toContain(status);
      }
      const threadIds = runs.map(({ threadId }) => threadId);
      const owed = await owedFor(user, threadIds);
      expect(await fleet.ledger(user)).toEqual({ balance: credits - owed, reserved: 0, settled: owed });
    }
    // None has failed. Otherwise it was no load.
    expect([...statuses].sort()).toEqual(['aborted', 'completed']);
  });
});
