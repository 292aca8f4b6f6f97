/** A provider that answers with scripted bytes, by the model or path of the request, in order. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WireAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** JSON is parsed; other bodies are text. */
  readonly body: unknown;
}

export interface WireServer {
  readonly url: string;
  readonly requests: readonly WireRequest[];
  /** Answers requests whose `model`, or path, contains `name`. The last answer repeats. */
  on(name: string, ...answers: readonly WireAnswer[]): void;
  close(): void;
}

export async function startWireServer(): Promise<WireServer> {
  const requests: WireRequest[] = [];
  const scripts = new Map<string, WireAnswer[]>();
  const server = createServer(async (request, response) => {
    const { url: path = '', method = '', headers } = request;
    const body = parse(Buffer.concat(await request.toArray()).toString('latin1'));
    // The agent requests a title after the first answer of a thread. That is no part of these wires.
    if (JSON.stringify(body).includes('Write a title for a conversation')) return response.writeHead(404).end();
    requests.push({ method, path, headers, body });
    const place = `${String(Reflect.get(Object(body), 'model'))} ${method} ${decodeURIComponent(path)}`;
    const name = [...scripts.keys()].find((key) => place.includes(key)) ?? '';
    const answers = scripts.get(name) ?? [];
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? { status: 404, body: `no script: ${place}` };
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
    response.end(answer.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    on: (name, ...answers) => void scripts.set(name, [...answers]),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(Buffer.from(body, 'latin1').toString('utf8'));
  } catch {
    return body;
  }
}

export const json = (body: unknown, status = 200): WireAnswer => ({ status, body: JSON.stringify(body) });

/** Server-sent events, written as they go over the wire. */
export const events = (body: string): WireAnswer => ({ headers: { 'content-type': 'text/event-stream' }, body });

/** `data:` lines, one for each object, without `[DONE]`. */
export const dataLines = (...objects: readonly unknown[]): string =>
  objects.map((object) => `data: ${JSON.stringify(object)}\n\n`).join('');
