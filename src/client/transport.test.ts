import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { Chat } from '@ai-sdk/react';
import { readUIMessageStream, type UIMessage, type UIMessageChunk, validateUIMessages } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentRig, type Chatter, newThread, startAgent } from '../../test/agent/rig.fixture.ts';
import { type ShakyNetwork, shakyNetwork } from '../../test/agent/shaking.fixture.ts';
import { embedded } from '../../test/media/rig.fixture.ts';
import { AtelierError, ThreadBusy } from './errors.ts';
import { followRun } from './run.ts';
import { AgentChatTransport } from './transport.ts';

let rig: AgentRig;
let user: Chatter;
beforeAll(async () => {
  rig = await startAgent(embedded);
  user = await rig.user('pro', 100_000);
});
afterAll(() => rig.close());

const patience = { firstPauseMs: 5, longestPauseMs: 20, tries: 200 };
const accessOver = (network?: ShakyNetwork, chatter = user) => ({
  url: `${rig.url}/`,
  headers: chatter.credential,
  patience,
  ...(network && { fetch: network.fetch }),
});
const chatOver = (id: string, network?: ShakyNetwork, messages: UIMessage[] = []) =>
  new Chat({ id, messages, transport: new AgentChatTransport(accessOver(network)) });

/** Removes what is known only at the end or signed on reading, to compare with the stored message. */
function comparable(message: object | undefined): unknown {
  const { id, role, parts } = message as UIMessage;
  const comparableParts = parts.map((part) => {
    // The SDK's newest client adds ids. Messages of v5 have no such field.
    const { id: _, ...rest } = part as { id?: string };
    return part.type === 'reasoning' ? rest : part;
  });
  const varying = ['url', 'thumbUrl', 'state', 'mime'];
  const text = JSON.stringify({ id, role, parts: comparableParts }, (key, value) =>
    varying.includes(key) ? undefined : value,
  );
  return JSON.parse(text);
}

