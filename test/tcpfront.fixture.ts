/** One TCP name in front of several servers, such as a Kubernetes Service: a switch leads new connections elsewhere and leaves open ones. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpFront {
  /** Replaces the host and port of `url`. */
  urlOf(url: string): string;
  /** From now on, new connections lead to the server of `url`. */
  switchTo(url: string): void;
  close(): Promise<void>;
}

export async function startTcpFront(firstUrl: string): Promise<TcpFront> {
  let target = new URL(firstUrl);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (url) => Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href,
    switchTo: (url) => {
      target = new URL(url);
    },
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
