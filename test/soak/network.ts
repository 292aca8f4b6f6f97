/** A TCP proxy in front of an engine, which faults cut, freeze, or give an expired certificate. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type SecureContextOptions } from 'node:tls';
import type { Certificate } from '../certificate.fixture.ts';

export interface Network {
  readonly port: number;
  /** Resets every connection and rejects new ones. */
  cut(): void;
  /** A partition: nothing arrives on either side, and no connection ends. New ones wait as well. */
  freeze(): void;
  /** Ends `cut` and `freeze`. What was sent before a freeze arrives now. */
  mend(): void;
  /** Ends all connections, and shows this certificate to new ones. */
  present(certificate: Certificate): void;
  close(): Promise<void>;
}

/** `certificate`: clients connect by TLS, and the engine without. */
export async function layNetwork(target: { readonly port: number }, certificate?: Certificate): Promise<Network> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let state: 'up' | 'cut' | 'frozen' = 'up';
  const join = (near: Socket) => {
    if (state === 'cut') return near.destroy();
    const pair = [near, connect(target.port, '127.0.0.1')] as const;
    pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        pairs.delete(pair);
        destroy(pair);
      });
    }
    if (state === 'up') flow(pair);
    return near;
  };
  const secure = certificate === undefined ? undefined : createTlsServer(filesOf(certificate), join);
  const server = secure ?? createServer(join);
  // A client may leave in the middle of the handshake.
  server.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const destroyAll = () => {
    for (const pair of pairs) destroy(pair);
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      state = 'cut';
      destroyAll();
    },
    freeze: () => {
      state = 'frozen';
      for (const [near, far] of pairs) {
        near.unpipe(far).pause();
        far.unpipe(near).pause();
      }
    },
    mend: () => {
      if (state === 'frozen') for (const pair of pairs) flow(pair);
      state = 'up';
    },
    present: (other) => {
      secure?.setSecureContext(filesOf(other));
      destroyAll();
    },
    close: async () => {
      server.close();
      destroyAll();
      await once(server, 'close');
    },
  };
}

function flow([near, far]: readonly [Socket, Socket]): void {
  near.pipe(far);
  far.pipe(near);
}

function destroy(pair: readonly [Socket, Socket]): void {
  for (const socket of pair) socket.destroy();
}

const filesOf = ({ certificateFile, keyFile }: Certificate): SecureContextOptions => ({
  cert: readFileSync(certificateFile),
  key: readFileSync(keyFile),
});
