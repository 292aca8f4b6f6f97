/** What a client of the AI SDK's version 5 makes of the service: its strict schemas, its reader, its messages. */
import {
  parseJsonEventStream,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
  uiMessageChunkSchema,
  validateUIMessages,
} from 'ai5';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScriptedAnswer } from '../../test/agent/provider.fixture.ts';
import { type Chatter, newThread } from '../../test/agent/rig.fixture.ts';
import { calling, imageAnswer, json, type ScriptedRig, startScripted } from '../../test/agent/scripted.fixture.ts';
import { shakyNetwork } from '../../test/agent/shaking.fixture.ts';
import { makeImage } from '../../test/media/images.fixture.ts';
import { followRun } from './run.ts';

let rig: ScriptedRig;
let user: Chatter;
beforeAll(async () => {
  rig = await startScripted();
  user = await rig.user('pro', 10_000);
  rig.provider.on('a bee', imageAnswer(await makeImage('png')));
  rig.provider.on('a refused one', json({ error: { message: 'no' } }, 400));
  rig.provider.on('a failing one', json({}, 500));
});
afterAll(() => rig.close());

interface Read {
  readonly chunks: readonly UIMessageChunk[];
  readonly message: UIMessage | undefined;
}

/** Reads as the SDK's own transport does. A chunk that its schema does not know fails the test. */
async function read(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<Read> {
  const chunks: UIMessageChunk[] = [];
  let message: UIMessage | undefined;
  const parsed = parseJsonEventStream({ stream: body, schema: uiMessageChunkSchema }).pipeThrough(
    new TransformStream({
      transform(result: { success: boolean; value?: UIMessageChunk; error?: unknown }, controller) {
        if (!result.success || result.value === undefined) throw result.error;
        chunks.push(result.value);
        controller.enqueue(result.value);
      },
    }),
  );
  // A failed run ends with an error, after all its output.
  const onError = (error: unknown) =>
    expect(chunks.at(-1)).toMatchObject({ type: 'error', errorText: String(Object(error).message) });
  for await (const state of readUIMessageStream({ stream: parsed, onError })) message = structuredClone(state);
  return { chunks, message };
}

const open = async (taskId: string) => {
  const { body } = await fetch(`${rig.url}/stream/${taskId}`, { headers: user.credential });
  if (body === null) throw new Error('there is no stream');
  return body;
};

/** Removes what is signed on reading, and the state of parts when the run was interrupted. */
function comparable({ id, role, parts: read }: Pick<UIMessage, 'id' | 'role' | 'parts'>): unknown {
  // Both are valid in v5, but newer versions require the second.
  const parts = read.map((part) =>
    'rawInput' in part ? { ...part, input: part.input ?? part.rawInput, rawInput: undefined } : part,
  );
  const varying = ['url', 'thumbUrl', 'mime', 'state', 'callProviderMetadata'];
  return JSON.parse(JSON.stringify({ id, role, parts }, (key, value) => (varying.includes(key) ? undefined : value)));
}

const draw = (prompt: string, id = 'c1') => ({ id, name: 'generateImage', args: { prompt } });
const done: ScriptedAnswer = { text: 'There. 🐝' };

describe.concurrent('a reader of version 5', () => {
  it.each([
    ['words', 'completed', [done]],
    ['an image', 'completed', calling('generateImage', { prompt: 'a bee' })],
    ['a refused image', 'completed', calling('generateImage', { prompt: 'a refused one' })],
    ['calls of one name', 'completed', [{ calls: [draw('a bee'), draw('a bee')] }, { calls: [draw('a bee')] }, done]],
    ['a memory', 'completed', calling('saveMemory', { content: 'I like bees' })],
    ['a video that cannot be paid for', 'completed', calling('generateVideo', { prompt: 'x', ratio: '9:16' })],
    ['wrong arguments', 'completed', calling('generateImage', { prompt: '' })],
    ['arguments that are no JSON', 'completed', calling('generateImage', '{"pro')],
    ['an unknown tool', 'completed', calling('dropTables', {})],
    ['a run that fails', 'failed', [{ half: 'Half a wo' }]],
    ['an image that fails', 'completed', calling('generateImage', { prompt: 'a failing one' })],
  ] satisfies readonly (readonly [string, string, readonly ScriptedAnswer[]])[])(
    'parses %s as stored',
    async (title, status, script) => {
      const teller = title.includes('video') ? await rig.user('free', 10) : user;
      const run = await rig.runScript(teller, script);
      expect(run.status).toBe(status);
      const { body } = await fetch(`${rig.url}/stream/${run.taskId}`, { headers: teller.credential });
      const { message, chunks } = await read(body as ReadableStream<Uint8Array<ArrayBuffer>>);
      expect(chunks.at(-1)?.type).toBe(status === 'completed' ? 'finish' : 'error');
      const messages = await teller.messages(run.threadId);
      await validateUIMessages({ messages });
      const stored = messages.at(-1) as unknown as UIMessage;
      // The message closes parts that were in progress when the run failed.
      if (status === 'completed') expect(comparable(message as UIMessage)).toEqual(comparable(stored));
      else expect(message?.id).toBe(stored.id);
    },
  );

  it('parses a stopped run', async () => {
    rig.provider.on('<to be stopped>', {
      answer: {
        type: 'text/event-stream',
        body: 'data: {"id":"1","choices":[{"index":0,"delta":{"content":"Slowly"}}]}\n\n',
        stall: true,
      },
    });
    const threadId = newThread();
    const taskId = await user.ask(threadId, '<to be stopped>');
    const reading = read(await open(taskId));
    await user.stream(taskId, { cutAfter: 4 });
    await user.call('DELETE', `/task/${taskId}`);
    const { message, chunks } = await reading;
    expect(chunks.at(-1)).toEqual({ type: 'abort' });
    const messages = await user.messages(threadId);
    await validateUIMessages({ messages });
    expect(comparable(message as UIMessage)).toEqual(comparable(messages.at(-1) as unknown as UIMessage));
  });

  it('parses a stream that was resumed several times', async () => {
    const script = [{ calls: [draw('a bee')] }, { text: 'many words '.repeat(300) }];
    const { taskId, threadId } = await rig.runScript(user, script);
    const straight = await read(await open(taskId));
    for (const seed of [1, 2, 3, 4, 5]) {
      const { fetch } = shakyNetwork(seed);
      const access = { url: rig.url, headers: user.credential, fetch, patience: { firstPauseMs: 5, tries: 200 } };
      const frames: string[] = [];
      for await (const chunk of followRun(access, taskId)) frames.push(`data: ${JSON.stringify(chunk)}\n\n`);
      const again = await read(new Response(frames.join('')).body as ReadableStream<Uint8Array<ArrayBuffer>>);
      expect(again).toEqual(straight);
    }
    expect(comparable(straight.message as UIMessage)).toEqual(
      comparable((await user.messages(threadId)).at(-1) as unknown as UIMessage),
    );
  });

  it('preserves its messages with files and metadata', async () => {
    const threadId = newThread();
    const message = {
      id: 'mine',
      role: 'user',
      metadata: { from: 'a page' },
      parts: [
        { type: 'text', text: 'Look.' },
        { type: 'file', mediaType: 'image/png', filename: 'a.png', url: 'data:image/png;base64,iVBORw0KGgo=' },
        { type: 'file', mediaType: 'text/plain', filename: 'a.txt', url: 'data:text/plain;base64,aGVsbG8=' },
      ],
    };
    const { status, body } = await user.call('POST', '/task', { threadId, message });
    expect(status).toBe(201);
    await user.ended(String(body.taskId));
    const messages = await user.messages(threadId);
    const [text, image, file] = message.parts;
    const unreadable = { atelierUnreadable: { reason: 'undecodable' } };
    expect(messages[0]).toEqual({
      ...message,
      resource_id: user.userId,
      metadata: { from: 'a page', createdAt: expect.any(String) },
      parts: [text, { ...image, providerMetadata: unreadable }, file],
    });
    expect(await validateUIMessages({ messages })).toHaveLength(messages.length);
  });
});
