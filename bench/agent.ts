/** Streams of runs: 2,000 events to 100 readers against other resumable streams; and what a run costs beside its model. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { streamText } from 'ai';
import { newThread, startAgent } from '../test/agent/rig.fixture.ts';
import { embedded } from '../test/media/rig.fixture.ts';
import { redisUrl } from '../test/redis.fixture.ts';
import { atLeast, atMost, type Bench, median, type Row, skipWithout } from './bench.ts';
import { compareFanOut, eventsPerRun, readersAtOnce, textOfEvent } from './fanout.ts';
import { finish, modelOf } from './models.ts';
import { langgraph, redis, resumableStream } from './needs.ts';

const goal = `${eventsPerRun} events to ${readersAtOnce} readers, durable writes included`;

export const agent: Bench = {
  async *run() {
    const withoutGraph = await skipWithout(`${goal} (embedded)`, langgraph);
    if (withoutGraph === undefined) yield* await fanOutEmbedded();
    else yield withoutGraph;
    yield (await skipWithout(`${goal} (Redis)`, redis, resumableStream)) ?? (await fanOutOnRedis());
    yield await firstEvent();
  },
};

/** Whole runs on both sides, from the model, or the graph, to the readers. */
async function fanOutEmbedded(): Promise<Row[]> {
  const peer = ['peers/langgraph.mjs', String(eventsPerRun), textOfEvent];
  const { deliveriesPerSecond, cpuPerDelivery } = await compareFanOut(['agent-runs.ts'], peer);
  const against = 'the server of @langchain/langgraph-api, in memory';
  return [
    atLeast(4, { goal: `${goal}, by deliveries per second (embedded)`, measured: deliveriesPerSecond, against }),
    atLeast(4, { goal: `${goal}, by CPU per delivery (embedded)`, measured: cpuPerDelivery, against }),
  ];
}

/** The streams alone: the peer is nothing else. */
async function fanOutOnRedis(): Promise<Row> {
  const peer = ['peers/resumable-stream.mjs', redisUrl, String(eventsPerRun), textOfEvent];
  const { deliveriesPerSecond } = await compareFanOut(['agent-service.ts', redisUrl], peer);
  return atLeast(3, {
    goal: `${goal}, by deliveries per second (Redis)`,
    measured: deliveriesPerSecond,
    against: 'resumable-stream on the same Redis',
  });
}

/** What a hosted model takes to its first word on a good day. */
const thinkingMs = 400;
const starts = 15;
const warmUpStarts = 1;

const thinkingModel = modelOf(think);

async function* think(): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: [] };
  await sleep(thinkingMs);
  yield { type: 'text-start', id: 't' };
  yield { type: 'text-delta', id: 't', delta: 'Yes.' };
  yield { type: 'text-end', id: 't' };
  yield finish;
}

async function firstEvent(): Promise<Row> {
  const rig = await startAgent(embedded, { offlineModel: thinkingModel });
  const ratios: number[] = [];
  try {
    const user = await rig.user('pro', 1000);
    for (let index = -warmUpStarts; index < starts; index++) {
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
  return atMost(1.1, {
    goal: 'from POST /task to the first word on the stream, durable, by latency',
    measured: median(ratios),
    against: `the bare model call, which takes ${thinkingMs} ms to its first word`,
  });
}
