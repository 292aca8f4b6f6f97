/** Prompts and messages that a service checks before anything is reserved (docs/specification/agent.md#prompt-screening). */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerTables } from '#accounts/ledger/credits.ts';
import { createLog } from '#platform/log.ts';
import { type Chatter, newThread, testSettings } from '../../../test/agent/rig.fixture.ts';
import { calling, imageAnswer, type ScriptedRig, startScripted } from '../../../test/agent/scripted.fixture.ts';
import { makeImage } from '../../../test/media/images.fixture.ts';
import { type OpenAi, openAiModels, startOpenAi } from '../../../test/parties/openai.fixture.ts';
import { createPromptScreening } from './screening.ts';

let openAi: OpenAi;
let rig: ScriptedRig;
let user: Chatter;
beforeAll(async () => {
  openAi = await startOpenAi();
  rig = await startScripted({
    settings: {
      promptScreeningUrl: `${openAi.url}/v1`,
      promptScreeningKey: openAi.key,
      toolApproval: { saveMemory: true },
    },
    changes: { pace: { videoWaitMs: 0 } },
  });
  user = await rig.user('pro', 1000);
});
afterAll(async () => {
  await rig.close();
  openAi.close();
});

const refused = (...categories: string[]) => ({ error: 'prompt_refused', categories, message: expect.any(String) });
const entriesOf = ({ userId }: Chatter) =>
  rig.media.database
    .queries<LedgerTables>()
    .selectFrom('credit_ledger')
    .select(['reference', 'state', 'amount'])
    .where('user_id', '=', userId)
    .execute();
const ordersOf = (prompt: string) => rig.provider.requests.filter(({ body }) => JSON.stringify(body).includes(prompt));
const askedFor = (text: string) => openAi.moderations.filter((texts) => texts.some((one) => one.includes(text)));
const harmful = () => `some violence ${randomUUID()}`;
const harmless = () => `a meadow ${randomUUID()}`;
const say = () => {
  const text = harmless();
  rig.provider.on(text, { text: 'Yes.' });
  return text;
};
const textPart = (text: string) => ({ type: 'text', text });
const chat = (id: string, message: object, more: object = {}) =>
  user.call('POST', '/chat', { id, messages: [{ role: 'user', ...message }], ...more });

/** Neither the ledger nor the provider has seen it. */
async function expectFree(own: Chatter, prompt: string, credits = 1000) {
  expect(await entriesOf(own)).toEqual([]);
  expect(ordersOf(prompt)).toEqual([]);
  expect(await rig.credits(own)).toBe(credits);
}

