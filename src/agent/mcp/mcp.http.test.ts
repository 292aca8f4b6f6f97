/** `POST /mcp` with the SDK's own client (docs/specification/agent.md#mcp-server). */

import { randomUUID } from 'node:crypto';
import * as v2 from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type CallToolResult, CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withMark } from '#platform/metadata/metadata.ts';
import { type Chatter, testSettings } from '../../../test/agent/rig.fixture.ts';
import { imageAnswer, impatient, json, type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';
import { listen } from '../../../test/agent/userevents.fixture.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { upload } from '../../../test/media/rig.fixture.ts';
import type { GenerationPage } from '../generation/api.ts';
import type { AgentTables } from '../tables.ts';

/** PGlite ends 60 starts before the request of another user has arrived. */
const isPostgres = laneEngines[0]?.name === 'postgres';

let rig: ScriptedRig;
const clients: Client[] = [];
beforeAll(async () => {
  rig = await startScripted({ ...impatient, settings: { maxRunsPerUser: 2 }, changes: { pace: { videoWaitMs: 200 } } });
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await rig.close();
});

async function connect(user: Chatter, url = rig.url): Promise<Client> {
  const client = new Client({ name: 'desktop', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { ...user.credential } },
  });
  // The SDK's own types differ under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<Client['connect']>[0]);
  clients.push(client);
  return client;
}

const callTool = async (
  client: Client,
  name: string,
  input: object,
  onprogress?: () => void,
): Promise<CallToolResult> =>
  CallToolResultSchema.parse(
    await client.callTool({ name, arguments: { ...input } }, undefined, onprogress && { onprogress }),
  );

const textOf = ({ content: [first] }: CallToolResult) => (first?.type === 'text' ? first.text : undefined);
const dataOf = ({ structuredContent = {} }: CallToolResult) => structuredContent;
let seed = 800;
const newImage = () => makeImage('png', { seed: ++seed });

/** A user with 100 credits, connected; and a prompt for which the provider has an image. */
async function prepare(credits = 100) {
  const user = await rig.user('pro', credits);
  const bytes = await newImage();
  const prompt = `mcp image ${randomUUID()}`;
  rig.provider.on(prompt, imageAnswer(bytes));
  return { user, bytes, prompt, client: await connect(user) };
}

const ordersOf = async (user: Chatter, query = '') =>
  (await user.call<GenerationPage>('GET', `/generations${query}`)).body.generations;
const inFlight = async (user: Chatter) => (await ordersOf(user, '?status=running')).length;

describe('the tools', () => {
  it('are six, with schemas', async () => {
    const { client } = await prepare();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'generate_image',
      'edit_image',
      'generate_video',
      'list_assets',
      'save_memory',
      'recall_memory',
    ]);
    expect(tools[0]?.inputSchema).toMatchObject({
      type: 'object',
      required: ['prompt'],
      properties: { prompt: { type: 'string', maxLength: 4000 }, ratio: { description: 'Default: 1:1.' } },
    });
    expect(tools[0]?.description).toContain('an-image-model (2 credits)');
    expect(client.getServerVersion()?.name).toBe('Atelier');
  });

  it.each(['legacy', 'auto'] as const)('serve clients of the second version of the SDK: mode %s', async (mode) => {
    const { user, prompt } = await prepare();
    const client = new v2.Client({ name: 'desktop', version: '2' }, { versionNegotiation: { mode } });
    await client.connect(
      new v2.StreamableHTTPClientTransport(new URL(`${rig.url}/mcp`), {
        requestInit: { headers: { ...user.credential } },
      }),
    );
    const { tools } = await client.listTools();
    expect(tools).toHaveLength(6);
    const made = await client.callTool({ name: 'generate_image', arguments: { prompt } });
    expect(made.isError ?? false).toBe(false);
    const refused = await client.callTool({ name: 'list_assets', arguments: { limit: 51 } });
    expect(refused.structuredContent).toMatchObject({ error: 'invalid_request' });
    await expect(client.callTool({ name: 'none' })).rejects.toThrow('There is no tool named none');
    await client.close();
  });

  it.each([
    ['generate_image', {}, /`prompt` /],
    ['generate_image', { prompt: '  ' }, /`prompt` /],
    ['generate_image', { prompt: 'a', ratio: '2:1' }, /`ratio` /],
    ['edit_image', { prompt: 'a', assetId: 'mine' }, /`assetId` /],
    ['edit_image', { prompt: 'a', assetId: randomUUID(), ratio: '2:1' }, /`ratio` /],
    ['edit_image', { prompt: 'a', assetId: randomUUID(), mask: 'not base64' }, /`mask` /],
    ['edit_image', { prompt: 'a', assetId: randomUUID(), mask: 'R0lGODlh' }, /`mask` /],
    ['edit_image', { prompt: 'a', assetId: randomUUID(), mask: `iVBORw0KGgo${'A'.repeat(699_993)}` }, /`mask` /],
    ['list_assets', { limit: 51 }, /`limit` /],
    ['list_assets', { cursor: 'nonsense' }, /cursor/],
    ['save_memory', { content: '' }, /`content` /],
    ['recall_memory', { query: 7 }, /`query` /],
  ])('%s refuses %o, naming the field', async (name, input, message) => {
    const { client, user } = await prepare();
    const result = await callTool(client, name, input);
    expect([result.isError, dataOf(result).error]).toEqual([true, 'invalid_request']);
    expect(textOf(result)).toMatch(message);
    expect(await rig.credits(user)).toBe(100);
  });

  it('reject an unknown tool', async () => {
    const { client } = await prepare();
    await expect(callTool(client, 'delete_everything', {})).rejects.toThrow('There is no tool named delete_everything');
  });
});

