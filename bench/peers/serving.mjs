// Lets a process be one of the servers that fanout.ts compares.

/** @param {import('../fanout.ts').StreamServer} server */
export function serve(server) {
  const commands = {
    ...server,
    cpuMicros: async () => {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
    heldBytes: async () => {
      globalThis.gc?.();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    },
  };
  process.on('message', async (command) => process.send?.({ answer: (await commands[command]()) ?? null }));
  process.on('disconnect', () => Promise.resolve(server.close()).finally(() => process.exit()));
  process.send?.({ answer: null });
}
