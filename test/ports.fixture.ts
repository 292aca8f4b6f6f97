/** Ports for programs that tests start. No other test takes them, and no outgoing connection. */
import { createServer, type Server } from 'node:net';

const blockPorts = 13;
let next = { port: 0, end: 0 };

/** Returns a port that this function has not returned before, also while its program is stopped. */
export async function freePort(): Promise<number> {
  while (next.port === next.end) {
    const port = await freePortBase();
    // A concurrent call may have been faster.
    if (next.port === next.end) next = { port, end: port + blockPorts };
  }
  return next.port++;
}

/**
 * Returns the first of 13 consecutive free ports, above the last one that `fetch` rejects (10080) and below the ephemeral range.
 * This process keeps the 14th, so that no other test takes the block before a program listens there.
 */
export async function freePortBase(): Promise<number> {
  for (;;) {
    const base = 10_100 + Math.floor(Math.random() * 1_500) * (blockPorts + 1);
    const claim = await listen(base + blockPorts);
    if (claim === undefined) continue;
    const free = await Promise.all(Array.from({ length: blockPorts }, (_, offset) => isFree(base + offset)));
    if (free.every(Boolean)) return base;
    claim.close();
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = await listen(port);
  if (probe === undefined) return false;
  await new Promise((closed) => probe.close(closed));
  return true;
}

/** Resolves to undefined if the port is in use. The server does not keep the process alive. */
function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer().unref();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server));
  });
}