describe('generate_image and edit_image', () => {
  it('store an image of the user, return it, and charge only for it', async () => {
    const { user, bytes, prompt, client } = await prepare();
    const result = await callTool(client, 'generate_image', { prompt });
    expect(result.isError).toBeUndefined();
    const data = dataOf(result);
    expect(data).toMatchObject({ status: 'completed', assetId: expect.any(String), mime: 'image/png', credits: 2 });
    expect(result.content).toMatchObject([
      { type: 'text', text: expect.stringContaining(String(data.assetId)) },
      { type: 'image', mimeType: 'image/jpeg', data: expect.any(String) },
      { type: 'resource_link', uri: data.url, name: data.assetId, mimeType: 'image/png' },
    ]);
    const marked = Buffer.from(withMark(bytes, 'ai'));
    expect(Buffer.from(await (await fetch(String(data.url))).arrayBuffer())).toEqual(marked);
    expect([await rig.credits(user), await inFlight(user)]).toEqual([98, 0]);
    const usage = await user.call<{ days: object[] }>('GET', '/usage');
    expect(usage.body.days).toMatchObject([{ model: 'an-image-model', runs: 0, images: 1, credits: 2 }]);

    const edit = `mcp edit ${randomUUID()}`;
    rig.provider.on(edit, imageAnswer(await newImage()));
    const edited = await callTool(client, 'edit_image', { prompt: edit, assetId: data.assetId });
    expect(dataOf(edited)).toMatchObject({ status: 'completed', assetId: expect.any(String) });
    expect(dataOf(edited).assetId).not.toBe(data.assetId);
    const sent = rig.provider.requests.findLast(({ path }) => path === '/v1/images/edits');
    expect(String(sent?.body)).toContain(marked.toString('latin1'));
    const listed = dataOf(await callTool(client, 'list_assets', {})).assets;
    expect(listed).toMatchObject([
      { assetId: dataOf(edited).assetId },
      { assetId: data.assetId, url: expect.any(String) },
    ]);
  });

  it('send a mask to the provider, for an edit of a part', async () => {
    const { user, bytes, prompt, client } = await prepare();
    const { assetId } = dataOf(await callTool(client, 'generate_image', { prompt }));
    const edit = `mcp part ${randomUUID()}`;
    rig.provider.on(edit, imageAnswer(await newImage()));
    const mask = await newImage();
    const edited = await callTool(client, 'edit_image', { prompt: edit, assetId, mask: mask.toString('base64') });
    expect(dataOf(edited)).toMatchObject({ status: 'completed', credits: 2 });
    const sent = rig.provider.requests.findLast(({ path }) => path === '/v1/images/edits');
    expect(String(sent?.body)).toContain('name="mask"; filename="mask.png"');
    for (const part of [Buffer.from(withMark(bytes, 'ai')), mask])
      expect(String(sent?.body)).toContain(part.toString('latin1'));
    const rows = rig.media.database.queries<AgentTables>().selectFrom('agent_generations').select('input');
    const { input } = await rows
      .where('owner_id', '=', user.userId)
      .orderBy('created_at', 'desc')
      .executeTakeFirstOrThrow();
    expect(input).toEqual({ prompt: edit, references: [assetId] });
  });

  it('send the ratio of an edit to the provider, and otherwise none', async () => {
    const { prompt, client } = await prepare();
    const { assetId } = dataOf(await callTool(client, 'generate_image', { prompt }));
    const bodies: string[] = [];
    for (const ratio of [{ ratio: '9:16' }, {}]) {
      const edit = `mcp ratio ${randomUUID()}`;
      rig.provider.on(edit, imageAnswer(await newImage()));
      const edited = await callTool(client, 'edit_image', { prompt: edit, assetId, ...ratio });
      expect(dataOf(edited)).toMatchObject({ status: 'completed' });
      bodies.push(String(rig.provider.requests.findLast(({ path }) => path === '/v1/images/edits')?.body));
    }
    expect(bodies[0]).toMatch(/name="size"\r\n\r\n1024x1536/);
    expect(bodies[1]).not.toContain('name="size"');
  });

  it('edit no image of another user', async () => {
    const one = await prepare();
    const { assetId } = dataOf(await callTool(one.client, 'generate_image', { prompt: one.prompt }));
    const two = await prepare();
    const result = await callTool(two.client, 'edit_image', { prompt: two.prompt, assetId });
    expect([result.isError, dataOf(result).error]).toEqual([true, 'no_source']);
    expect(await rig.credits(two.user)).toBe(100);
    expect(dataOf(await callTool(two.client, 'list_assets', {})).assets).toEqual([]);
  });

  it.each([
    ['a refusal', json({ error: { message: 'too gaudy' } }, 400), 'rejected', 'too gaudy'],
    ['a failure', json({}, 401), 'provider_failed', '401'],
    ['no image', imageAnswer(Buffer.from('no image')), 'rejected', ''],
  ])('report %s of the provider, for free', async (_title, said, code, message) => {
    const { user, client } = await prepare();
    const prompt = `mcp failing ${randomUUID()}`;
    rig.provider.on(prompt, said);
    const result = await callTool(client, 'generate_image', { prompt });
    expect([result.isError, dataOf(result).error]).toEqual([true, code]);
    expect(textOf(result)).toContain(message);
    expect([await rig.credits(user), await inFlight(user)]).toEqual([100, 0]);
  });

  it('need credits', async () => {
    const { user, prompt, client } = await prepare(1);
    const result = await callTool(client, 'generate_image', { prompt });
    expect([result.isError, dataOf(result).error]).toEqual([true, 'insufficient_credits']);
    expect(await rig.credits(user)).toBe(1);
    expect(rig.provider.requests.some(({ body }) => JSON.stringify(body).includes(prompt))).toBe(false);
  });

  it('count toward the runs in progress, and runs toward them', async () => {
    const { user, client, prompt } = await prepare();
    const hanging = `mcp hanging ${randomUUID()}`;
    rig.provider.on(hanging, { hang: true });
    const pending = [
      callTool(client, 'generate_image', { prompt: hanging }),
      callTool(client, 'generate_image', { prompt: hanging }),
    ];
    await expect.poll(() => inFlight(user)).toBe(2);
    const third = await callTool(client, 'generate_image', { prompt });
    expect([third.isError, dataOf(third).error]).toEqual([true, 'too_many_runs']);
    expect((await user.call('POST', '/task', { threadId: randomUUID(), text: 'hi' })).status).toBe(429);
    const results = await Promise.all(pending);
    expect(results.map((result) => dataOf(result).error)).toEqual(['provider_failed', 'provider_failed']);
    expect([await rig.credits(user), await inFlight(user)]).toEqual([100, 0]);
  });

  it.runIf(isPostgres)('wait for others of their user, and not for those of other users', async () => {
    const [hostile, other] = [await prepare(1), await prepare(1)];
    const ended: string[] = [];
    const begin = async ({ client, prompt }: typeof hostile, name: string) => {
      expect(dataOf(await callTool(client, 'generate_image', { prompt })).error).toBe('insufficient_credits');
      ended.push(name);
    };
    const calls = Array.from({ length: 60 }, () => begin(hostile, 'hostile'));
    await begin(other, 'other');
    expect(ended.length).toBeLessThan(40);
    await Promise.all(calls);
  });

  it('continue after the client disconnects', async () => {
    const { user, client } = await prepare();
    const prompt = `mcp slow ${randomUUID()}`;
    const bytes = await newImage();
    let answer: (() => void) | undefined;
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    rig.provider.on(prompt, () => {
      answer?.();
      return imageAnswer(bytes);
    });
    const call = callTool(client, 'generate_image', { prompt }).catch(() => undefined);
    await asked;
    await client.close();
    await call;
    await expect.poll(() => inFlight(user)).toBe(0);
    expect(await rig.credits(user)).toBe(98);
    const mine = await rig.media.client(user.credential).get<{ assets: object[] }>('/v1/assets');
    expect(mine.body.assets).toHaveLength(1);
  });

  it('fail for free if the service stops during the wait', async () => {
    const { user } = await prepare();
    const other = await rig.another({ settings: { ...testSettings, drainS: 1 } });
    const prompt = `mcp stopped ${randomUUID()}`;
    rig.provider.on(prompt, { hang: true });
    const call = callTool(await connect(user, other.url), 'generate_image', { prompt });
    await expect.poll(() => inFlight(user)).toBe(1);
    await other.drain();
    expect(dataOf(await call)).toMatchObject({ error: 'call_expired' });
    expect([await rig.credits(user), await inFlight(user)]).toEqual([100, 0]);
  });

  it('are generations, with the events of both', async () => {
    const { user, prompt, client } = await prepare();
    const listening = await listen(rig.url, user);
    const { assetId } = dataOf(await callTool(client, 'generate_image', { prompt }));
    const [order] = await ordersOf(user);
    const id = order?.id;
    expect(order).toMatchObject({ kind: 'image', status: 'completed', origin: 'mcp', taskId: id, prompt, credits: 2 });
    expect(order?.items).toMatchObject([{ status: 'completed', assetId }]);
    const place = { threadId: `mcp-${user.userId}`, taskId: id };
    const seen = () => listening.events.map(({ data }) => data);
    await expect.poll(seen).toMatchObject([
      { type: 'media.completed', ...place, toolCallId: id, kind: 'image', assetId },
      { type: 'generation.completed', generationId: id, kind: 'image' },
      { type: 'credits.changed', ...place, credits: 98 },
    ]);
    await listening.close();
    const mine = rig.media.client(user.credential);
    const { body } = await mine.get<object>(`/v1/assets/${String(assetId)}`);
    expect(body).toMatchObject({
      scopeKind: 'thread',
      scopeId: place.threadId,
      generation: { id, taskId: id, prompt, model: 'an-image-model', references: [] },
    });
  });
});

