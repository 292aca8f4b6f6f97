/** What a run costs the service, and whether many at once keep up with their providers on one processor. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, type Bench, median, type Row } from './bench.ts';
import { type Contender, type Place, start } from './fanout.ts';
import { chunksPerRun } from './models.ts';

const rounds = 15;
/** The code of a run is compiled in steps, the last of them late. */
const warmUpRounds = 25;
const settlingMs = 50;

export const runs: Bench = {
  async *run() {
    yield await costOfRun();
    yield await costOfRunOverHttp();
    yield await lagOfMany();
  },
};

async function costOfRun(): Promise<Row> {
  const service = await start(['run-service.ts']);
  try {
    return atMost(60, {
      goal: `a run of ${chunksPerRun} chunks, stored and streamed, by processor time in ms`,
      measured: await cpuOfRun(service),
      against: 'a limit; the model is in the process',
    });
  } finally {
    await service.stop();
  }
}

async function costOfRunOverHttp(): Promise<Row> {
  const provider = await start(['streaming-provider.ts', String(chunksPerRun)]);
  const { url } = await provider.ask<Place>('open');
  const service = await start(['run-service.ts', url]);
  try {
    return atMost(60, {
      goal: `a run of ${chunksPerRun} chunks of a provider, stored and streamed, by processor time in ms`,
      measured: await cpuOfRun(service),
      against: "a limit; reading the provider's chunks is included",
    });
  } finally {
    await service.stop();
    await provider.stop();
  }
}

async function cpuOfRun(service: Contender): Promise<number> {
  const costs: number[] = [];
  const place = await service.ask<Place>('open');
  for (let round = -warmUpRounds; round < rounds; round++) {
    await sleep(settlingMs);
    const before = await service.ask<number>('cpuMicros');
    await readRun(place, await startRun(place), () => undefined);
    // The end of the run is committed before the last event, and what follows it belongs to the run too.
    await sleep(settlingMs);
    if (round >= 0) costs.push(((await service.ask<number>('cpuMicros')) - before) / 1000);
  }
  return median(costs);
}

const runsAtOnce = 100;
const tokensPerSecond = 100;
const seconds = 10;
/** Of a service that has just started, the compiler takes a part of its one processor. */
const warmUpRuns = 30;

/** The service has one processor; the provider and the readers have the others. */
async function lagOfMany(): Promise<Row> {
  // Otherwise, the scheduler would also give the provider and the readers the processor of the service.
  const other = availableParallelism() > 1 ? { processor: 1 } : {};
  if (other.processor !== undefined) execFileSync('taskset', ['-cp', '1', String(process.pid)]);
  const args = ['streaming-provider.ts', String(seconds * tokensPerSecond), String(tokensPerSecond)];
  const provider = await start(args, other);
  const { url } = await provider.ask<Place>('open');
  const service = await start(['run-service.ts', url], { processor: 0 });
  try {
    await readAtOnce(service, warmUpRuns, () => undefined);
    let worstMs = 0;
    const onText = (text: string) => {
      const nowMs = performance.timeOrigin + performance.now();
      const [oldest] = text.trim().split(' ');
      worstMs = Math.max(worstMs, nowMs - Number(oldest));
    };
    await readAtOnce(service, runsAtOnce, onText);
    return atMost(250, {
      goal: `${runsAtOnce} runs at once of ${tokensPerSecond} tokens a second on one processor, by the longest wait of a reader in ms`,
      measured: worstMs,
      against: 'a limit, beyond the provider',
    });
  } finally {
    await service.stop();
    await provider.stop();
  }
}

/** Each reader is there from the start of its run: what was sent before would count as a wait. */
async function readAtOnce(service: Contender, count: number, onText: (text: string) => void): Promise<void> {
  const place = await service.ask<Place>('open');
  const reading: Promise<void>[] = [];
  for (let run = 0; run < count; run++) reading.push(readRun(place, await startRun(place), onText));
  await Promise.all(reading);
}

/** Returns the id of a run that has begun. */
async function startRun({ url, headers }: Place): Promise<string> {
  const response = await fetch(`${url}/task`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ threadId: `t-${randomUUID()}`, text: 'Hello?' }),
  });
  if (response.status !== 201) throw new Error(`POST /task was answered ${response.status}`);
  const { taskId } = (await response.json()) as { taskId: string };
  return taskId;
}

/** Reads a run's stream to its end. `onText`: of each delta, once it arrives. */
async function readRun({ url, headers = {} }: Place, taskId: string, onText: (text: string) => void): Promise<void> {
  const call = request(`${url}/stream/${taskId}`, { agent: false, headers: { ...headers } }).end();
  const [response] = await once(call, 'response');
  let rest = '';
  let last = '';
  response.setEncoding('utf8').on('data', (piece: string) => {
    const frames = (rest + piece).split('\n\n');
    rest = frames.pop() ?? '';
    for (const frame of frames) {
      const data = frame.slice(frame.indexOf('data: ') + 6);
      if (data.startsWith('{"type":"text-delta"')) onText(JSON.parse(data).delta);
      if (data.startsWith('{')) last = data;
    }
  });
  await once(response, 'end');
  if (!last.startsWith('{"type":"finish"')) throw new Error(`a run of the benchmark ended with ${last}`);
}
