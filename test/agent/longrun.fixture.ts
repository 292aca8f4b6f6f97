/** A run of six steps that calls three tools, each of which counts what it carries out. */
import { setTimeout as sleep } from 'node:timers/promises';
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { expect } from 'vitest';
import { z } from 'zod';
import { type ForeignServer, startForeignServer } from './mcp.fixture.ts';
import { type Provider, type ReceivedRequest, startProvider } from './provider.fixture.ts';
import type { Chatter, Message } from './rig.fixture.ts';
import { type SeenEvent, withoutVoid } from './stream.fixture.ts';

interface Call {
  readonly name: string;
  readonly args: Readonly<Record<string, string>>;
}

const note = (key: string): Call => ({ name: 'desk_note', args: { key } });
const steps: readonly (readonly Call[])[] = [
  [note('one')],
  [{ name: 'generateImage', args: { prompt: 'A lighthouse at dusk' } }],
  [note('two'), { name: 'saveMemory', args: { content: 'I like lighthouses' } }],
  [note('three'), note('four')],
  [note('five')],
];

/** For the run and its image. */
export const cost = 3;
export const question = 'Begin the long run';
/** An overloaded service refuses starts. */
export const patience = { attempts: 100, baseDelayMs: 200, maxDelayMs: 2000, isRetryable: () => true };

export interface LongRuns {
  /** Of the agent that is to run them. */
  readonly env: Readonly<Record<string, string>>;
  /** The keys that were noted, by the user's question. */
  readonly notes: readonly string[];
  /** Stops the model and the notes of the run with this tag, wherever it is. */
  hold(tag: string): void;
  /** Lets all runs go on. */
  release(): void;
  close(): Promise<void>;
}

/** With `paceMs`, the model pauses for that time after each word and call. */
export async function openLongRuns(paceMs = 0): Promise<LongRuns> {
  const notes: string[] = [];
  const held = new Set<string>();
  let released = Promise.withResolvers<void>();
  const untilFree = async (tag: string) => {
    while (held.has(tag)) await released.promise;
  };
  const provider: Provider = await startProvider();
  const desk: ForeignServer = await startForeignServer((server) =>
    server.registerTool('note', { description: 'Notes a key.', inputSchema: { key: z.string() } }, async ({ key }) => {
      await sleep(20);
      await untilFree(tagIn(String(key)));
      notes.push(String(key));
      return { content: [{ type: 'text', text: `noted ${key}` }] };
    }),
  );
  async function* paced(events: readonly string[], tag: string) {
    for (const event of events) {
      await untilFree(tag);
      yield event;
      await sleep(paceMs);
    }
  }
  provider.on(question, (request) => {
    const [events, tag] = [eventsOf(request), tagIn(JSON.stringify(request.body))];
    const body = paceMs === 0 ? events.join('') : paced(events, tag);
    return { after: sleep(30), reply: { answer: { type: 'text/event-stream', body } } };
  });
  return {
    env: {
      MODEL_BASE_URL: provider.url,
      MODEL_NAME: 'a-model',
      AGENT_MCP_SERVERS: JSON.stringify({ desk: { url: desk.url } }),
      AGENT_MCP_ALLOW_PRIVATE: 'true',
      AGENT_EXTRACT_MEMORIES: 'false',
    },
    notes,
    hold: (tag) => void held.add(tag),
    release() {
      held.clear();
      released.resolve();
      released = Promise.withResolvers();
    },
    async close() {
      provider.close();
      await desk.close();
    },
  };
}

const tagIn = (text: string) => /<run [\w-]+>/.exec(text)?.[0] ?? '';

