/** Between the browser and a service: something that can be cut, and be dead for a while. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Wire {
  readonly url: string;
  /** Every connection at once; new ones are made. */
  cut(): void;
  /** Refuses connections until `mend`. */
  break(): Promise<void>;
  mend(): Promise<void>;
}

export async function startWire(portBehind: () => number): Promise<Wire> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const behind = connect(portBehind(), '127.0.0.1');
    for (const [one, other] of [
      [socket, behind],
      [behind, socket],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://localhost:${port}`,
    cut,
    break: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
    mend: () => listen(port),
  };
}
