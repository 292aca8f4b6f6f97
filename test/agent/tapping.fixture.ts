/**
 * A proxy between an instance and its engine. It signals a chosen point in the instance's requests to that engine, so that a kill
 * falls exactly between two steps.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Point {
  /** One after the other, on one connection: the last of them is the point. */
  readonly says: readonly RegExp[];
  /** The so many-th time. */
  readonly nth?: number;
  /** `before` it arrives, in the `midst` of it, or `after` it was done, and the answer never comes. */
  readonly strike: 'before' | 'midst' | 'after';
}

export interface Tap {
  /** As the engine's own, but through the tap. */
  readonly url: string;
  /** From now on it listens for this point. */
  arm(point: Point, strike: () => void): void;
  close(): Promise<void>;
}

export async function tap(engineUrl: string): Promise<Tap> {
  const target = new URL(engineUrl);
  const sockets = new Set<Socket>();
  let armed: { readonly point: Point; readonly strike: () => void; left: number } | undefined;

  function join(client: Socket): void {
    const engine = connect(Number(target.port || 80), target.hostname);
    let matched = 0;
    let isSilenced = false;
    for (const [socket, other] of [
      [client, engine],
      [engine, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    engine.on('data', (bytes) => {
      if (isSilenced) armed?.strike();
      else client.write(bytes);
    });
    client.on('data', (bytes) => {
      if (isSilenced) return;
      const { says = [], strike = 'before' } = armed?.point ?? {};
      if (armed === undefined || !says[matched]?.test(bytes.toString('latin1'))) return void engine.write(bytes);
      matched = (matched + 1) % says.length;
      if (matched > 0 || --armed.left > 0) return void engine.write(bytes);
      isSilenced = true;
      if (strike === 'after') return void engine.write(bytes);
      if (strike === 'midst') engine.write(bytes.subarray(0, bytes.length / 2));
      armed.strike();
    });
  }

  const server = createServer(join).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(engineUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href.replace(/\/$/, ''),
    arm: (point, strike) => {
      armed = { point, strike, left: point.nth ?? 1 };
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
