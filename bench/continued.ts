/** What it costs that runs can be continued, and how soon another process goes on with one. */
import { randomUUID } from 'node:crypto';
import { openFleet } from '../test/agent/fleet.fixture.ts';
import { follow } from '../test/agent/instances.fixture.ts';
import { openLongRuns, question } from '../test/agent/longrun.fixture.ts';
import { newThread } from '../test/agent/rig.fixture.ts';
import type { SeenEvent } from '../test/agent/stream.fixture.ts';
import { atMost, type Bench, median, type Row } from './bench.ts';
import { type Contender, type Place, start } from './fanout.ts';
import { callsPerRun, wordsPerStep } from './models.ts';

const rounds = 15;
/** The code of a run is compiled in steps, the last of them late. */
const warmUpRounds = 25;
const kills = 5;
/** By then, its first step is finished. */
const eventsBeforeKill = 15;

export const continued: Bench = {
  async *run() {
    yield await costOfSteps();
    yield await timeToContinue();
  },
};

async function costOfSteps(): Promise<Row> {
  const provider = await start(['streaming-provider.ts', String(wordsPerStep), '0', String(callsPerRun)]);
  const { url } = await provider.ask<Place>('open');
  const contenders = [await start(['steps-service.ts', url]), await start(['steps-service.ts'])] as const;
  try {
    for (const contender of contenders) await contender.ask('open');
    const costs: [number[], number[]] = [[], []];
    for (let round = -warmUpRounds; round < rounds; round++) {
      for (const [index, contender] of contenders.entries()) {
        const cost = await cpuOf(contender);
        if (round >= 0) costs[index]?.push(cost);
      }
    }
    const [run, journal] = costs.map(median) as [number, number];
    return atMost(1.1, {
      goal: `a run of ${callsPerRun} tool calls and ${callsPerRun + 1} texts of a provider, by processor time with its steps recorded`,
      measured: run / (run - journal),
      against: 'the same run without the records',
    });
  } finally {
    await Promise.all([...contenders, provider].map((contender) => contender.stop()));
  }
}

async function cpuOf(contender: Contender): Promise<number> {
  const before = await contender.ask<number>('cpuMicros');
  await contender.ask('say');
  return (await contender.ask<number>('cpuMicros')) - before;
}

/** From the end of the lease of a killed process to the part that shows readers the continuation. */
async function timeToContinue(): Promise<Row> {
  const [fleet, long] = [await openFleet(), await openLongRuns()];
  try {
    const survivor = await fleet.start({ services: ['agent', 'media', 'edge', 'memory'], env: long.env });
    const times: number[] = [];
    for (let kill = 0; kill < kills; kill++) {
      const victim = await fleet.start({ env: long.env });
      const user = await fleet.user(100);
      const [here, there] = [user(victim), user(survivor)];
      const taskId = await here.ask(newThread(), `${question} <run ${randomUUID()}>`);
      const [begun, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const events: SeenEvent[] = [];
      const push = events.push.bind(events);
      events.push = (event: SeenEvent) => {
        if (event.data.type === 'data-restarted') goesOn.resolve();
        const count = push(event);
        if (count === eventsBeforeKill) begun.resolve();
        return count;
      };
      const reading = follow(taskId, [there], events);
      await begun.promise;
      await victim.kill();
      const endedAtMs = performance.now();
      await fleet.expireLeases(there);
      await goesOn.promise;
      times.push(performance.now() - endedAtMs);
      await reading;
    }
    return atMost(5, {
      goal: 'a run of a killed process goes on, in s after the end of its lease, at most',
      measured: Math.max(...times) / 1000,
      against: 'a limit; processes look for such runs every 2 s',
    });
  } finally {
    await fleet.close();
    await long.close();
  }
}