describe("the SDK's own chat", () => {
  let cuts = 0;
  it.each(Array.from({ length: 6 }, (_, seed) => seed + 1))(
    'completes a conversation with tools over a network with random interruptions (%i)',
    async (seed) => {
      const network = shakyNetwork(seed);
      const threadId = newThread();
      const chat = chatOver(threadId, network);
      await chat.sendMessage({ text: 'Remember that I like bees.' });
      await chat.sendMessage({ text: 'Make an image of them.' });
      await chat.sendMessage({ text: '/long 3000' });
      expect([chat.status, chat.error]).toEqual(['ready', undefined]);
      const stored = await user.messages(threadId);
      expect(chat.messages.map(({ role }) => role)).toEqual([
        'user',
        'assistant',
        'user',
        'assistant',
        'user',
        'assistant',
      ]);
      expect(chat.messages.map(comparable)).toEqual(stored.map(comparable));
      expect(stored[3]?.parts.some(({ type }) => type === 'tool-generateImage')).toBe(true);
      await validateUIMessages({ messages: stored });
      cuts += network.cuts;
    },
  );

  it('was interrupted often enough', () => expect(cuts).toBeGreaterThan(15));

  it('finds a run again after a page reload, from its beginning, any number of times', async () => {
    const threadId = newThread();
    const first = chatOver(threadId);
    const answering = first.sendMessage({ text: '/slow 3' });
    await seen(first, 3);
    const history = (await user.messages(threadId)) as unknown as UIMessage[];
    expect(history).toHaveLength(1);
    const second = chatOver(threadId, shakyNetwork(99), history);
    // An effect that runs twice, as in React's strict mode: the abandoned one stops nothing.
    const resuming = [second.resumeStream(), second.resumeStream()];
    await Promise.all([answering, ...resuming]);
    const stored = await user.messages(threadId);
    expect(stored[1]?.metadata.status).toBe('completed');
    for (const chat of [first, second]) expect(chat.messages.map(comparable)).toEqual(stored.map(comparable));
  });

  it('finds nothing if no run is in progress', async () => {
    const chat = chatOver(newThread());
    await chat.resumeStream();
    expect([chat.status, chat.messages]).toEqual(['ready', []]);
  });

  it('keeps the message if the thread has a run in progress (409), and sends it again after that', async () => {
    const threadId = newThread();
    const taskId = await user.ask(threadId, '/slow 60');
    const chat = chatOver(threadId);
    await chat.sendMessage({ text: 'A long and important message.' });
    expect(chat.error).toBeInstanceOf(ThreadBusy);
    expect(chat.error).toMatchObject({ code: 'task_running', status: 409, taskId, body: { reason: 'running' } });
    expect([chat.status, chat.messages.map(({ role, parts }) => [role, parts])]).toEqual([
      'error',
      [['user', [{ type: 'text', text: 'A long and important message.' }]]],
    ]);
    expect(await user.messages(threadId)).toHaveLength(1);

    await user.call('DELETE', `/task/${taskId}`);
    await user.ended(taskId);
    await chat.regenerate();
    expect([chat.status, chat.error]).toEqual(['ready', undefined]);
    const stored = await user.messages(threadId);
    expect(chat.messages.map(comparable)).toEqual(stored.slice(-2).map(comparable));
  });

  it('joins the run of its own message if the message is in the thread', async () => {
    const threadId = newThread();
    const message = { id: 'm-1', role: 'user' as const, parts: [{ type: 'text' as const, text: 'hi' }] };
    const { body } = await user.call('POST', '/task', { threadId, message });
    await user.ended(String(body.taskId));
    const chat = chatOver(threadId);
    await chat.sendMessage(message);
    const [, answer] = await user.messages(threadId);
    expect([chat.error, comparable(chat.lastMessage)]).toEqual([undefined, comparable(answer)]);
  });

  it('stop() stops the run, also before its first event', async () => {
    for (const wanted of [0, 3]) {
      const threadId = newThread();
      const chat = chatOver(threadId);
      const answering = chat.sendMessage({ text: '/slow 60' });
      await seen(chat, wanted);
      await chat.stop();
      await answering;
      expect(chat.status).toBe('ready');
      await expect.poll(async () => (await user.call('GET', `/thread/${threadId}/current-task`)).body.task).toBe(null);
      await expect.poll(async () => (await user.messages(threadId)).length).toBeGreaterThan(0);
    }
  });

  it('an edited message and a regenerated answer replace the old ones', async () => {
    const threadId = newThread();
    const chat = chatOver(threadId);
    await chat.sendMessage({ text: 'one' });
    await chat.sendMessage({ text: 'two' });
    const [, , two] = chat.messages;
    await chat.sendMessage({ text: 'three', messageId: two?.id ?? '' });
    await chat.regenerate();
    expect(chat.error).toBeUndefined();
    const stored = await user.messages(threadId);
    expect(stored.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(stored[2]?.parts[0]?.text).toBe('three');
    expect(chat.messages.map(comparable)).toEqual(stored.map(comparable));
  });

  it('a failed run is an error of the chat; the next message succeeds', async () => {
    const chat = chatOver(newThread());
    await chat.sendMessage({ text: '/fail' });
    expect(chat.status).toBe('error');
    expect(chat.error?.message).toMatch(/\w/);
    await chat.sendMessage({ text: 'again' });
    expect(chat.status).toBe('ready');
  });
});

describe('starting a run over an unreliable network', () => {
  it('does not start a run twice after a lost response, whether the run continues or has ended', async () => {
    for (const [text, waitMs] of [
      ['/slow 2', 0],
      ['hello', 1500],
    ] as const) {
      const threadId = newThread();
      const network = shakyNetwork(1, { cutStreams: false, loseFirstAnswer: waitMs });
      const chat = chatOver(threadId, network);
      await chat.sendMessage({ text });
      const stored = await user.messages(threadId);
      expect(stored.map(({ role }) => role)).toEqual(['user', 'assistant']);
      expect(chat.messages.map(comparable)).toEqual(stored.map(comparable));
    }
  });

  it('can regenerate a message that was never accepted', async () => {
    const poor = await rig.user('free', 0);
    const threadId = newThread();
    const transport = new AgentChatTransport(accessOver(undefined, poor));
    const chat = new Chat({ id: threadId, transport });
    await chat.sendMessage({ text: 'hello' });
    expect(chat.error).toBeInstanceOf(AtelierError);
    expect(chat.error).toMatchObject({ status: 402, code: 'insufficient_credits', body: { required: 1, balance: 0 } });
    const rich = new Chat({
      id: threadId,
      messages: chat.messages,
      transport: new AgentChatTransport(accessOver()),
    });
    await rich.regenerate();
    expect((await user.messages(threadId)).map(({ role }) => role)).toEqual(['user', 'assistant']);
  });
});

describe('followRun', () => {
  it('yields each event once, in order, despite interruptions', async () => {
    const taskId = await user.ask(newThread(), '/long 5000');
    const straight = await chunksOf(followRun(accessOver(), taskId));
    let cuts = 0;
    for (const seed of [1, 2, 3, 4]) {
      const network = shakyNetwork(seed);
      expect(await chunksOf(followRun(accessOver(network), taskId))).toEqual(straight);
      cuts += network.cuts;
    }
    expect(cuts).toBeGreaterThan(4);
    let last: UIMessage | undefined;
    for await (const message of readUIMessageStream({ stream: ReadableStream.from(straight) })) last = message;
    expect(last?.parts.some(({ type }) => type === 'text')).toBe(true);
  });

  it('throws permanent errors unchanged, without a retry', async () => {
    const stranger = await rig.user();
    const taskId = await user.ask(newThread(), 'hello');
    const network = shakyNetwork(1, { cutStreams: false });
    const refused = chunksOf(followRun(accessOver(network, stranger), taskId));
    await expect(refused).rejects.toMatchObject({ name: 'AtelierError', status: 403, code: 'forbidden' });
    await expect(chunksOf(followRun(accessOver(), 'nothing'))).rejects.toMatchObject({ status: 404 });
    expect(network.calls).toBe(1);
  });

  it('gives up on an unavailable service after the configured attempts', async () => {
    let calls = 0;
    const fetch = async () => {
      calls += 1;
      throw new TypeError('fetch failed');
    };
    const access = { ...accessOver(), fetch, patience: { ...patience, tries: 3 } };
    await expect(chunksOf(followRun(access, 'x'))).rejects.toMatchObject({ code: 'unreachable', status: 0 });
    expect(calls).toBe(3);
  });

  it('rejects a response that is not a stream', async () => {
    const page = async () => new Response('<html>', { headers: { 'content-type': 'text/html' } });
    await expect(chunksOf(followRun({ ...accessOver(), fetch: page }, 'x'))).rejects.toMatchObject({
      code: 'unexpected_answer',
    });
  });

  it('drops a silent connection and continues on the next', async () => {
    const taskId = await user.ask(newThread(), 'hello');
    let calls = 0;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      calls += 1;
      if (calls > 1) return globalThis.fetch(input, init);
      return new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
    };
    const access = { ...accessOver(), fetch, patience: { ...patience, silentMs: 100 } };
    expect((await chunksOf(followRun(access, taskId))).at(-1)?.type).toBe('finish');
    expect(calls).toBeGreaterThan(1);
  });

  it('does not stop a run when the reader stops', async () => {
    const taskId = await user.ask(newThread(), '/slow 1');
    const leaving = new AbortController();
    const reading = chunksOf(followRun(accessOver(), taskId, leaving.signal));
    leaving.abort();
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
    expect((await user.ended(taskId)).status).toBe('completed');
  });
});

