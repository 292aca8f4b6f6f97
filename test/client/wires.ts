/** A service with configurable responses over real HTTP, to simulate overloaded, old and unavailable services. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WireResponse {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** `cut`: the connection closes without a response. `silence`: no response. */
  readonly fate?: 'cut' | 'silence';
}

export interface Wire {
  readonly url: string;
  /** Method, path and headers of each request. */
  readonly seen: readonly Pick<IncomingMessage, 'method' | 'url' | 'headers'>[];
  /** Responses in order. The last one repeats. */
  respond(...responses: readonly WireResponse[]): void;
  close(): void;
}

export async function startWire(): Promise<Wire> {
  let responses: readonly WireResponse[] = [];
  let seen: IncomingMessage[] = [];
  const server = createServer(async (request, response) => {
    const { status = 200, body = {}, headers, fate } = responses[Math.min(seen.length, responses.length - 1)] ?? {};
    seen.push(request);
    request.resume();
    if (fate === 'cut') request.socket.destroy();
    if (fate !== undefined) return;
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get seen() {
      return seen;
    },
    respond: (...next) => {
      responses = next;
      seen = [];
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
