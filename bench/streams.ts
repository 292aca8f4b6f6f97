/** The memory of open streams that say nothing: the service's against bare responses that stay open. */
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, type Bench, median } from './bench.ts';
import { type Contender, type Place, start } from './fanout.ts';
import { serve } from './peers/serving.mjs';

const streams = 1000;
const rounds = 5;

export const idleStreams: Bench = {
  run: async () => {
    const ratios: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const ours = await bytesPerStream('agent-service.ts');
      const bare = await bytesPerStream('streams.ts');
      ratios.push(ours / bare);
    }
    return [
      atMost(2, {
        goal: `heap and buffers of each of ${streams} open idle streams`,
        measured: median(ratios),
        against: 'bare Node responses kept open',
      }),
    ];
  },
};

/** In a process of its own each time: what one round has left would hide what the next one takes. */
async function bytesPerStream(program: string): Promise<number> {
  const server = await start([program]);
  try {
    const { url } = await server.ask<Place>('open');
    await openStreams(url, 50);
    const before = await heldBytes(server);
    await openStreams(url, streams);
    return ((await heldBytes(server)) - before) / streams;
  } finally {
    await server.stop();
  }
}

async function openStreams(url: string, count: number): Promise<void> {
  for (let opened = 0; opened < count; opened += 50)
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        const call = get(url, { agent: false }).on('error', () => undefined);
        const [response] = await once(call, 'response');
        response.on('error', () => undefined).resume();
      }),
    );
}

/**
 * Garbage apart, and not what is resident: beside an embedded database that moves by more than all the streams take. What
 * the system keeps of a socket is alike on both sides.
 */
async function heldBytes({ ask }: Contender): Promise<number> {
  await sleep(500);
  return ask('heldBytes');
}

if (import.meta.main) {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
    response.flushHeaders();
  });
  server.listen(0, '127.0.0.1', () =>
    serve({
      open: async () => ({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
      say: async () => undefined,
      close: async () => undefined,
    }),
  );
}
