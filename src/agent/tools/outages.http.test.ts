import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, type HttpClient } from '#platform/http/client.ts';
import type { ScriptedAnswer } from '../../../test/agent/provider.fixture.ts';
import { calling, imageAnswer, type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';
import { everyNth, isNightly } from '../../../test/lane.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';

interface Answer {
  readonly status: number;
  readonly body: unknown;
}
const problem = (status: number, error: string, message = 'A sentence.'): Answer => ({
  status,
  body: { error, message, requestId: 'r' },
});

/** Replaces a service, with the configured response. Without one it does not respond. */
let server: Server;
let answer: Answer | undefined;
let client: HttpClient;
let withoutMedia: ScriptedRig;
let withoutMemory: ScriptedRig;
beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    if (answer === undefined) return;
    const body = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = createClient({
    name: 'media',
    baseUrl,
    isInternal: true,
    internalKey: 'k',
    timeoutMs: 500,
    failFast: false,
  });
  [withoutMedia, withoutMemory] = await Promise.all([
    startScripted({ changes: { media: client } }),
    startScripted({ changes: { memory: client } }),
  ]);
  const png = imageAnswer(await makeImage('png'));
  withoutMedia.provider.on('a bee', png);
  withoutMemory.provider.on('a bee', png);
});
afterAll(async () => {
  await Promise.all([withoutMedia.close(), withoutMemory.close()]);
  await client.close();
  server.close();
  server.closeAllConnections();
});

const outages: readonly (readonly [string, Answer | undefined])[] = [
  ['does not answer', undefined],
  ['500 internal_error', problem(500, 'internal_error')],
  ['500 of a proxy', { status: 500, body: '<html>' }],
  ['502', { status: 502, body: '' }],
  ['503 engine_unavailable', problem(503, 'engine_unavailable')],
  ['503 screening_unavailable', problem(503, 'screening_unavailable')],
  ['503 draining', problem(503, 'draining')],
  ['401: our key is not known there', problem(401, 'unauthorized')],
  ['403', problem(403, 'forbidden')],
  ['404', problem(404, 'not_found')],
  ['429', problem(429, 'rate_limited')],
  ['200 without JSON', { status: 200, body: 'hello' }],
  ['200 with something else', { status: 200, body: { hello: 1 } }],
];

describe('without the media service', () => {
  // A request without an answer is repeated for a minute.
  it.each(isNightly ? outages : outages.slice(1, 4))('an image cannot be stored: %s', async (_title, said) => {
    const user = await withoutMedia.user('pro', 100);
    answer = said;
    const { status, tools } = await withoutMedia.runScript(user, calling('generateImage', { prompt: 'a bee' }));
    const message = 'The image could not be generated or stored.';
    expect(status).toBe('completed');
    expect(tools[0]?.output).toMatchObject({ status: 'failed', failure: { code: 'provider_failed', message } });
    expect(await withoutMedia.credits(user)).toBe(99);
  });

  it.each([
    [400, 'invalid_request'],
    [413, 'payload_too_large'],
    [422, 'undecodable_image'],
    [451, 'csam_blocked'],
  ])('%i is about the image: an output, in the words of the service', async (status, code) => {
    const user = await withoutMedia.user('pro', 100);
    answer = problem(status, code, `What ${code} says.`);
    const outcome = await withoutMedia.runScript(user, calling('generateImage', { prompt: 'a bee' }));
    expect(outcome.status).toBe('completed');
    const failure = { code: 'rejected', message: `What ${code} says.`, retryable: false };
    expect(outcome.tools[0]?.output).toMatchObject({ status: 'failed', failure });
    expect(await withoutMedia.credits(user)).toBe(99);
  });

  it('messages are read without addresses; files of the library cannot be attached (503), others can', async () => {
    const user = await withoutMedia.user('pro', 100);
    answer = undefined;
    const say: readonly ScriptedAnswer[] = [{ text: 'I see.' }];
    const { threadId } = await withoutMedia.runScript(user, say);
    const file = { type: 'file', mediaType: 'image/png', url: 'asset:00000000-0000-4000-8000-000000000000' };
    const body = { threadId, message: { role: 'user', parts: [file] } };
    const refused = await user.call('POST', '/task', body);
    expect([refused.status, refused.body.error]).toEqual([503, 'engine_unavailable']);
    expect(refused.headers.get('retry-after')).not.toBeNull();
    const forUser = await withoutMedia.server.call('POST', '/task', { ...body, userId: user.userId });
    expect(forUser.status).toBe(503);
    const other = { ...file, url: 'https://images.example/a.png' };
    const started = await user.call('POST', '/task', { threadId, message: { role: 'user', parts: [other] } });
    expect(started.status).toBe(201);
    await user.ended(String(started.body.taskId));
    const { parts = [] } = (await user.messages(threadId))[2] ?? {};
    expect(parts).toEqual([other]);
  });
});

describe('without the memory service, a turn continues, and its tools report the failure', () => {
  it.each(everyNth(outages, 4))('%s', async (_title, said) => {
    const user = await withoutMemory.user('pro', 100);
    answer = said;
    const calls = [
      ['saveMemory', { content: 'I like bees' }],
      ['recallMemory', { query: 'bees' }],
    ] as const;
    for (const [name, args] of calls) {
      const { status, tools } = await withoutMemory.runScript(user, calling(name, args));
      expect(status).toBe('completed');
      expect(tools[0]?.output).toEqual({
        status: 'failed',
        failure: {
          code: 'memory_unavailable',
          message: 'The memory service is not responding right now.',
          retryable: true,
        },
      });
    }
    expect(await withoutMemory.credits(user)).toBe(98);
  });
});

it.each([
  ['memory_full', 'The memory is full.'],
  ['memory_paused', 'The user has paused the memory, so nothing is remembered.'],
])('reports %s to the model as a failure that no retry mends', async (code, message) => {
  const user = await withoutMemory.user('pro', 100);
  answer = problem(409, code);
  const { status, tools } = await withoutMemory.runScript(user, calling('saveMemory', { content: 'I like bees' }));
  expect(status).toBe('completed');
  expect(tools[0]?.output).toEqual({
    status: 'failed',
    failure: { code, message, retryable: false },
  });
});
