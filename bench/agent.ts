/** Streams of runs: 2,000 events to 100 readers against other resumable streams; and what a run costs beside its model. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { streamText } from 'ai';
import { newThread, startAgent } from '../test/agent/rig.ts';
import { embedded } from '../test/media/rig.ts';
import { redisUrl, skipWithoutRedis } from '../test/redis.ts';
import { atLeast, atMost, type Bench, median, type Row } from './bench.ts';

export const eventsPerRun = 2000;
export const textOfEvent = 'about as much as a model says at a time, thrice';
const readersAtOnce = 100;
const rounds = 3;
const warmUpRounds = 1;

export const agent: Bench = {
  name: 'agent',
  run: async () => [...(skipWithoutRedis ? [] : [await fanOutOnRedis()]), await firstEvent()],
};

const fanOutGoal = `${eventsPerRun} events to ${readersAtOnce} readers, by deliveries per second, durable writes included`;

async function fanOutOnRedis(): Promise<Row> {
  const peer = ['resumable-stream.mjs', redisUrl, String(eventsPerRun), textOfEvent] as const;
  const [ours, theirs] = await Promise.all([
    startServer(new URL('agent-service.ts', import.meta.url), ['redis', redisUrl]),
    startServer(new URL(`peers/${peer[0]}`, import.meta.url), peer.slice(1)),
  ]);
  const measured = await compare(ours, theirs);
  return atLeast(3, { goal: `${fanOutGoal} (Redis)`, measured, against: 'resumable-stream on the same Redis' });
}

interface StreamServer {
  /** GET: a reader. POST: the events are said. */
  readonly port: number;
  stop(): Promise<void>;
}

async function startServer(file: URL, args: readonly string[]): Promise<StreamServer> {
  const child = fork(fileURLToPath(file), args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const [{ port }] = await once(child, 'message');
  const stop = async () => {
    child.disconnect();
    await once(child, 'exit');
  };
  return { port, stop };
}

/** How many times as fast the first is: the median of rounds in turns. */
async function compare(ours: StreamServer, theirs: StreamServer): Promise<number> {
  const ratios: number[] = [];
  try {
    for (let round = -warmUpRounds; round < rounds; round++) {
      const [ourMs, theirMs] = [await fanOutMs(ours), await fanOutMs(theirs)];
      if (round >= 0) ratios.push(theirMs / ourMs);
    }
  } finally {
    await Promise.all([ours.stop(), theirs.stop()]);
  }
  return median(ratios);
}

/** From the first event said to the last one read by the last reader. */
async function fanOutMs({ port }: StreamServer): Promise<number> {
  const readers = await Promise.all(Array.from({ length: readersAtOnce }, () => read(port)));
  // Whoever has connected has still to be subscribed.
  await sleep(300);
  const startedAtMs = performance.now();
  const produced = send(port);
  const counts = await Promise.all(readers.map(({ ended }) => ended));
  const tookMs = performance.now() - startedAtMs;
  await produced;
  const short = counts.filter((count) => count < eventsPerRun);
  if (short.length > 0) throw new Error(`${short.length} readers got less than all: ${short[0]} events`);
  return tookMs;
}

const mark = Buffer.from(textOfEvent);

/** Once its head is there. `ended`: how many events it had. */
async function read(port: number): Promise<{ readonly ended: Promise<number> }> {
  const call = request({ host: '127.0.0.1', port, agent: false }).end();
  const [response] = await once(call, 'response');
  const pieces: Buffer[] = [];
  response.on('data', (piece: Buffer) => pieces.push(piece));
  return { ended: once(response, 'end').then(() => countIn(Buffer.concat(pieces))) };
}

function countIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + mark.length)) count += 1;
  return count;
}

async function send(port: number): Promise<void> {
  const call = request({ host: '127.0.0.1', port, method: 'POST' }).end();
  const [response] = await once(call, 'response');
  response.resume();
  await once(response, 'end');
}

/** What a hosted model takes to its first word on a good day. */
const thinkingMs = 400;
const starts = 15;

const thinkingModel: LanguageModelV4 = {
  specificationVersion: 'v4',
  provider: 'bench',
  modelId: 'bench',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('not asked for')),
  doStream: async () => ({ stream: ReadableStream.from(think()) }),
};

async function* think(): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: [] };
  await sleep(thinkingMs);
  yield { type: 'text-start', id: 't' };
  yield { type: 'text-delta', id: 't', delta: 'Yes.' };
  yield { type: 'text-end', id: 't' };
  const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  const usage = { inputTokens: none, outputTokens: { total: undefined, text: undefined, reasoning: undefined } };
  yield { type: 'finish', usage, finishReason: { unified: 'stop', raw: undefined } };
}

async function firstEvent(): Promise<Row> {
  const rig = await startAgent(embedded, { offlineModel: thinkingModel });
  const ratios: number[] = [];
  try {
    const user = await rig.user('pro', 1000);
    for (let index = -warmUpRounds; index < starts; index++) {
      const bareAtMs = performance.now();
      for await (const _word of streamText({ model: thinkingModel, prompt: 'Hello?' }).textStream) break;
      const bareMs = performance.now() - bareAtMs;
      const startedAtMs = performance.now();
      let firstMs = Number.NaN;
      const taskId = await user.ask(newThread(), 'Hello?');
      await user.stream(taskId, {
        onEvent: ({ data }) => {
          if (data.type === 'text-delta') firstMs = performance.now() - startedAtMs;
        },
      });
      if (index >= 0) ratios.push(firstMs / bareMs);
    }
  } finally {
    await rig.close();
  }
  return atMost(1.2, {
    goal: 'from POST /task to the first word on the stream, durable, by latency',
    measured: median(ratios),
    against: `the bare model call, which takes ${thinkingMs} ms to its first word`,
  });
}
