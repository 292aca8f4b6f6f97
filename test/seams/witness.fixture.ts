/** A proxy between two services that records who calls what, from the bytes on the wire. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenCall {
  readonly method: string;
  readonly path: string;
  readonly hasKey: boolean;
  readonly onBehalfOf: string | undefined;
  /** The call has the user's own token. */
  readonly hasToken: boolean;
}

export interface Witness {
  /** Replaces the URL of the service. */
  readonly url: string;
  readonly seen: readonly SeenCall[];
  close(): void;
}

export async function witness(serviceUrl: string): Promise<Witness> {
  const seen: SeenCall[] = [];
  const forward = (incoming: IncomingMessage, answer: ServerResponse) => {
    const { method = '', url = '', headers } = incoming;
    seen.push({
      method,
      path: url.split('?')[0] ?? '',
      hasKey: headers['x-internal-key'] !== undefined,
      onBehalfOf: headers['x-on-behalf-of']?.toString(),
      hasToken: headers.authorization !== undefined,
    });
    const outgoing = request(serviceUrl + url, { method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    outgoing.on('error', () => answer.destroy());
    incoming.pipe(outgoing);
  };
  const server = createServer(forward).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
