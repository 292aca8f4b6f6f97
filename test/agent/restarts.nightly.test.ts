/** One process alone, on the embedded engines and on PostgreSQL without Redis: killed in the midst, and started again. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newPlace, type Place } from '../acceptance/running.fixture.ts';
import { createPostgresDatabase, laneEngines } from '../database.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import { startTestIssuer, type TestIssuer } from '../platform/tokenissuer.fixture.ts';
import { type Instance, startInstance, userAt } from './instances.fixture.ts';
import { newThread } from './rig.fixture.ts';
import { type SeenEvent, textOf } from './stream.fixture.ts';

const engines = laneEngines.map(({ name, missing }) => ({ name, missing }));
/** Of a user who was never heard of before (docs/specification/agent.md#streams). */
const firstCredits = 100;

describe.each(engines)('an agent alone on $name', ({ name, missing }) => {
  describe.skipIf(missing)('is killed and started again', () => {
    let place: Place;
    let issuer: TestIssuer;
    let env: Readonly<Record<string, string>>;
    let instance: Instance | undefined;
    let drop: () => Promise<void> = async () => undefined;

    beforeAll(async () => {
      [place, issuer] = [await newPlace(), await startTestIssuer()];
      const database = name === 'postgres' ? await createPostgresDatabase() : undefined;
      drop = database?.drop ?? drop;
      env = {
        ...place.env,
        AGENT_MAX_RUNS_PER_USER: '1000',
        AGENT_MAX_RESTARTS: '5',
        JWKS_URL: issuer.jwksUrl,
        ...(database && { DATABASE_URL: database.url }),
      };
    });
    afterAll(async () => {
      await instance?.kill();
      await issuer.close();
      await drop();
      await place.remove();
    });

    it('at several moments', { timeout: 180_000 }, async () => {
      const userId = randomUUID();
      const runs: { threadId: string; taskId: string; events: SeenEvent[] }[] = [];
      for (const killAfterMs of isNightly ? [0, 120, 1200] : [120]) {
        instance = await startInstance(place.portBase, env);
        const user = await userAt(issuer, instance.url, userId);
        for (const text of ['/slow 5', '/long 60000']) {
          const run = { threadId: newThread(), taskId: '', events: [] as SeenEvent[] };
          run.taskId = await user.ask(run.threadId, text);
          runs.push(run);
          user.stream(run.taskId, { onEvent: (event) => run.events.push(event) }).catch(() => undefined);
        }
        await sleep(killAfterMs);
        await instance.kill();
      }
      const restartedAtMs = performance.now();
      instance = await startInstance(place.portBase, env);
      const user = await userAt(issuer, instance.url, userId);
      let completed = 0;
      for (const { threadId, taskId, events } of runs) {
        const stream = await user.stream(taskId);
        const { status } = await user.ended(taskId);
        completed += 1;
        expect([status, stream.done, stream.events.at(-1)?.data.type]).toEqual(['completed', true, 'finish']);
        expect(stream.events.slice(0, events.length)).toEqual(events);
        const answer = (await user.messages(threadId)).find(({ role }) => role === 'assistant');
        const kept = (answer?.parts ?? []).flatMap((part) => (part.type === 'text' ? [String(part.text)] : []));
        expect(kept.join('')).toBe(textOf(stream.events));
        expect((await user.call('GET', `/thread/${threadId}/current-task`)).body).toEqual({ task: null });
      }
      expect(performance.now() - restartedAtMs).toBeLessThan(45_000);
      // Every credit is there but those of what was completed: so much and no more can be spent.
      const left = firstCredits - completed;
      const refused = [];
      for (let spent = 0; spent <= left; spent++) {
        const { status, body } = await user.call('POST', '/task', { threadId: newThread(), text: '/slow 100' });
        if (status !== 201) refused.push([spent, status, body.error]);
      }
      expect(refused).toEqual([[left, 402, 'insufficient_credits']]);
    });
  });
});
