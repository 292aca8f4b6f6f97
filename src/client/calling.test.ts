import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWire, type Wire, type WireResponse } from '../../test/client/wires.ts';
import { createAtelier } from './atelier.ts';
import type { Access } from './calling.ts';
import { AtelierError } from './errors.ts';

let wire: Wire;
beforeAll(async () => {
  wire = await startWire();
});
afterAll(() => wire.close());

const atelierOf = (access: Omit<Access, 'url'> = {}) =>
  createAtelier({
    urls: { media: wire.url, auth: `${wire.url}/`, notify: wire.url, memory: wire.url },
    credential: { accessToken: () => 'a' },
    patience: { firstPauseMs: 1, longestPauseMs: 5 },
    ...access,
  });
type Atelier = ReturnType<typeof atelierOf>;

const refusal = (
  status: number,
  error: string,
  more: Partial<WireResponse> & { readonly fields?: object } = {},
): WireResponse => ({
  status,
  headers: more.headers ?? {},
  body: { error, message: 'No.', requestId: 'r-1', ...more.fields },
});
const unable = refusal(503, 'engine_unavailable');
const cut: WireResponse = { fate: 'cut' };

describe('calls that are retried', () => {
  const sign = (atelier: Atelier) => atelier.media.signImages({ refs: [] });
  const copy = (atelier: Atelier) => atelier.media.copyAsset({ fromAssetId: 'a', toScopeKind: 'b', toScopeId: 'c' });
  const mail = (idempotencyKey?: string) => (atelier: Atelier) =>
    atelier.notify.sendEmail({ from: 'a@b.c', to: 'a@b.c', subject: 's' }, { idempotencyKey });

  it.each<[string, (atelier: Atelier) => Promise<unknown>, readonly WireResponse[], number, string | undefined]>([
    ['a GET after an interruption', (it) => it.media.listAssets(), [cut, cut, {}], 3, undefined],
    ['a GET, up to four times', (it) => it.media.listAssets(), [unable], 4, 'engine_unavailable'],
    ['a GET, up to four times without a response', (it) => it.media.listAssets(), [cut], 4, 'unreachable'],
    ['a DELETE', (it) => it.media.deleteAssets({ ids: ['a'] }), [unable, {}], 2, undefined],
    ['a PUT', (it) => it.memory.editMemory('a', { content: 'b' }), [unable, {}], 2, undefined],
    ['a read-only POST', sign, [cut, refusal(429, 'rate_limited'), refusal(500, 'internal_error'), {}], 4, undefined],
    ['not a POST that creates something, if it is rejected', copy, [unable, {}], 1, 'engine_unavailable'],
    ['not a POST that creates something, if it is interrupted', copy, [cut, {}], 1, 'unreachable'],
    ['a mail with a key', mail('k'), [cut, {}], 2, undefined],
    ['not a mail without a key', mail(), [cut, {}], 1, 'unreachable'],
    ['not after a permanent error', sign, [refusal(403, 'forbidden'), {}], 1, 'forbidden'],
    ['not after a permanent error of a proxy', sign, [{ status: 404, body: '<html>' }, {}], 1, 'http_404'],
    ['treats a proxy’s page as an error', sign, [{ body: '<html>' }, {}], 1, 'unexpected_answer'],
    ['not the readiness check', (it) => it.media.checkReadiness(), [unable, {}], 1, 'engine_unavailable'],
  ])('%s', async (_, call, response, calls, code) => {
    wire.respond(...response);
    const outcome = await call(atelierOf()).then(
      () => undefined,
      (error: unknown) => (error instanceof AtelierError ? error.code : error),
    );
    expect([wire.seen.length, outcome]).toEqual([calls, code]);
  });

  it('after Retry-After, in seconds or as a date, and not earlier', async () => {
    const inTwoSeconds = () => new Date(Date.now() + 2000).toUTCString();
    for (const wait of [() => '1', inTwoSeconds]) {
      wire.respond(refusal(503, 'draining', { headers: { 'retry-after': wait() } }), {});
      const startedMs = performance.now();
      await sign(atelierOf());
      // A shorter time would be wrong, and a longer one is acceptable.
      expect(performance.now() - startedMs).toBeGreaterThan(900);
      expect(wire.seen).toHaveLength(2);
    }
  });

  it('not after a Retry-After that exceeds the deadline: the error is thrown immediately', async () => {
    wire.respond(refusal(429, 'rate_limited', { headers: { 'retry-after': '3600' } }));
    await expect(sign(atelierOf())).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 3_600_000 });
    expect(wire.seen).toHaveLength(1);
  });
});

