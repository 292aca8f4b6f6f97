/** Tools of MCP servers in runs, with the SDK's own server on the other side (docs/specification/agent.md#tools-by-setting). */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { StartFault } from '#platform/lifecycle.ts';
import { createLog } from '#platform/log.ts';
import { type ForeignServer, startForeignServer } from '../../../test/agent/mcp.fixture.ts';
import { newThread } from '../../../test/agent/rig.fixture.ts';
import {
  calling,
  imageAnswer,
  type Outcome,
  type ScriptedRig,
  startScripted,
} from '../../../test/agent/scripted.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { readMcpServers } from '../mcpservers.ts';
import { maxText } from '../tools/foreign.ts';
import { openToolServers } from './toolservers.ts';

let foreign: ForeignServer;
let rig: ScriptedRig;
let png: Buffer;
const secret = 'Bearer a-secret-of-the-server';
/** No server of these tests learns who a user is. */
const noIdentity = { tokenFor: () => Promise.reject(new Error('no identity')), keys: async () => ({ keys: [] }) };
const hanging = new Set<() => void>();
const stoppable = { begun: Promise.withResolvers<void>(), canceled: Promise.withResolvers<void>() };

function define(server: McpServer): void {
  const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });
  server.registerTool('echo', { description: 'Repeats.', inputSchema: { words: z.string() } }, ({ words }) =>
    text(words),
  );
  server.registerTool('fail', {}, () => ({ ...text('no such city'), isError: true }));
  server.registerTool('hang', {}, () => new Promise((resolve) => hanging.add(() => resolve(text('late')))));
  server.registerTool('stoppable', {}, async (extra) => {
    stoppable.begun.resolve();
    await once(extra.signal, 'abort');
    stoppable.canceled.resolve();
    return text('canceled');
  });
  server.registerTool('huge', {}, () => text('x'.repeat(maxText + 1)));
  server.registerTool('endless', {}, () => text('x'.repeat(17 * 1024 * 1024)));
  server.registerTool('paint', {}, () => ({
    content: [
      { type: 'text', text: 'Two images.' },
      { type: 'image', mimeType: 'image/png', data: png.toString('base64') },
      { type: 'image', mimeType: 'image/png', data: Buffer.from('no image').toString('base64') },
    ],
  }));
  server.registerTool('slow', {}, async (extra) => {
    const token = extra._meta?.progressToken ?? '';
    for (let progress = 1; progress <= 3; progress += 1) {
      await extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken: token, progress, total: 3, message: `step ${progress}` },
      });
      await new Promise((resolve) => setTimeout(resolve, 1500));
    }
    return text('done slowly');
  });
}

const lines: string[] = [];
const log = createLog({
  level: 'info',
  destination: new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk));
      done();
    },
  }),
});

beforeAll(async () => {
  png = await makeImage('png', { seed: 4711 });
  foreign = await startForeignServer(define);
  const mcpServers = readMcpServers(
    JSON.stringify({
      other: { url: foreign.url, headers: { authorization: secret } },
      gone: { url: 'http://127.0.0.1:9/mcp' },
    }),
  );
  rig = await startScripted({
    settings: { mcpServers, mcpAllowPrivate: true },
    changes: { pace: { toolPace: { callMs: 4000, listMs: 5000, pauseMs: 0 } } },
  });
});
afterAll(async () => {
  for (const end of hanging) end();
  await rig.close();
  await foreign.close();
});

const use = async (tool: string, input: object = {}): Promise<Outcome> =>
  rig.runScript(await rig.user(), calling(tool, input));
const outputOf = ({ tools }: Outcome) => tools[0]?.output as Record<string, unknown>;

