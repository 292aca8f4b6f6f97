/** A server of another maker, on loopback: answers JSON, and errors in OpenAI's form. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Party {
  /** The origin. */
  readonly url: string;
  /** `METHOD /path` of each request. */
  readonly requests: readonly string[];
  close(): void;
}

export class Refusal extends Error {
  readonly status: number;
  readonly more: object;

  constructor(status: number, message: string, more: object = {}) {
    super(message);
    this.status = status;
    this.more = more;
  }
}

/** Returns a body for JSON, or `undefined` after it has sent a response. */
type Answer = (request: IncomingMessage, body: Buffer, response: ServerResponse) => unknown;

export async function startParty(answer: Answer): Promise<Party> {
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    requests.push(`${request.method} ${request.url}`);
    try {
      const json = await answer(request, body, response);
      if (json === undefined) return;
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { status, message, more } = error;
      const json = { error: { message, type: 'invalid_request_error', param: null, code: null, ...more } };
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