describe('a start', () => {
  it('whose response does not come in time is repeated with the same key, and starts one run', async () => {
    let posts = 0;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      if (init?.method !== 'POST') return globalThis.fetch(input, init);
      posts += 1;
      if (posts > 1) return globalThis.fetch(input, init);
      await globalThis.fetch(input, { ...init, signal: null });
      return new Promise((_, reject) => init.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
    };
    const threadId = newThread();
    const transport = new AgentChatTransport({ ...accessOver(), fetch, timeoutMs: 1000 });
    const message: UIMessage = { id: 'only', role: 'user', parts: [{ type: 'text', text: 'Hello.' }] };
    const options = {
      chatId: threadId,
      trigger: 'submit-message',
      messageId: undefined,
      abortSignal: undefined,
    } as const;
    const stream = await transport.sendMessages({ ...options, messages: [message] });
    expect((await chunksOf(stream)).at(-1)?.type).toBe('finish');
    expect([posts, (await user.messages(threadId)).length]).toEqual([2, 2]);
  });
});

it('closes its connection when a reader cancels between two events, and the run goes on', async () => {
  const requests: string[] = [];
  const closed = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    if (request.url !== '/stream/t') {
      response.setHeader('content-type', 'application/json');
      return void response.end(JSON.stringify({ task: { taskId: 't' } }));
    }
    response.on('close', closed.resolve);
    response.setHeader('content-type', 'text/event-stream');
    response.write('id: 1-1\ndata: {"type":"start"}\n\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const transport = new AgentChatTransport({ url: `http://127.0.0.1:${port}` });
  const reader = (await transport.reconnectToStream({ chatId: 'c' }))?.getReader();
  expect((await reader?.read())?.value).toEqual({ type: 'start' });
  const next = reader?.read();
  // By then the stream waits for the next event.
  await setImmediate();
  await reader?.cancel();
  await closed.promise;
  expect(await next).toEqual({ done: true, value: undefined });
  expect(requests).toEqual(['GET /thread/c/current-task', 'GET /stream/t']);
  server.close();
});

async function chunksOf(chunks: AsyncIterable<UIMessageChunk>): Promise<UIMessageChunk[]> {
  const all: UIMessageChunk[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return all;
}

/** Resolves once the answer has this many words. */
async function seen(chat: { readonly messages: UIMessage[]; readonly status: string }, words: number): Promise<void> {
  await expect
    .poll(
      () => {
        const text = chat.messages
          .filter(({ role }) => role === 'assistant')
          .flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')))
          .join('');
        return text.split(' ').length - 1;
      },
      { timeout: 20_000, interval: 20 },
    )
    .toBeGreaterThanOrEqual(words);
}
