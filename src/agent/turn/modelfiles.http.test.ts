/** Files and sources that a model itself generates, over Google's wire, and answers that break off. */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { type UIMessageChunk as Chunk5, readUIMessageStream as readStreamOf5, type UIMessage as UIMessage5 } from 'ai5';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withMark } from '#platform/metadata/metadata.ts';
import { dataLines, events, startWireServer, type WireServer } from '../../../test/agent/providers/wire.fixture.ts';
import { type AgentRig, modelsOf, newThread, startAgent } from '../../../test/agent/rig.fixture.ts';
import { providerKey } from '../../../test/agent/scripted.fixture.ts';
import { embedded } from '../../../test/media/rig.fixture.ts';

let server: WireServer;
let rig: AgentRig;
let picture: Buffer;
/** Answers half, and breaks the connection when the test wants it. */
let breakOff: () => void;
const breaking = createServer((_request, response) => {
  breakOff = () => response.socket?.resetAndDestroy();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = { choices: [{ index: 0, delta: { role: 'assistant', content: 'Half of the' } }] };
  response.write(`data: ${JSON.stringify(chunk)}\n\ndata: {"cho`);
}).listen(0, '127.0.0.1');
const models = ['gemini-picture', 'gemini-mixed', 'gemini-many', 'gemini-bad'];

beforeAll(async () => {
  server = await startWireServer();
  const google = models.map((id) => ({
    id,
    model: id,
    provider: 'google' as const,
    baseUrl: `${server.url}/v1beta`,
    apiKeyEnv: 'KEY',
    vision: true,
  }));
  const port = (breaking.address() as AddressInfo).port;
  const file = [
    ...google,
    { id: 'breaking', model: 'breaking', baseUrl: `http://127.0.0.1:${port}`, apiKeyEnv: 'KEY' },
  ];
  rig = await startAgent(embedded, { model: modelsOf({ file }), readKey: () => providerKey });
  picture = await sharp({ create: { width: 64, height: 48, channels: 3, background: '#3070c0' } })
    .png()
    .toBuffer();
});
afterAll(async () => {
  await rig.close();
  server.close();
  breaking.close();
});

const usageMetadata = { promptTokenCount: 30, candidatesTokenCount: 1290, totalTokenCount: 1320 };
const answerOf = (parts: readonly object[], rest: object = {}) =>
  events(
    dataLines({
      candidates: [{ content: { role: 'model', parts }, index: 0, finishReason: 'STOP', ...rest }],
      usageMetadata,
    }),
  );
const inline = (bytes: Uint8Array, mimeType = 'image/png') => ({
  inlineData: { mimeType, data: Buffer.from(bytes).toString('base64') },
});

async function run(model: string, text = 'Draw a blue field.') {
  const user = await rig.user('pro', 100);
  const threadId = newThread();
  const { body } = await user.call('POST', '/task', { threadId, text, model });
  const taskId = String(body.taskId);
  const { status, error } = await user.ended(taskId);
  const stream = await fetch(`${rig.url}/stream/${taskId}`, { headers: user.credential });
  const chunks = (await stream.text())
    .split('\n')
    .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6)) as UIMessageChunk] : []));
  const answer = (await user.messages(threadId)).find(({ role }) => role === 'assistant');
  return { user, threadId, status, error, chunks, answer, credits: await rig.credits(user) };
}