describe('generate_video', () => {
  const state = (body: object) => json({ id: 'video_7', ...body });

  it('returns the future asset of the video, with progress, and charges on completion', async () => {
    const { user, client } = await prepare();
    const listening = await listen(rig.url, user);
    const prompt = `mcp video ${randomUUID()}`;
    rig.provider.on(prompt, state({ status: 'in_progress' }));
    rig.provider.on('/videos/video_7', state({ status: 'in_progress' }));
    const result = await callTool(client, 'generate_video', { prompt });
    expect(dataOf(result)).toMatchObject({ status: 'processing', assetId: expect.any(String), url: null, credits: 40 });
    expect(textOf(result)).toContain(String(dataOf(result).assetId));
    expect([await rig.credits(user), await inFlight(user)]).toEqual([60, 1]);
    rig.provider.on('/videos/video_7', state({ status: 'failed', error: { message: 'too long' } }));
    await expect.poll(() => rig.credits(user), { timeout: 20_000 }).toBe(100);
    const { videoId } = dataOf(result);
    const listed = await user.call<{ generations: object[] }>('GET', '/generations');
    expect(listed.body.generations).toMatchObject([{ id: videoId, origin: 'mcp', status: 'failed', credits: 0 }]);
    const ends = () => listening.events.map(({ data }) => data).filter(({ type }) => type.startsWith('generation.'));
    await expect.poll(ends).toMatchObject([{ generationId: videoId, kind: 'video', status: 'failed' }]);
    await listening.close();
  });

  it('names the video if the service stops during the wait', async () => {
    const { user } = await prepare();
    const settings = { ...testSettings, drainS: 1 };
    const other = await rig.another({ settings, pace: { videoWaitMs: 60_000 } });
    const prompt = `mcp video ${randomUUID()}`;
    for (const path of [prompt, '/videos/video_7']) rig.provider.on(path, state({ status: 'in_progress' }));
    const call = callTool(await connect(user, other.url), 'generate_video', { prompt });
    await expect.poll(() => inFlight(user)).toBe(1);
    await other.drain();
    expect(dataOf(await call)).toMatchObject({ status: 'processing', assetId: expect.any(String) });
  });

  it.each([
    ['the plan has no video', 'free', 100, 'insufficient_plan'],
    ['the credits do not suffice', 'pro', 39, 'insufficient_credits'],
  ] as const)('is refused when %s, and leaves nothing', async (_title, plan, credits, code) => {
    const user = await rig.user(plan, credits);
    const result = await callTool(await connect(user), 'generate_video', { prompt: 'a bee' });
    expect([result.isError, dataOf(result).error]).toEqual([true, code]);
    expect([await rig.credits(user), await ordersOf(user)]).toEqual([credits, []]);
  });
});

