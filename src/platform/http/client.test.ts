import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { transaction } from '../db/db.ts';
import { inScope, newTrace } from '../telemetry/trace.ts';
import { type Call, type ClientOptions, createClient, type HttpClient } from './client.ts';

type Reply = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server;
let address: string;
let client: HttpClient | undefined;
/** What the server does for each request. The last entry repeats. */
let replies: Reply[];
let seen: IncomingMessage[];
let nowMs: number;

beforeEach(async () => {
  seen = [];
  nowMs = 0;
  server = createServer((request, response) => {
    seen.push(request);
    request.resume();
    (replies.length > 1 ? replies.shift() : replies[0])?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  await client?.close();
  server.closeAllConnections();
  server.close();
});

const answer =
  (status: number, body: unknown = {}): Reply =>
  (_request, response) => {
    response.statusCode = status;
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
const hangUp: Reply = (request) => request.socket.destroy();
const never: Reply = () => undefined;

const get: Call = { method: 'GET', path: '/x', route: '/x' };
const post: Call = { method: 'POST', path: '/x', route: '/x', json: { a: 1 } };

function send(call: Call, options: Partial<ClientOptions> = {}) {
  client ??= createClient({
    name: 'image',
    baseUrl: address,
    isInternal: true,
    timeoutMs: 3000,
    clock: { now: () => nowMs },
    ...options,
  });
  return client.send(call);
}
beforeEach(() => {
  client = undefined;
});

const unavailable = expect.objectContaining({ code: 'engine_unavailable', status: 503 });

describe('a response', () => {
  it.each([200, 201, 204, 301, 400, 404, 409, 429])('%d is returned to the caller', async (status) => {
    replies = [answer(status, status === 204 ? '' : { detail: true })];
    const received = await send(get);
    expect(received.status).toBe(status);
    if (status !== 204) expect(received.json()).toEqual({ detail: true });
    expect(seen).toHaveLength(1);
  });

  it.each([
    [502, 'source_unreachable'],
    [503, 'no_permit'],
    [504, 'processing_timeout'],
  ])('of an internal service with %d %s is returned to the caller', async (status, error) => {
    replies = [answer(status, { error })];
    expect((await send(get)).status).toBe(status);
    expect(seen).toHaveLength(1);
  });

  it('that is not JSON is an error of the other service', async () => {
    replies = [answer(200, '<html>')];
    const received = await send(get);
    expect(() => received.json()).toThrow(unavailable);
  });

  it('that is too large is not read to the end', async () => {
    replies = [
      (_request, response) => {
        response.on('error', () => undefined);
        const fill = () => {
          while (!response.destroyed && response.write('x'.repeat(64 * 1024)));
          if (!response.destroyed) response.once('drain', fill);
        };
        fill();
      },
    ];
    await expect(send(get, { maxResponseBytes: 1000 })).rejects.toEqual(unavailable);
    expect(seen).toHaveLength(1);
  });
});

describe('a call', () => {
  it('encodes parameters and the query into the URL, and omits absent values', async () => {
    replies = [answer(200)];
    const params = { userId: 'a/b?c', kind: 'x' };
    const query = { limit: 20, cursor: undefined, q: 'ä &' };
    await send({ method: 'GET', route: '/people/:userId/:kind', params, query });
    expect(seen[0]?.url).toBe('/people/a%2Fb%3Fc/x?limit=20&q=%C3%A4+%26');
  });

  it('sends its body, its key and the trace', async () => {
    replies = [answer(200)];
    const trace = { ...newTrace(), state: 'a=1' };
    const scope = { requestId: 'r-1', trace, baggage: 'user=7' };
    await inScope(scope, () =>
      send(
        { ...post, path: '/v1/x?y=1', headers: { 'x-more': '1' } },
        { internalKey: 'k', baseUrl: `${address}/base/` },
      ),
    );
    expect(seen[0]?.url).toBe('/base/v1/x?y=1');
    expect(seen[0]?.headers).toMatchObject({
      'x-internal-key': 'k',
      'content-type': 'application/json',
      'x-more': '1',
      'x-request-id': 'r-1',
      traceparent: `00-${trace.traceId}-${trace.spanId}-00`,
      tracestate: 'a=1',
      baggage: 'user=7',
    });
  });

  it.each([
    ['sends the user it acts for with the key', { internalKey: 'k' }, 'a user', 'a user'],
    ['sends no user if it has the rights of a server', { internalKey: 'k' }, null, undefined],
    ['sends no user to an external service', { isInternal: false }, 'a user', undefined],
  ])('rejects %s', async (_what, options, onBehalfOf, named) => {
    replies = [answer(200)];
    await send({ method: 'POST', route: '/v1/sign/image', onBehalfOf }, options);
    expect([seen[0]?.url, seen[0]?.headers['x-on-behalf-of']]).toEqual(['/v1/sign/image', named]);
  });

  it('sends external services the trace only', async () => {
    replies = [answer(200)];
    await inScope({ requestId: 'r-1', trace: newTrace(), baggage: 'user=7' }, () => send(get, { isInternal: false }));
    expect(seen[0]?.headers.traceparent).toBeDefined();
    for (const name of ['baggage', 'x-request-id', 'x-internal-key']) expect(seen[0]?.headers[name]).toBeUndefined();
  });

  it('ends when its caller aborts', async () => {
    replies = [never];
    const controller = new AbortController();
    const sent = send({ ...get, signal: controller.signal });
    await expect.poll(() => seen.length).toBe(1);
    controller.abort(new Error('gone'));
    await expect(sent).rejects.toThrow('gone');
  });
});

it('throws at once inside a transaction', async () => {
  const db = { transaction: () => ({ execute: (work: (tx: object) => unknown) => work({}) }) };
  await expect(transaction(db as never, () => send(get))).rejects.toThrow(/inside a transaction/);
  expect(seen).toHaveLength(0);
});

describe('repeats', () => {
  it.each<[string, Reply]>([
    ['a broken connection', hangUp],
    ['502', answer(502, 'bad gateway')],
    ['503 engine_unavailable', answer(503, { error: 'engine_unavailable' })],
    ['504 from a proxy', answer(504, '')],
  ])('retries after %s if the call is idempotent', async (_name, failure) => {
    replies = [failure, failure, answer(200)];
    expect((await send(get)).status).toBe(200);
    expect(seen).toHaveLength(3);
  });

  it('gives up after three attempts', async () => {
    replies = [hangUp];
    await expect(send(get)).rejects.toEqual(unavailable);
    expect(seen).toHaveLength(3);
  });

  it.each<[string, Reply]>([
    ['a broken connection', hangUp],
    ['503', answer(503, { error: 'engine_unavailable' })],
  ])('%s: does not retry a POST', async (_name, failure) => {
    replies = [failure, answer(200)];
    await expect(send(post)).rejects.toEqual(unavailable);
    expect(seen).toHaveLength(1);
  });

  it.each(['draining', 'overloaded'])('retries a POST that was rejected unread (%s)', async (error) => {
    replies = [answer(503, { error }), answer(201)];
    expect((await send(post)).status).toBe(201);
  });

  it('retries an idempotent POST', async () => {
    replies = [hangUp, answer(201)];
    expect((await send({ ...post, idempotent: true })).status).toBe(201);
  });

  it('does not retry after 500', async () => {
    replies = [answer(500, { error: 'internal_error' })];
    await expect(send(get)).rejects.toEqual(unavailable);
    expect(seen).toHaveLength(1);
  });
});

describe('an unavailable service', () => {
  it('results in engine_unavailable', async () => {
    server.close();
    await expect(send(post)).rejects.toEqual(unavailable);
  });

  it('is called within the deadline, retries included', async () => {
    replies = [never];
    await expect(send(get, { timeoutMs: 100 })).rejects.toEqual(unavailable);
    await expect(send({ ...get, timeoutMs: 50 })).rejects.toEqual(unavailable);
  });

  it('counts a body that stops half-way as a failure', async () => {
    replies = [
      (_request, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('x');
      },
    ];
    await expect(send(get, { timeoutMs: 100 })).rejects.toEqual(unavailable);
  });

  it('is not called for a while after several failures, and then called again', async () => {
    replies = [hangUp];
    await expect(send(post)).rejects.toEqual(unavailable);
    for (let count = 0; count < 10; count += 1) await expect(send(post)).rejects.toEqual(unavailable);
    expect(seen.length).toBe(5);
    replies = [answer(200)];
    nowMs += 2001;
    expect((await send(post)).status).toBe(200);
    expect((await send(post)).status).toBe(200);
  });

  it('does not count as down because of its responses or of callers that abort', async () => {
    replies = [answer(503, { error: 'no_permit' })];
    for (let count = 0; count < 8; count += 1) await send(post);
    replies = [never];
    for (let count = 0; count < 8; count += 1) {
      const controller = new AbortController();
      const sent = send({ ...post, signal: controller.signal });
      await sleep(5);
      controller.abort();
      await expect(sent).rejects.toThrow();
    }
    replies = [answer(200)];
    expect((await send(post)).status).toBe(200);
  });
});