describe('a picture that the model generates', () => {
  it('is in the stream, in the message and in the library, and is charged like an image', async () => {
    server.on('gemini-picture', answerOf([inline(picture)]));
    const { user, threadId, status, chunks, answer, credits } = await run('gemini-picture');
    expect([status, credits]).toEqual(['completed', 97]);
    const chunk = chunks.find(({ type }) => type === 'file');
    expect(chunk).toMatchObject({ mediaType: 'image/png', url: expect.stringMatching(/^http/) });
    const part = answer?.parts.find(({ type }) => type === 'file');
    const assetId = Reflect.get(Object(part?.providerMetadata), 'atelier').assetId;
    expect(chunk).toMatchObject({ providerMetadata: { atelier: { assetId } } });
    for (const { url } of [chunk, part] as { url: string }[]) {
      const response = await fetch(url);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png']);
      expect(Buffer.from(await response.arrayBuffer()).equals(withMark(picture, 'ai'))).toBe(true);
    }
    expect(answer?.metadata).toMatchObject({ credits: 3, status: 'completed' });

    // The model sees it in the next run.
    server.on('gemini-picture', answerOf([{ text: 'It is blue.' }]));
    const before = server.requests.length;
    const next = await user.call('POST', '/task', { threadId, text: 'Which color is it?', model: 'gemini-picture' });
    await user.ended(String(next.body.taskId));
    expect(JSON.stringify(server.requests[before]?.body)).toMatch(/"inlineData":\{"mimeType":"image\/\w+"/);
  });

  it.each([
    ['7', (stream: ReadableStream) => readUIMessageStream({ stream })],
    ['5', (stream: ReadableStream) => readStreamOf5<UIMessage5>({ stream: stream as ReadableStream<Chunk5> })],
  ])('and sources are parts in the SDK of version %s, as stored', async (_version, read) => {
    const web = { web: { uri: 'https://example.com/blue', title: 'On blue' } };
    const document = { retrievedContext: { uri: 'gs://bucket/colors.pdf', title: 'Colors' } };
    const script = { web: { uri: 'javascript:alert(1)', title: 'x' } };
    server.on(
      'gemini-mixed',
      answerOf([{ text: 'Here it is.' }, inline(picture)], {
        groundingMetadata: { groundingChunks: [web, document, script] },
      }),
    );
    const { chunks, answer } = await run('gemini-mixed');
    let shown: { parts: readonly object[] } | undefined;
    for await (const message of read(ReadableStream.from(chunks)) as AsyncIterable<UIMessage>) shown = message;
    const typesOf = (parts: readonly object[] = []) => parts.map((part) => Reflect.get(part, 'type'));
    expect(typesOf(shown?.parts).toSorted()).toEqual(
      ['file', 'source-document', 'source-url', 'step-start', 'text'].toSorted(),
    );
    expect(typesOf(answer?.parts)).toEqual(typesOf(shown?.parts));
    expect(answer?.parts.find(({ type }) => type === 'source-url')).toMatchObject({
      url: web.web.uri,
      title: 'On blue',
    });
  });

  it('is not made of more than 16 files, nor of bytes that are no image', async () => {
    server.on('gemini-many', answerOf(Array.from({ length: 18 }, () => inline(picture))));
    const many = await run('gemini-many');
    expect(many.answer?.parts.map(({ type }) => type)).toEqual([
      'step-start',
      ...Array(16).fill('file'),
      'data-notice',
      'data-notice',
    ]);
    expect(many.credits).toBe(100 - 1 - 16 * 2);
    server.on('gemini-bad', answerOf([{ text: 'See:' }, inline(randomBytes(100)), inline(Buffer.alloc(21 << 20))]));
    const bad = await run('gemini-bad');
    expect([bad.status, bad.credits]).toEqual(['completed', 99]);
    expect(bad.answer?.parts.map(({ type }) => type)).toEqual(['step-start', 'text', 'data-notice', 'data-notice']);
  });

  it('of another type becomes a file of the thread', async () => {
    server.on('gemini-mixed', answerOf([inline(Buffer.from('RIFF____WAVE'), 'audio/wav')]));
    const { answer, status } = await run('gemini-mixed');
    expect([status, answer?.parts.map(({ type }) => type)]).toEqual(['completed', ['step-start', 'file']]);
    expect(answer?.parts[1]).toMatchObject({ mediaType: 'audio/wav', url: expect.stringMatching(/^http/) });
  });
});

it('a connection that breaks in the middle of an answer interrupts it', async () => {
  const user = await rig.user('pro', 100);
  const threadId = newThread();
  const { body } = await user.call('POST', '/task', { threadId, text: 'hi', model: 'breaking' });
  const stream = await fetch(`${rig.url}/stream/${body.taskId}`, { headers: user.credential });
  let shown = '';
  for await (const text of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    if (!shown.includes('Half of the') && (shown + text).includes('Half of the')) breakOff();
    shown += text;
  }
  const { status, error } = await user.ended(String(body.taskId));
  expect([status, error, await rig.credits(user)]).toEqual([
    'failed',
    'The model stopped in the middle of its answer.',
    100,
  ]);
  expect(shown).toContain(`"errorText":"${error}"`);
  const [, answer] = await user.messages(threadId);
  expect(answer?.metadata).toMatchObject({ error, errorCode: 'provider_interrupted' });
  expect(JSON.stringify(answer?.parts)).toContain('Half of the');
});