describe('save_memory and recall_memory', () => {
  it('remember', async () => {
    const { client, user } = await prepare();
    const saved = await callTool(client, 'save_memory', { content: 'I like bees' });
    expect(dataOf(saved)).toMatchObject({ memoryId: expect.any(String) });
    const recalled = await callTool(client, 'recall_memory', { query: 'bees' });
    expect(dataOf(recalled).memories).toContain('I like bees');
    expect(await rig.credits(user)).toBe(100);
  });
});

describe('POST /mcp over HTTP', () => {
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const accept = { accept: 'application/json, text/event-stream' };

  it.each(['POST', 'GET', 'DELETE'])('%s needs a JWT: 401 without one, and with the internal key', async (method) => {
    for (const headers of [{}, { 'x-internal-key': 'an internal key' }, { authorization: 'Bearer a.b.c' }]) {
      const response = await fetch(`${rig.url}/mcp`, {
        method,
        headers: { 'content-type': 'application/json', ...accept, ...headers },
        ...(method === 'POST' && { body: JSON.stringify(ping) }),
      });
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([
        401,
        `Bearer resource_metadata="${rig.url}/.well-known/oauth-protected-resource/mcp"`,
      ]);
      await response.text();
    }
  });

  it('answers one message, and notifications with 202', async () => {
    const user = await rig.user();
    const response = await fetch(`${rig.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...accept, ...user.credential },
      body: JSON.stringify(ping),
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(await response.text()).toContain('"result":{}');
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
    expect((await user.call('POST', '/mcp', notification, accept)).status).toBe(202);
  });

  it.each([
    ['a batch', [ping], accept, 400],
    ['no message', { hello: 1 }, accept, 400],
    ['no JSON', 'hello', accept, 400],
    ['a body over 1 MiB', { ...ping, params: { text: 'x'.repeat(1024 * 1024) } }, accept, 413],
    ['a client that takes no stream', ping, { accept: 'application/json' }, 406],
    ['a version that does not exist', ping, { ...accept, 'mcp-protocol-version': '1999-01-01' }, 400],
  ])('refuses %s', async (_title, body, headers, status) => {
    const user = await rig.user();
    expect((await user.call('POST', '/mcp', body, headers)).status).toBe(status);
  });

  it.each(['GET', 'DELETE'])('%s is 405: there are no sessions', async (method) => {
    const { status, headers, body } = await (await rig.user()).call(method, '/mcp', undefined, accept);
    expect([status, headers.get('allow'), body.error]).toEqual([405, 'POST', 'method_not_allowed']);
  });

  it('is refused while the service drains', async () => {
    const other = await rig.another({ pace: { leaseMs: 60_000 } });
    const user = rig.at(other.url, await rig.user());
    const client = await connect(user, other.url);
    void other.drain();
    await expect(client.ping()).rejects.toThrow('draining');
  });

  it('edits an image that the user uploaded', async () => {
    const { user, client, prompt } = await prepare();
    const mine = rig.media.client(user.credential);
    const { registration, assetId } = await upload(mine, await newImage());
    expect((await mine.register(registration)).status).toBe(201);
    expect(dataOf(await callTool(client, 'edit_image', { prompt, assetId }))).toMatchObject({ status: 'completed' });
  });
});