/** The first step of which a call is missing, as a model that wants all of them would continue. */
function eventsOf({ body }: ReceivedRequest): readonly string[] {
  const { messages } = body as { messages: { role: string; tool_calls?: { function: { arguments: string } }[] }[] };
  const tag = tagIn(JSON.stringify(messages));
  const made = messages.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => call.function.arguments));
  const isMade = ({ args }: Call) => made.some((one) => one.includes(String(Object.values(args)[0])));
  const index = steps.findIndex((calls) => !calls.every(isMade));
  const words = index === -1 ? ['That ', 'was ', 'all.'] : ['Step ', `${index + 1} `, 'begins.'];
  const calls = (steps[index] ?? []).filter((call) => !isMade(call));
  const deltas: object[] = [
    ...words.map((content) => ({ role: 'assistant', content })),
    ...calls.map(({ name, args }, at) => ({
      tool_calls: [
        {
          index: at,
          id: `call_${at}`,
          type: 'function',
          function: { name, arguments: JSON.stringify('key' in args ? { key: `${args.key} ${tag}` } : args) },
        },
      ],
    })),
  ];
  const frame = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'a-model', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const end = frame({}, calls.length > 0 ? 'tool_calls' : 'stop');
  return [...deltas.map((one) => frame(one)), end, 'data: [DONE]\n\n'];
}

/** What holds once the run has ended, whatever died in the meantime. With `isLoaded`, its image may have failed. Returns its cost. */
export async function expectLongRun(
  user: Chatter,
  run: { readonly threadId: string; readonly taskId: string },
  { notes }: LongRuns,
  tag: string,
  readers: readonly (readonly SeenEvent[])[],
  isLoaded = false,
): Promise<number> {
  expect(await user.task(run.taskId)).toMatchObject({ status: 'completed', error: null });
  const [, answer, ...others] = await user.messages(run.threadId);
  expect(others).toEqual([]);
  const parts = answer?.parts ?? [];
  const calls = parts.filter(({ toolCallId }) => toolCallId !== undefined);
  expect(new Set(calls.map(({ toolCallId }) => toolCallId)).size).toBe(calls.length);
  for (const key of ['one', 'two', 'three', 'four', 'five']) {
    const own = calls.filter(({ input }) => (input as { key?: string }).key === `${key} ${tag}`);
    const isInterrupted = own.map(({ output }) => (output as { failure?: { code: string } })?.failure?.code);
    const carriedOut = notes.filter((one) => one === `${key} ${tag}`).length;
    // A call that was under way is not repeated, and it is unknown whether it was carried out.
    expect([key, own.length, carriedOut]).toEqual([key, 1, isInterrupted[0] === 'interrupted' ? carriedOut : 1]);
    expect(carriedOut).toBeLessThanOrEqual(1);
  }
  const images = calls.filter(({ type }) => type === 'tool-generateImage');
  const failures = images.map(({ output }) => (output as { failure?: { code: string } })?.failure?.code);
  const isRefused = isLoaded && failures[0] === 'provider_failed';
  expect(failures).toEqual([isRefused ? 'provider_failed' : undefined]);
  expect(images).toMatchObject([{ state: 'output-available', output: { status: isRefused ? 'failed' : 'completed' } }]);
  expect(parts.filter(({ text }) => text === 'That was all.')).toHaveLength(1);
  const whole = (await user.stream(run.taskId)).events;
  for (const events of [...readers, whole]) {
    const [epoch] = (events[0]?.id ?? '').split('-');
    expect(events.map(({ id }) => id)).toEqual(events.map((_event, index) => `${epoch}-${index + 1}`));
    expect((await rebuilt(events)).map(comparable)).toEqual(parts.map(comparable));
  }
  return isRefused ? 1 : cost;
}

/** As the AI SDK's client builds the message, without void parts. */
async function rebuilt(events: readonly SeenEvent[]): Promise<UIMessage['parts']> {
  const chunks = withoutVoid(events).map(({ data }) => data as unknown as UIMessageChunk);
  let message: UIMessage | undefined;
  for await (const next of readUIMessageStream({
    stream: ReadableStream.from(chunks) as ReadableStream<UIMessageChunk>,
  }))
    message = next;
  return message?.parts ?? [];
}

/** Each read of messages signs URLs again. */
function comparable(part: Message['parts'][number] | UIMessage['parts'][number]) {
  const { type, text, toolCallId, state, input, output, errorText } = part as Record<string, unknown>;
  const { url: _url, thumbUrl: _thumbUrl, mime: _mime, ...shown } = Object(output) as Record<string, unknown>;
  return { type, text, toolCallId, state, input, errorText, output: output === undefined ? undefined : shown };
}