describe('a call ends', () => {
  it('at its deadline, regardless of the service', async () => {
    wire.respond({ fate: 'silence' });
    const late = { code: 'timeout', status: 0 };
    await expect(atelierOf().media.listAssets({}, { timeoutMs: 50 })).rejects.toMatchObject(late);
    await expect(atelierOf({ timeoutMs: 50 }).media.listAssets()).rejects.toMatchObject(late);
    const copy = { fromAssetId: 'a', toScopeKind: 'b', toScopeId: 'c' };
    await expect(atelierOf().media.copyAsset(copy, { timeoutMs: 50 })).rejects.toMatchObject(late);
  });

  it('if its signal aborts, with its reason: before the call, while waiting, and between two attempts', async () => {
    const reason = new Error('enough');
    await expect(atelierOf().media.listAssets({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    for (const response of [
      { fate: 'silence' },
      refusal(503, 'draining', { headers: { 'retry-after': '30' } }),
    ] as const) {
      wire.respond(response);
      const leaving = new AbortController();
      const called = atelierOf().media.listAssets({}, { signal: leaving.signal });
      await expect.poll(() => wire.seen.length).toBe(1);
      leaving.abort(reason);
      await expect(called).rejects.toBe(reason);
    }
  });
});

describe('credentials', () => {
  it.each([
    [{ accessToken: async () => 'token' }, { authorization: 'Bearer token' }],
    [{ internalKey: 'key' }, { 'x-internal-key': 'key' }],
    [{ adminToken: 'token' }, { 'x-admin-token': 'token' }],
    [undefined, {}],
  ])('%j', async (credential, headers) => {
    wire.respond({});
    await atelierOf({ credential, headers: { 'accept-language': 'ja' } }).media.listAssets();
    const sent = wire.seen[0]?.headers ?? {};
    const names = ['authorization', 'x-internal-key', 'x-admin-token'];
    expect(Object.fromEntries(names.flatMap((name) => (sent[name] ? [[name, sent[name]]] : [])))).toEqual(headers);
    expect(sent['accept-language']).toBe('ja');
  });

  it.each([
    ['a better token', 'new', [401, 200], undefined],
    ['a better token that is rejected as well', 'new', [401, 401, 200], 'unauthorized'],
    ['the same token again', 'old', [401, 200], 'unauthorized'],
  ])('401: %s', async (_, renewed, statuses, code) => {
    wire.respond(...statuses.map((status) => (status === 401 ? refusal(401, 'unauthorized') : {})));
    const accessToken = (refused?: string) => (refused === undefined ? 'old' : renewed);
    // This applies to non-repeatable calls too, because the service did no work.
    const copied = atelierOf({ credential: { accessToken } }).media.copyAsset({
      fromAssetId: 'a',
      toScopeKind: 'b',
      toScopeId: 'c',
    });
    expect(
      await copied.then(
        () => undefined,
        ({ code: response }) => response,
      ),
    ).toBe(code);
    const tried = renewed === 'new' ? ['Bearer old', 'Bearer new'] : ['Bearer old'];
    expect(wire.seen.map(({ headers }) => headers.authorization)).toEqual(tried);
  });
});

it('an error contains what the service returned', async () => {
  const issues = [{ path: 'body.refs.0', message: 'must be a string' }];
  wire.respond(refusal(400, 'invalid_request', { fields: { issues, more: 7 } }));
  const error: unknown = await atelierOf()
    .media.signImages({ refs: [] })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(AtelierError);
  expect(error).toMatchObject({
    code: 'invalid_request',
    status: 400,
    message: 'No.',
    requestId: 'r-1',
    fields: ['body.refs.0'],
    issues,
    body: { more: 7 },
  });
});

it('encodes paths, queries and URLs', async () => {
  wire.respond({});
  const { memory, auth, media } = atelierOf();
  await memory.adminReadProfile('group', 'a/b?c');
  await media.listAssets({ kind: 'a&b', cursor: null, limit: 3 });
  const here = { next: 'http://localhost:3000/#a' };
  expect(wire.seen.map(({ url }) => url)).toEqual(['/admin/profiles/group/a%2Fb%3Fc', '/v1/assets?kind=a%26b&limit=3']);
  expect(auth.loginUrl(here)).toBe(`${wire.url}/login?next=http%3A%2F%2Flocalhost%3A3000%2F%23a`);
});
