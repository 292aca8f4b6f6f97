// Lets a process be one of the servers that fanout.ts compares.
import { setTimeout as sleep } from 'node:timers/promises';

const settledBytes = 64 * 1024;

/** @param {import('../fanout.ts').StreamServer} server */
export function serve(server) {
  const commands = {
    ...server,
    cpuMicros: async () => {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
    // Buffers are given back after the collection that found them unused, some of them in other threads.
    heldBytes: async () => {
      for (let before = Number.POSITIVE_INFINITY; ; ) {
        globalThis.gc?.();
        await sleep(100);
        const { heapUsed, external } = process.memoryUsage();
        if (heapUsed + external >= before - settledBytes) return heapUsed + external;
        before = heapUsed + external;
      }
    },
  };
  process.on('message', async (command) => process.send?.({ answer: (await commands[command]()) ?? null }));
  process.on('disconnect', () => Promise.resolve(server.close()).finally(() => process.exit()));
  process.send?.({ answer: null });
}