describe('a flagged prompt', () => {
  it.each(['/images', '/videos'])('is refused by POST %s, costs nothing and orders nothing', async (path) => {
    const own = await rig.user('pro', 1000);
    const prompt = `${harmful()} and harassment`;
    const headers = { 'idempotency-key': randomUUID() };
    for (let tries = 0; tries < 2; tries++) {
      const { status, body } = await own.call('POST', path, { prompt }, headers);
      expect([status, body]).toEqual([422, expect.objectContaining(refused('violence', 'harassment'))]);
    }
    await expectFree(own, prompt);
    expect((await own.call('GET', '/generations')).body).toMatchObject({ generations: [] });
  });

  it.each(['generateImage', 'editImage', 'generateVideo'])(
    'of the tool %s is the failure of the call',
    async (tool) => {
      const own = await rig.user('pro', 1000);
      const threadId = newThread();
      const question = { threadId, message: { role: 'user', parts: [await imagePart(), textPart(say())] } };
      await own.ended(String((await own.call('POST', '/task', question)).body.taskId));
      const prompt = harmful();
      const { status, tools } = await rig.runScript(own, calling(tool, { prompt }), threadId);
      expect([status, tools[0]?.output]).toEqual([
        'completed',
        expect.objectContaining({
          ...{ assetId: null, status: 'failed' },
          failure: { ...refused('violence'), error: undefined, code: 'prompt_refused', retryable: false },
        }),
      ]);
      // The two runs.
      expect((await entriesOf(own)).map(({ amount }) => amount)).toEqual([1, 1]);
      expect(rig.provider.requests.filter(({ body }) => Reflect.get(Object(body), 'prompt') === prompt)).toEqual([]);
      expect(askedFor(prompt)).toHaveLength(1);
    },
  );

  it.each(['generate_image', 'edit_image', 'generate_video'])('of the MCP tool %s is its error', async (name) => {
    const own = await rig.user('pro', 1000);
    const client = new Client({ name: 'desktop', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(`${rig.url}/mcp`), {
      requestInit: { headers: { ...own.credential } },
    });
    // The SDK's own types differ under exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<Client['connect']>[0]);
    const prompt = harmful();
    const assetId = name === 'edit_image' ? await attach(own) : undefined;
    const before = await entriesOf(own);
    const result = await client.callTool({ name, arguments: { prompt, ...(assetId && { assetId }) } });
    expect(result).toMatchObject({ isError: true, structuredContent: refused('violence') });
    expect([await entriesOf(own), ordersOf(prompt)]).toEqual([before, []]);
    await client.close();
  });
});

const imagePart = async () => ({
  type: 'file',
  mediaType: 'image/png',
  url: `data:image/png;base64,${(await makeImage('png', { seed: Math.ceil(Math.random() * 1e6) })).toString('base64')}`,
});

/** An image of the user, by a run. */
async function attach(own: Chatter): Promise<string> {
  const threadId = newThread();
  const message = { role: 'user', parts: [await imagePart(), textPart(say())] };
  await own.ended(String((await own.call('POST', '/task', { threadId, message })).body.taskId));
  const [question] = await own.messages(threadId);
  const file = question?.parts.find(({ type }) => type === 'file');
  return JSON.stringify(file?.providerMetadata).match(/[0-9a-f-]{36}/)?.[0] ?? '';
}

describe('a flagged message', () => {
  const parts: readonly (readonly [string, (text: string) => object])[] = [
    ['a text', (text) => textPart(text)],
    [
      'the name of a file',
      (text) => ({ type: 'file', mediaType: 'image/png', filename: text, url: 'https://a.example/b' }),
    ],
    [
      'a text file',
      (text) => ({
        type: 'file',
        mediaType: 'text/plain;charset=utf-8',
        url: `data:text/plain;base64,${Buffer.from(text).toString('base64')}`,
      }),
    ],
  ];
  it.each(parts)('is refused for %s, and stores neither message nor image', async (_what, partOf) => {
    const own = await rig.user('pro', 1000);
    const [threadId, text] = [newThread(), harmful()];
    const message = { role: 'user', parts: [await imagePart(), textPart('See this:'), partOf(text)] };
    const task = await own.call('POST', '/task', { threadId, message });
    const chatted = await own.call('POST', '/chat', { id: threadId, messages: [message] });
    for (const { status, body } of [task, chatted])
      expect([status, body]).toEqual([422, expect.objectContaining(refused('violence'))]);
    await expectFree(own, text);
    expect(await own.messages(threadId)).toEqual([]);
    const { rows } = await sql`select 1 from assets where owner_id = ${own.userId}`.execute(
      rig.media.database.queries(),
    );
    expect(rows).toEqual([]);
  });

  it('is refused when it is queued, interrupts, edits or is generated again', async () => {
    const [threadId, id] = [newThread(), randomUUID()];
    const message = { id, role: 'user', parts: [textPart(say())] };
    await user.ended(String((await user.call('POST', '/task', { threadId, message })).body.taskId));
    const { promise, resolve: release } = Promise.withResolvers<void>();
    const busy = harmless();
    rig.provider.on(busy, { after: promise, reply: { text: 'At last.' } });
    const taskId = await user.ask(threadId, busy);
    const text = harmful();
    for (const whenBusy of ['queue', 'interrupt']) {
      expect((await user.call('POST', '/task', { threadId, text, whenBusy })).body).toMatchObject(refused('violence'));
      expect((await chat(threadId, { parts: [textPart(text)] }, { whenBusy })).status).toBe(422);
    }
    expect(await user.task(taskId)).toMatchObject({ status: 'running' });
    release();
    await user.ended(taskId);
    const before = await user.messages(threadId);
    const edited = await chat(threadId, { id, parts: [textPart(text)] }, { messageId: id });
    const rewound = await user.call('POST', '/task', { threadId, text, rewindTo: id });
    expect([edited.status, rewound.status]).toEqual([422, 422]);
    // What was allowed before is not allowed now.
    const parts = JSON.stringify([textPart(text)]);
    await sql`update agent_messages set parts = ${parts}::jsonb where thread_id = ${threadId} and id = ${id}`.execute(
      rig.media.database.queries(),
    );
    const again = await chat(threadId, { id, parts: [] }, { trigger: 'regenerate-message' });
    expect([again.status, (await user.messages(threadId)).length]).toEqual([422, before.length]);
  });

  it('is refused as the reason of a denial', async () => {
    const threadId = newThread();
    const { answer } = await rig.runScript(user, calling('saveMemory', { content: 'I like tea' }), threadId);
    const part = answer?.parts.find(({ approval }) => approval !== undefined);
    const approvalId = Reflect.get(Object(part?.approval), 'id');
    const approvals = [{ approvalId, approved: false, reason: harmful() }];
    expect((await user.call('POST', '/task', { threadId, approvals })).status).toBe(422);
    const allowed = await user.call('POST', '/task', { threadId, approvals: [{ approvalId, approved: false }] });
    expect(allowed.status).toBe(201);
    await user.ended(String(allowed.body.taskId));
  });
});

describe('an allowed prompt', () => {
  it('is asked about once for each order, in one text', async () => {
    const own = await rig.user('pro', 1000);
    const [question, prompt] = [harmless(), harmless()];
    rig.provider.on(prompt, imageAnswer(await makeImage('png')));
    rig.provider.on(question, ...calling('generateImage', { prompt, n: 2 }));
    const message = { role: 'user', parts: [textPart(question), textPart('And more.')] };
    const headers = { 'idempotency-key': randomUUID() };
    const started = [1, 2].map(() => own.call('POST', '/task', { threadId: 'once', message }, headers));
    const [first, second] = await Promise.all(started);
    expect(first?.body).toEqual(second?.body);
    await own.ended(String(first?.body.taskId));
    const repeated = await own.call('POST', '/task', { threadId: 'once', message }, headers);
    expect(repeated.body).toEqual(first?.body);
    expect(askedFor(prompt)).toEqual([[prompt]]);
    expect(new Set(askedFor(question).flat())).toEqual(new Set([`${question}\n\nAnd more.`]));
    const made = harmless();
    rig.provider.on(made, imageAnswer(await makeImage('png')));
    const order = { prompt: made, n: 2 };
    const key = { 'idempotency-key': randomUUID(), prefer: 'wait=60' };
    const [one, other] = [await own.call('POST', '/images', order, key), await own.call('POST', '/images', order, key)];
    expect([one.status, one.body.status, other.body.id]).toEqual([201, 'completed', one.body.id]);
    expect(askedFor(made)).toEqual([[made]]);
  });

  it('that is long is asked about in pieces, in few requests, and no phrase is split', async () => {
    const long = `${'a'.repeat(7996)}violence${'a'.repeat(300_000)}`;
    expect((await user.call('POST', '/task', { threadId: newThread(), text: long })).status).toBe(422);
    const before = openAi.moderations.length;
    const text = `${say()} ${'😀'.repeat(130_000)}`;
    const { status, body } = await user.call('POST', '/task', { threadId: newThread(), text });
    expect([status, openAi.moderations.slice(before).map((texts) => texts.length)]).toEqual([201, [32, 2]]);
    await user.ended(String(body.taskId));
  });
});

describe('without a valid response', () => {
  let mode: (request: {
    readonly url?: string | undefined;
  }) => { status?: number; headers?: object; body?: string } | 'hang';
  const server = createServer((request, response) => {
    request.resume();
    const answer = mode(request);
    if (answer === 'hang') return;
    response.writeHead(answer.status ?? 200, { ...answer.headers }).end(answer.body);
  });
  const lines: string[] = [];
  const log = createLog({
    level: 'debug',
    destination: new Writable({
      write: (chunk, _encoding, done) => {
        lines.push(String(chunk));
        done();
      },
    }),
  });
  let url: string;
  beforeAll(async () => {
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.close();
    server.closeAllConnections();
  });

  const result = (flagged: boolean) => JSON.stringify({ results: [{ flagged }] });
  const answers: readonly (readonly [string, typeof mode])[] = [
    ['a 5xx', () => ({ status: 502 })],
    ['a rejected key', () => ({ status: 401, body: '{"error":{}}' })],
    [
      'a redirect',
      ({ url: path }) => (path === '/next' ? { body: result(false) } : { status: 307, headers: { location: '/next' } }),
    ],
    ['text that repeats the prompt', () => ({ body: 'quiet please' })],
    ['another JSON', () => ({ body: '{"results":[]}' })],
    ['too many results', () => ({ body: JSON.stringify({ results: [{ flagged: false }, { flagged: false }] }) })],
    ['a body without an end', () => ({ body: `{"results":[${'['.repeat(300 * 1024)}` })],
    ['no response', () => 'hang'],
  ];
  it.each(answers)('such as %s, closed is 503, and open passes and logs no prompt', async (_what, given) => {
    mode = given;
    const settings = { ...testSettings, promptScreeningUrl: url };
    const [closed, open] = [
      createPromptScreening(settings, log, 500),
      createPromptScreening({ ...settings, promptScreeningFail: 'open' }, log, 500),
    ];
    lines.length = 0;
    const [refusal] = await Promise.all([
      closed.assertAllowed('ada', ['quiet please']).catch((error: unknown) => error),
      open.assertAllowed('ada', ['quiet please']),
    ]);
    expect(refusal).toMatchObject({ status: 503, code: 'engine_unavailable' });
    expect(lines.filter((line) => line.includes('PROMPT_SCREENING_FAIL'))).toHaveLength(1);
    expect(lines.join() + String(Reflect.get(Object(refusal), 'cause'))).not.toContain('quiet');
    await Promise.all([closed.close(), open.close()]);
  });

  it('orders return 503 and tools fail, free of charge, and nothing is stored', async () => {
    mode = () => ({ status: 500 });
    const other = await rig.another({ settings: { ...testSettings, promptScreeningUrl: url } });
    const own = rig.at(other.url, await rig.user('pro', 1000));
    const [prompt, threadId] = [harmless(), newThread()];
    for (const [path, body] of [
      ['/images', { prompt }],
      ['/videos', { prompt }],
      ['/task', { threadId, text: prompt }],
    ] as const)
      expect(await own.call('POST', path, body)).toMatchObject({ status: 503, body: { error: 'engine_unavailable' } });
    await expectFree(own, prompt);
    mode = () => ({ body: result(false) });
    const question = harmless();
    rig.provider.on(question, (request) => {
      mode = () => ({ status: 500 });
      return JSON.stringify(request.body).includes('call_0')
        ? { text: 'It failed.' }
        : { calls: [{ id: 'call_0', name: 'generateImage', args: { prompt } }] };
    });
    const taskId = await own.ask(threadId, question);
    await own.ended(taskId);
    const tool = (await own.messages(threadId))[1]?.parts.find(({ type }) => type === 'tool-generateImage');
    expect(tool?.output).toMatchObject({ failure: { code: 'engine_unavailable', retryable: true } });
    expect(await rig.credits(own)).toBe(999);
  });

  it('names a model and uses a URL that ends with the operation', async () => {
    const settings = { promptScreeningKey: openAi.key, promptScreeningFail: 'closed' } as const;
    const at = (path: string, promptScreeningModel: string) =>
      createPromptScreening({ ...settings, promptScreeningUrl: openAi.url + path, promptScreeningModel }, log);
    const [good, bad] = [at('/v1/moderations', openAiModels.moderation), at('/v1/', 'another')];
    await expect(good.assertAllowed('ada', ['a bee', ' '])).resolves.toBeUndefined();
    await expect(good.assertAllowed('ada', ['harassment'])).rejects.toMatchObject({ code: 'prompt_refused' });
    await expect(bad.assertAllowed('ada', ['a bee'])).rejects.toMatchObject({ status: 503 });
    await Promise.all([good.close(), bad.close()]);
  });
});