describe.concurrent('a tool of an MCP server', () => {
  it('is offered to the model with its schema, in addition to built-in tools, without tools of a server that is down', async () => {
    const user = await rig.user();
    const { status } = await rig.runScript(user, [{ text: 'Hello.' }]);
    expect(status).toBe('completed');
    const lastRequest = rig.provider.requests.findLast(({ path }) => path.endsWith('/chat/completions'));
    const { tools = [] } = (lastRequest?.body ?? {}) as {
      tools?: { function: { name: string; parameters: object } }[];
    };
    const names = tools.map((tool) => tool.function.name);
    expect(names).toEqual(expect.arrayContaining(['other_echo', 'other_hang', 'generateImage', 'saveMemory']));
    expect(names.filter((name) => name.startsWith('gone_'))).toEqual([]);
    expect(tools.find((tool) => tool.function.name === 'other_echo')?.function.parameters).toMatchObject({
      type: 'object',
      properties: { words: { type: 'string' } },
      required: ['words'],
    });
  });

  it('is called, and its text is in the message and sent to the model', async () => {
    const outcome = await use('other_echo', { words: 'one two' });
    expect(outcome.status).toBe('completed');
    expect(outcome.tools[0]).toMatchObject({ type: 'tool-other_echo', state: 'output-available' });
    expect(outputOf(outcome)).toEqual({ status: 'completed', text: 'one two' });
    expect(foreign.requests.every(({ headers }) => headers.authorization === secret)).toBe(true);
    expect(foreign.requests[0]?.headers['user-agent']).toMatch(/^Atelier\//);
  });

  it.each([
    ['other_fail', {}, { code: 'tool_failed', message: 'no such city', retryable: false }],
    ['other_echo', { words: 7 }, { code: 'tool_failed', message: expect.stringContaining('words'), retryable: false }],
    ['other_hang', {}, { code: 'tool_timeout', message: expect.stringContaining('in time'), retryable: true }],
    ['other_endless', {}, { code: expect.stringMatching(/^tool_(timeout|unavailable)$/), retryable: true }],
  ])('%s %o: the tool fails, and the run continues at its usual price', async (tool, input, failure) => {
    const user = await rig.user('pro', 100);
    const outcome = await rig.runScript(user, calling(tool, input));
    expect([outcome.status, outputOf(outcome).status]).toEqual(['completed', 'failed']);
    expect(outputOf(outcome).failure).toMatchObject(failure);
    expect(await rig.credits(user)).toBe(99);
  });

  it('has a bounded output', async () => {
    const { text } = outputOf(await use('other_huge')) as { text: string };
    expect(text.slice(0, maxText)).toBe('x'.repeat(maxText));
    expect(text.slice(maxText)).toBe(`\n[cut after ${maxText} characters]`);
  });

  it('returns images, which become assets of the user for free', async () => {
    const user = await rig.user('pro', 100);
    const outcome = await rig.runScript(user, calling('other_paint', {}));
    const output = outputOf(outcome);
    expect(output).toMatchObject({
      status: 'completed',
      kind: 'image',
      mime: 'image/png',
      assetId: expect.any(String),
    });
    expect(output.text).toMatch(/^Two images\.\n\[image 2 was not stored: .+\]$/);
    const stored = await fetch(String(output.url));
    expect(Buffer.from(await stored.arrayBuffer())).toEqual(png);
    expect(await rig.credits(user)).toBe(99);
    const mine = await rig.media.client(user.credential).get<{ assets: { assetId: string }[] }>('/v1/assets');
    expect(mine.body.assets.map(({ assetId }) => assetId)).toEqual([output.assetId]);
    const theirs = rig.media.client((await rig.user()).credential);
    const { body } = await theirs.post<Record<string, { ready: boolean }>>('/v1/sign/image', {
      refs: [output.assetId],
    });
    expect(body[String(output.assetId)]?.ready).toBe(false);
  });

  it('returns an image that the model can edit, in the same run', async () => {
    const user = await rig.user('pro', 100);
    rig.provider.on('make it blue', imageAnswer(png));
    const [paint, edit] = [calling('other_paint', {}), calling('editImage', { prompt: 'make it blue' }, 'call_1')];
    const { tools } = await rig.runScript(user, [...paint.slice(0, 1), ...edit]);
    expect(tools[1]?.output).toMatchObject({ kind: 'image', status: 'completed' });
    const order = rig.provider.requests.find(({ path }) => path.endsWith('/images/edits'));
    expect(String(order?.body)).toContain(png.toString('latin1'));
  });

  it('may exceed the idle limit while it reports progress, which readers see', async () => {
    const user = await rig.user();
    rig.provider.on('<slowly>', ...calling('other_slow', {}));
    const taskId = await user.ask(newThread(), '<slowly>');
    const { events } = await user.stream(taskId);
    const shown = events.filter(({ data }) => data.type === 'data-tool-progress');
    expect(shown.length).toBeGreaterThan(0);
    expect(shown[0]?.data).toMatchObject({ transient: true, data: { total: 3, message: 'step 1' } });
    const { threadId } = await user.task(taskId);
    const [, answer] = await user.messages(threadId);
    expect(answer?.parts.map(({ type }) => type)).not.toContain('data-tool-progress');
    expect(JSON.stringify(answer)).toContain('done slowly');
  });
});

it('a stopped run cancels its call at the MCP server', async () => {
  const user = await rig.user();
  rig.provider.on('<stop it>', ...calling('other_stoppable', {}));
  const taskId = await user.ask(newThread(), '<stop it>');
  await stoppable.begun.promise;
  expect((await user.call('DELETE', `/task/${taskId}`)).status).toBe(204);
  await stoppable.canceled.promise;
  expect(await user.ended(taskId)).toMatchObject({ status: 'aborted' });
});

describe('the list of tools', () => {
  const open = (server: ForeignServer, pace = {}) =>
    openToolServers({
      servers: readMcpServers(JSON.stringify({ s: { url: server.url, headers: { authorization: secret } } })),
      allowPrivate: true,
      identity: noIdentity,
      log,
      pace,
    });
  const signal = new AbortController().signal;
  const noTools = () => undefined;

  it('is read once while it is fresh, again when the server announces a change', async () => {
    let names = ['one'];
    const server = await startForeignServer((definition) => {
      for (const name of names) definition.registerTool(name, {}, () => ({ content: [] }));
    });
    const servers = await open(server);
    const list = async () => (await servers.list(randomUUID())).map(({ name }) => name);
    expect(await list()).toEqual(['s_one']);
    const read = server.requests.length;
    expect(await list()).toEqual(['s_one']);
    expect(server.requests.filter(({ method }) => method === 'POST')).toHaveLength(3);
    expect(read).toBeGreaterThan(2);
    names = ['one', 'two'];
    // The stream for notifications is open.
    await expect.poll(() => server.requests.some(({ method }) => method === 'GET')).toBe(true);
    const [session] = server.sessions.values();
    session?.registerTool('two', {}, () => ({ content: [] }));
    await expect.poll(list).toEqual(['s_one', 's_two']);
    await servers.close();
    await server.close();
  });

  it('is read again after its time, and a session that the server forgot is opened again', async () => {
    const server = await startForeignServer((definition) => {
      definition.registerTool('one', {}, () => ({ content: [{ type: 'text', text: 'ok' }] }));
    });
    const servers = await open(server, { freshMs: 0 });
    const [tool] = await servers.list(randomUUID());
    server.forget();
    expect(await tool?.call({}, { signal })).toMatchObject({ content: [{ text: 'ok' }] });
    expect((await servers.list(randomUUID())).map(({ name }) => name)).toEqual(['s_one']);
    await servers.close();
    await server.close();
  });

  it('does not fail several calls at once whose session the server forgot', async () => {
    const server = await startForeignServer((definition) => {
      definition.registerTool('one', {}, () => ({ content: [{ type: 'text', text: 'ok' }] }));
    });
    const servers = await open(server);
    const [tool] = await servers.list(randomUUID());
    server.forget();
    const results = await Promise.all(Array.from({ length: 4 }, () => tool?.call({}, { signal })));
    expect(results).toMatchObject(Array.from({ length: 4 }, () => ({ content: [{ text: 'ok' }] })));
    await servers.close();
    await server.close();
  });

  it.each([
    [500, {}, 'it returned 500'],
    [401, {}, 'it returned 401'],
    [302, { location: 'http://127.0.0.1:1/' }, 'it returned a redirect, which is not followed'],
  ])('is empty if the server answers %i, and the log says why without a secret', async (status, headers, reason) => {
    lines.length = 0;
    const server = await startForeignServer(noTools);
    server.answerAllWith(status, headers);
    const servers = await open(server);
    expect(await servers.list(randomUUID())).toEqual([]);
    const lastRequest = server.requests.length;
    // The next run does not wait for it.
    expect(await servers.list(randomUUID())).toEqual([]);
    expect(server.requests).toHaveLength(lastRequest);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ server: 's', reason }]);
    expect(lines.join('')).not.toContain('a-secret');
    await servers.close();
    await server.close();
  });

  it('is empty if the server times out', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/mcp`;
    const servers = await openToolServers({
      servers: [{ name: 's', url, headers: {} }],
      allowPrivate: true,
      identity: noIdentity,
      log,
      pace: { listMs: 100 },
    });
    expect(await servers.list(randomUUID())).toEqual([]);
    await servers.close();
    silent.closeAllConnections();
    silent.close();
  });
});

describe('a private address', () => {
  it.each([
    'http://127.0.0.1:8080/mcp',
    'http://localhost/mcp',
    'http://[::1]/mcp',
    'https://10.1.2.3/mcp',
    'http://169.254.169.254/latest',
    'http://2130706433/mcp',
  ])('%s is a start fault that names the setting', async (url) => {
    const opening = openToolServers({
      identity: noIdentity,
      servers: [{ name: 'inside', url, headers: {} }],
      allowPrivate: false,
      log,
    });
    await expect(opening).rejects.toThrow(StartFault);
    await expect(opening).rejects.toThrow(/^AGENT_MCP_SERVERS: the server `inside`/);
  });

  it('of a name that does not resolve at the start is refused when it does', async () => {
    const servers = [{ name: 'later', url: 'http://does-not-resolve.invalid/mcp', headers: {} }];
    const opened = await openToolServers({ identity: noIdentity, servers, allowPrivate: false, log });
    expect(await opened.list(randomUUID())).toEqual([]);
    await opened.close();
  });
});
