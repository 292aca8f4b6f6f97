/** docs/security.md lists every request that the server makes, and nothing else. */
import { describe, expect, it } from 'vitest';
import { findRequests, requestsIn } from './source.fixture.ts';
import { calls, otherRequests } from './table.fixture.ts';

const found = findRequests();

describe('calls between services', () => {
  it('are all in the table, and the table has no others', () => {
    const made = found.flatMap(({ file, endpoints }) => endpoints.map((endpoint) => `${file}: ${endpoint}`));
    const listed = new Set(calls.map(({ file, endpoint }) => `${file}: ${endpoint}`));
    expect(made.length).toBeGreaterThan(10);
    expect([...listed].sort()).toEqual(made.sort());
  });

  it('have rights that exist', () => {
    expect(calls.filter(({ rights }) => !['user', 'server', 'operator', 'none'].includes(rights))).toEqual([]);
  });
});

it('all other requests are in their table, and the table has no others', () => {
  const made = found.filter(({ hasOthers }) => hasOthers).map(({ file }) => file);
  expect([...otherRequests].sort()).toEqual(made.sort());
});

/** Each could bypass the tables if the search did not find it. */
describe('the search for requests', () => {
  it.each([
    ["media.send({ method: 'GET', route: '/v1/assets' })", 'GET /v1/assets'],
    ["this.deps.media.send({ method: 'GET', path: '/v1/assets?limit=1' })", 'GET /v1/assets'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: It is source code.
    ["(await open()).send({ method: 'POST', path: `/people/${id}` })", 'POST /people/*'],
    ['media.send(call)', '* *'],
    ["forward(media, 'GET', '/v1/assets')", 'GET /v1/assets'],
    ['forward(media, method, route)', '* *'],
    ["readFrom(media, '/v1/assets', { ownerId })", 'GET /v1/assets'],
    ['readFrom(media, route)', 'GET *'],
    ["addForwards(app, guard, media, [['post', '/api/x', '/v1/x', 'X']])", 'POST /v1/x'],
    ["addForwards(app, guard, media, [[...(['get', '/api/x', '/v1/x'] as const), ...more]])", 'GET /v1/x'],
    ['addForwards(app, guard, media, [row])', '* *'],
    ["onRecords({ method: 'PUT', path: '/v1/accounts/credits' })", 'PUT /v1/accounts/credits'],
  ])('finds the call %s', (text, endpoint) => {
    expect(requestsIn('planted.ts', text).endpoints).toEqual([endpoint]);
  });

  it.each([
    'await fetch(url)',
    'await globalThis.fetch(url)',
    'new WebSocket(url)',
    "import { outgoingFetch } from '#platform/version.ts';",
    "import { request } from 'node:https';",
    "import { connect, isIP } from 'node:net';",
    "import http from 'http';",
    "import * as tls from 'node:tls';",
    "import { Agent } from 'undici';",
    "await import('undici')",
    "await import('node:http')",
    'createClient({ name, baseUrl, isInternal: false })',
  ])('finds the request of %s', (text) => {
    expect(requestsIn('planted.ts', text).hasOthers).toBe(true);
  });

  it.each([
    "import type { Agent } from 'undici';",
    "import { type Agent, STATUS_CODES } from 'node:http';",
    'reply.code(200).send({ ok: true })',
    'deps.fetch(ref)',
  ])('finds none in %s', (text) => {
    expect(requestsIn('planted.ts', text)).toMatchObject({ endpoints: [], hasOthers: false });
  });
});
