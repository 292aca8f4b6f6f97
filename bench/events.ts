/** `GET /events`: how soon an event reaches 1,000 open readers, from the begin of its transaction, on one processor. */
import { once } from 'node:events';
import { get } from 'node:http';
import { atMost, type Bench, median, type Row } from './bench.ts';
import { type Contender, type Place, start } from './fanout.ts';

const readersAtOnce = 1000;
const rounds = 5;
const limitMs = 250;

export const events: Bench = {
  async *run() {
    yield await measure(10, 'an event for each of 10 users, to 100 readers of each');
    yield await measure(1000, 'an event for each of 1,000 users, to one reader of each, all at once');
  },
};

async function measure(users: number, goal: string): Promise<Row> {
  const server = await start(['events-service.ts', String(users)]);
  try {
    const latencies = await openReaders(await server.ask<Place>('open'));
    for (let round = 0; round <= rounds; round++) await untilReceived(server, latencies, (round + 1) * readersAtOnce);
    return atMost(1, {
      goal: `${goal}, by median latency`,
      // The first round warms up.
      measured: median(latencies.slice(readersAtOnce)) / limitMs,
      against: `${limitMs} ms`,
    });
  } finally {
    await server.stop();
  }
}

async function untilReceived({ ask }: Contender, latencies: readonly number[], count: number): Promise<void> {
  await ask('say');
  while (latencies.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Returns the latencies in milliseconds, which grow as events arrive. */
async function openReaders({ url }: Place): Promise<readonly number[]> {
  const latencies: number[] = [];
  for (let opened = 0; opened < readersAtOnce; opened += 50)
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        const call = get(url, { agent: false }).on('error', () => undefined);
        const [response] = await once(call, 'response');
        response
          .on('error', () => undefined)
          .on('data', (piece: Buffer) => {
            const atMs = Date.now();
            for (const [, sentAtMs] of piece.toString().matchAll(/"at-(\d+)"/g))
              latencies.push(atMs - Number(sentAtMs));
          });
      }),
    );
  return latencies;
}
