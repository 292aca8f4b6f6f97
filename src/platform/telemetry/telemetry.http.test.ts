import { execFile } from 'node:child_process';
import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClient, type HttpClient } from '../http/client.ts';
import { createServer, type HttpServer } from '../http/server.ts';
import { createLog } from '../log.ts';
import { problems } from '../problem.ts';
import { openTelemetry } from './open.ts';
import { noTelemetry, type Telemetry } from './trace.ts';

interface ExportedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly status: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const callerSpanId = '00f067aa0ba902b7';
const recorded = `00-${traceId}-${callerSpanId}-01`;

let collector: Server;
let received: string[];
let lines: string[];
let upstream: HttpServer;
let upstreamHeaders: Record<string, unknown>;
let app: HttpServer;
let client: HttpClient;
let telemetry: Telemetry;

beforeEach(() => {
  received = [];
  lines = [];
});
afterEach(async () => {
  await Promise.all([app.close(), upstream.close(), client.close(), telemetry.stop()]);
  collector?.close();
});

async function startCollector(): Promise<string> {
  collector = createHttpServer(async (request, response) => {
    const chunks = await request.toArray();
    received.push(`${request.method} ${request.url}`, Buffer.concat(chunks).toString());
    response.setHeader('content-type', 'application/json').end('{}');
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
}

/** A service that calls another service. */
async function serve(used: Telemetry): Promise<void> {
  telemetry = used;
  const log = createLog({ level: 'info', destination: { write: (line) => void lines.push(line) } });
  upstream = createServer({ service: 'image', log: createLog({ level: 'silent' }), readiness: {} });
  upstream.post('/v1/ensure', async (request) => {
    upstreamHeaders = request.headers;
    return {};
  });
  const baseUrl = await upstream.listen({ port: 0, host: '127.0.0.1' });
  client = createClient({ name: 'image', baseUrl, isInternal: true, timeoutMs: 2000, telemetry });
  app = createServer({ service: 'media', log, readiness: {}, telemetry });
  app.get('/fit/:id', async () => {
    await client.send({ method: 'POST', path: '/v1/ensure?signature=hunter2', route: '/v1/ensure', json: {} });
    log.info('from deep inside');
    return {};
  });
  app.get('/broken', async () => {
    throw new Error('x');
  });
  app.get('/refused', async () => {
    throw problems.forbidden();
  });
}

async function exported(): Promise<ExportedSpan[]> {
  await telemetry.stop();
  return received
    .filter((_entry, index) => index % 2 === 1)
    .flatMap((body) => JSON.parse(body).resourceSpans)
    .flatMap((resource) => resource.scopeSpans)
    .flatMap((scope) => scope.spans);
}

const attribute = (span: ExportedSpan | undefined, key: string) => {
  const value = span?.attributes.find((candidate) => candidate.key === key)?.value;
  return value?.stringValue ?? value?.intValue;
};

describe('while disabled', () => {
  it('passes the trace on, and writes it to every log line of the request', async () => {
    await serve(noTelemetry);
    const headers = { traceparent: recorded, tracestate: 'a=1', baggage: 'tier=gold', 'x-request-id': 'req-1' };
    await app.inject({ url: '/fit/1', headers });
    expect(upstreamHeaders).toMatchObject({
      traceparent: recorded,
      tracestate: 'a=1',
      baggage: 'tier=gold',
      'x-request-id': 'req-1',
    });
    const logged = lines.map((line) => JSON.parse(line));
    expect(logged.map((line) => line.msg)).toEqual(['from deep inside', 'request']);
    for (const line of logged) expect(line).toMatchObject({ requestId: 'req-1', traceId });
  });

  it('generates a trace for each request without one', async () => {
    await serve(noTelemetry);
    await app.inject({ url: '/fit/1', headers: { traceparent: 'nonsense', tracestate: 'a=1' } });
    const first = String(upstreamHeaders.traceparent);
    expect(first).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(upstreamHeaders.tracestate).toBeUndefined();
    expect(JSON.parse(lines[0] ?? '').traceId).toBe(first.split('-')[1]);
    await app.inject('/fit/1');
    expect(upstreamHeaders.traceparent).not.toBe(first);
  });

  it('does not load the SDK', async () => {
    await serve(noTelemetry);
    const script = `
      import { registerHooks } from 'node:module';
      const loaded = new Set();
      registerHooks({ resolve(name, context, next) { loaded.add(name); return next(name, context); } });
      const { openTelemetry } = await import(${JSON.stringify(new URL('./open.ts', import.meta.url).href)});
      await import(${JSON.stringify(new URL('../http/server.ts', import.meta.url).href)});
      await openTelemetry({ endpoint: undefined, service: 'x' });
      console.log(JSON.stringify([...loaded].filter((name) => /opentelemetry.(sdk|exporter|resources)|otlp/.test(name))));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    expect(JSON.parse(stdout)).toEqual([]);
  });
});

describe('while enabled', () => {
  beforeEach(async () => {
    await serve(await openTelemetry({ endpoint: await startCollector(), service: 'media' }));
  });

  it('sends a span for the request and one for the call made for it', async () => {
    await app.inject({
      url: '/fit/alice?token=hunter2',
      headers: { traceparent: recorded, tracestate: 'a=1', authorization: 'Bearer hunter2' },
    });
    const spans = await exported();
    const request = spans.find((span) => span.kind === 2);
    const call = spans.find((span) => span.kind === 3);
    expect(spans).toHaveLength(2);
    expect(received[0]).toBe('POST /v1/traces');
    expect(request).toMatchObject({ traceId, parentSpanId: callerSpanId, name: 'GET /fit/:id' });
    expect(call).toMatchObject({ traceId, parentSpanId: request?.spanId, name: 'POST /v1/ensure' });
    expect(upstreamHeaders.traceparent).toBe(`00-${traceId}-${call?.spanId}-01`);
    expect(upstreamHeaders.tracestate).toBe('a=1');
    expect(attribute(request, 'http.response.status_code')).toBe(200);
    expect(attribute(request, 'http.route')).toBe('/fit/:id');
    expect(attribute(call, 'peer.service')).toBe('image');
    expect(received.join()).toContain('"service.name"');
    for (const secret of ['hunter2', 'alice']) expect(received.join()).not.toContain(secret);
  });

  it('starts a trace if the request has none, and respects the sampling decision of the caller', async () => {
    await app.inject('/refused');
    await app.inject({ url: '/refused', headers: { traceparent: `00-${traceId}-${callerSpanId}-00` } });
    const spans = await exported();
    expect(spans).toHaveLength(1);
    expect(spans[0]?.parentSpanId ?? '').toBe('');
    expect(spans[0]?.traceId).not.toBe(traceId);
  });

  it('marks only 5xx as errors', async () => {
    for (const url of ['/broken', '/refused', '/nowhere', '/health']) await app.inject(url);
    const spans = await exported();
    expect(
      spans.map((span) => [span.name, attribute(span, 'http.response.status_code'), span.status.code ?? 0]),
    ).toEqual([
      ['GET /broken', 500, 2],
      ['GET /refused', 403, 0],
      ['GET', 404, 0],
      ['GET /health', 200, 0],
    ]);
  });

  it('tolerates a collector that is unavailable', async () => {
    collector.close();
    collector.closeAllConnections();
    expect((await app.inject('/refused')).statusCode).toBe(403);
    await telemetry.stop();
  });
});
