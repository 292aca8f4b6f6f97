/** The chunks of a turn: those of the SDK, although each step is a stream of its own, and its tools are carried out here. */

import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { isStepCount, jsonSchema, streamText, type ToolSet, tool, type UIMessageChunk } from 'ai';
import { describe, expect, it } from 'vitest';
import { createLog } from '#platform/log.ts';
import { noTelemetry } from '#platform/telemetry/trace.ts';
import { UsageMeter } from '../billing/usage.ts';
import type { AgentContext } from '../context.ts';
import { AgentMetrics } from '../metrics.ts';
import { explainFailure } from '../providers/failures.ts';
import type { Chunk } from '../stream/chunks.ts';
import { EventLogLost } from '../stream/eventwriter.ts';
import { type CallContext, streamTurn, ToolCalls, type TurnStream } from './loop.ts';

type Part = LanguageModelV4StreamPart;
type Step = () => AsyncIterator<Part> | Iterator<Part>;

const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
const usage = { inputTokens: none, outputTokens: { total: undefined, text: undefined, reasoning: undefined } };
const finish = (unified: 'stop' | 'tool-calls' = 'stop'): Part => ({
  type: 'finish',
  usage,
  finishReason: { unified, raw: unified },
});
const start = (id: string): Part => ({ type: 'text-start', id });
const delta = (id: string, text: string): Part => ({ type: 'text-delta', id, delta: text });
const end = (id: string): Part => ({ type: 'text-end', id });
const think = (id: string, ...texts: string[]): Part[] => [
  { type: 'reasoning-start', id },
  ...texts.map((text): Part => ({ type: 'reasoning-delta', id, delta: text })),
  { type: 'reasoning-end', id },
];
const say = (id: string, ...texts: string[]): Part[] => [start(id), ...texts.map((text) => delta(id, text)), end(id)];
const callOf = (id: string, input = '{}', toolName = 'look'): Part[] => [
  { type: 'tool-input-start', id, toolName },
  { type: 'tool-input-delta', id, delta: input },
  { type: 'tool-input-end', id },
  { type: 'tool-call', toolCallId: id, toolName, input },
];
const signed = { maker: { signature: 's' } };

const inputSchema = jsonSchema<object>({ type: 'object' });
const tools: ToolSet = {
  look: tool({ inputSchema, execute: async () => 'a tree' }),
  fail: tool({ inputSchema, execute: (): Promise<string> => Promise.reject(new Error('broken')) }),
};

/** A model that plays the steps in order. `prompts`: what it was called with. */
function modelOf(steps: readonly Step[]) {
  const prompts: LanguageModelV4CallOptions['prompt'][] = [];
  const canceled: unknown[] = [];
  const model: LanguageModelV4 = {
    specificationVersion: 'v4',
    provider: 'test',
    modelId: 'test',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('not asked for')),
    async doStream({ prompt, abortSignal }) {
      abortSignal?.addEventListener('abort', () => void canceled.push(abortSignal.reason), { once: true });
      const parts = (steps[prompts.length] ?? (() => [finish()].values()))();
      prompts.push(prompt);
      const stream = new ReadableStream<Part>(
        {
          async pull(controller) {
            const { done, value } = await parts.next();
            if (done) controller.close();
            else controller.enqueue(value);
          },
        },
        { highWaterMark: 0 },
      );
      return { stream };
    },
  };
  return { model, prompts, canceled };
}

const stepsOf = (...steps: readonly (readonly Part[])[]): readonly Step[] =>
  steps.map((parts) => () => [...parts].values());

// No step has an image or a document, and no tool uses more.
const deps = {
  log: createLog({ level: 'silent' }),
  maxSteps: 4,
  maxToolCallsPerStep: 16,
  metrics: new AgentMetrics(),
  telemetry: noTelemetry,
} as AgentContext;

/** One turn. `onWrite` sees each chunk before it counts as written. */
function play(steps: readonly Step[], onWrite: (chunk: Chunk) => void = () => undefined) {
  const written: Chunk[] = [];
  const { model, prompts, canceled } = modelOf(steps);
  const ending = new AbortController();
  const nothing = async () => undefined;
  const writer: CallContext['writer'] = {
    async write(chunk) {
      onWrite(chunk);
      written.push(chunk);
    },
    flush: nothing,
  };
  const journal = { callStarted: nothing, callFinished: nothing, stepFinished: nothing };
  const calls = new ToolCalls(deps, { tools, journal, writer, signal: ending.signal, tookMs: new Map() });
  const turn: TurnStream = {
    model,
    firstStep: 1,
    takenIds: [],
    calls,
    asks: () => undefined,
    commitStep: nothing,
    instructions: 'Be kind.',
    messages: [{ role: 'user', content: 'Hello?' }],
    tools,
    takeImages: () => [],
    ownerId: 'someone',
    usage: new UsageMeter(),
    signal: ending.signal,
    writer,
    keepFile: async (chunk) => chunk,
  };
  return { outcome: streamTurn(deps, turn), written, prompts, canceled, ending };
}

/** The chunks that the SDK makes of the same steps, up to an error, without those that the run's writer does not get. */
async function chunksOfSdk(steps: readonly Step[]) {
  const { model, prompts } = modelOf(steps);
  const options = { model, tools, prompt: 'Hello?', instructions: 'Be kind.', stopWhen: isStepCount(4), maxRetries: 0 };
  const result = streamText({ ...options, onError: () => undefined });
  const chunks: UIMessageChunk[] = [];
  for await (const chunk of result.toUIMessageStream({
    onError: explainFailure,
    redactToolErrors: true,
    sendSources: true,
  })) {
    if (chunk.type === 'error') break;
    if (chunk.type !== 'start' && chunk.type !== 'finish') chunks.push(chunk);
  }
  return { chunks, prompts };
}

/** Repeated ids are renamed, by the SDK at random. */
function withPlainIds(chunks: readonly Chunk[]): readonly Chunk[] {
  const names = new Map<string, string>();
  return chunks.map((chunk) => {
    if (!/^(?:text|reasoning)-/.test(chunk.type) || !('id' in chunk)) return chunk;
    const key = `${chunk.type.split('-')[0]} ${chunk.id}`;
    names.set(key, names.get(key) ?? `part ${names.size}`);
    return { ...chunk, id: names.get(key) } as Chunk;
  });
}

/** Results of tools may be earlier than the SDK's, which come after all calls. */
function withLateResults(chunks: readonly Chunk[]): readonly Chunk[] {
  const late: Chunk[] = [];
  return chunks.flatMap((chunk): readonly Chunk[] => {
    if (chunk.type === 'tool-output-available' || chunk.type === 'tool-output-error') {
      late.push(chunk);
      return [];
    }
    return chunk.type === 'finish-step' ? [...late.splice(0), chunk] : [chunk];
  });
}

const scripts: readonly (readonly [string, readonly (readonly Part[])[]])[] = [
  ['a text', [[...say('1', 'a', 'b', 'c'), finish()]]],
  ['texts in turn', [[...say('1', 'a', 'b'), ...say('2', 'c', 'd'), finish()]]],
  ['reasoning, then a text', [[...think('1', 'a', 'b'), ...say('1', 'c', 'd'), finish()]]],
  [
    'texts that are open at once',
    [[start('1'), delta('1', 'a'), start('2'), delta('2', 'b'), delta('1', 'c'), delta('2', 'd'), end('1'), end('2')]],
  ],
  ['texts that start together', [[start('1'), start('2'), delta('1', 'a'), delta('2', 'b'), end('2'), end('1')]]],
  [
    'a tool call within a text',
    [
      [start('1'), delta('1', 'a'), ...callOf('c'), delta('1', 'b'), end('1'), finish('tool-calls')],
      [...say('1', 'c', 'd'), finish()],
    ],
  ],
  [
    'text, reasoning and tool calls in turn',
    [
      [...think('1', 'a', 'b'), ...say('1', 'c', 'd'), ...callOf('c1'), ...callOf('c2'), finish('tool-calls')],
      [...think('1', 'e'), ...say('1', 'f', 'g'), ...callOf('c3', '{}', 'fail'), finish('tool-calls')],
      [...say('1', 'h', 'i'), finish()],
    ],
  ],
  [
    'a call of an unknown tool',
    [
      [...callOf('c', '{}', 'fly'), finish('tool-calls')],
      [...say('1', 'a'), finish()],
    ],
  ],
  [
    'a call that is no JSON',
    [
      [...callOf('c', '{'), finish('tool-calls')],
      [...say('1', 'a'), finish()],
    ],
  ],
  [
    'metadata of the provider',
    [
      [
        { ...start('1'), providerMetadata: signed } as Part,
        delta('1', 'a'),
        { ...delta('1', 'b'), providerMetadata: signed } as Part,
        delta('1', 'c'),
        { ...end('1'), providerMetadata: signed } as Part,
        finish(),
      ],
    ],
  ],
  [
    'a signature at the end of reasoning',
    [
      [
        { type: 'reasoning-start', id: '1' },
        { type: 'reasoning-delta', id: '1', delta: 'a' },
        { type: 'reasoning-delta', id: '1', delta: '', providerMetadata: signed },
        { type: 'reasoning-end', id: '1' },
        ...say('2', 'b', 'c'),
        finish(),
      ],
    ],
  ],
  ['empty deltas', [[...think('1', '', 'a', ''), ...say('2', '', 'b', ''), ...say('3'), finish()]]],
  ['a source within a text', [[start('1'), delta('1', 'a'), source(), delta('1', 'b'), end('1'), finish()]]],
  ['an end without the end of its text', [[start('1'), delta('1', 'a'), delta('1', 'b'), finish()]]],
  ['no end at all', [[start('1'), delta('1', 'a'), delta('1', 'b')]]],
  ['a delta of no text', [[delta('1', 'a'), finish()]]],
  [
    'an error within a text',
    [[start('1'), delta('1', 'a'), delta('1', 'b'), { type: 'error', error: new Error('?') }]],
  ],
];

function source(): Part {
  return { type: 'source', sourceType: 'url', id: 's', url: 'https://example.com' };
}

describe('a turn writes what the SDK makes of', () => {
  it.each(scripts)('%s', async (_title, script) => {
    const expected = await chunksOfSdk(stepsOf(...script));
    const { outcome, written, prompts } = play(stepsOf(...script));
    await outcome;
    expect(withPlainIds(withLateResults(written))).toEqual(withPlainIds(withLateResults(expected.chunks)));
    // The next step gets the text of the one before.
    expect(prompts.length).toBe(script.length);
    expect(prompts).toEqual(expected.prompts);
  });
});

it('gives each delta to the writer while the provider has sent no more', async () => {
  const seen = Promise.withResolvers<void>();
  const { outcome, written } = play(
    [
      async function* () {
        yield start('1');
        yield delta('1', 'a');
        await seen.promise;
        yield delta('1', 'b');
        yield end('1');
        yield finish();
      },
    ],
    (chunk) => chunk.type === 'text-delta' && chunk.delta === 'a' && seen.resolve(),
  );
  await expect(outcome).resolves.toEqual({ status: 'completed', finishReason: 'stop' });
  expect(textOf(written)).toBe('ab');
});

it.each(['a', 'b', 'c'])(
  'rejects with the error of a writer that fails at %j, and writes nothing more',
  async (last) => {
    const lost = new EventLogLost('lost');
    let failures = 0;
    const { outcome, written, canceled } = play(stepsOf([...say('1', 'a', 'b', 'c', 'd'), finish()]), (chunk) => {
      if (chunk.type !== 'text-delta' || chunk.delta !== last) return;
      failures += 1;
      throw lost;
    });
    await expect(outcome).rejects.toBe(lost);
    expect(textOf(written)).toBe('abc'.slice(0, 'abc'.indexOf(last)));
    expect([failures, written.at(-1)?.type === 'text-end', canceled.length]).toEqual([1, false, 1]);
  },
);

it('keeps the text of a stream of the provider that breaks, and rejects with its error', async () => {
  const broken = new TypeError('terminated');
  const { outcome, written } = play([
    function* () {
      yield* [...say('1', 'a', 'b'), start('2'), delta('2', 'c'), delta('2', 'd')];
      throw broken;
    },
  ]);
  await expect(outcome).rejects.toBe(broken);
  expect(textOf(written)).toBe('abcd');
});

it('writes nothing after an abort, and ends the stream of the provider', async () => {
  const aborted = new Error('aborted');
  const { outcome, written, canceled, ending } = play(
    stepsOf([...say('1', 'a', 'b', 'c', 'd'), finish()]),
    (chunk) => chunk.type === 'text-delta' && chunk.delta === 'b' && ending.abort(aborted),
  );
  await expect(outcome).rejects.toBe(aborted);
  await expect.poll(() => canceled.length).toBe(1);
  expect(textOf(written)).toBe('ab');
});

it.each([
  ['stop', 'max-steps', [...callOf('c'), finish('stop')]],
  ['tool-calls', 'max-steps', [...callOf('c'), finish('tool-calls')]],
  ['tool-calls', 'tool-calls', [...say('1', 'a'), finish('tool-calls')]],
] satisfies readonly (readonly [string, string, readonly Part[]])[])(
  'a last step that ends with %s completes the answer with %s',
  async (_reason, finishReason, step) => {
    const { outcome } = play(stepsOf(step, step, step, step));
    await expect(outcome).resolves.toEqual({ status: 'completed', finishReason });
  },
);

it('ends at an abort while the start of a text is on its way', async () => {
  const aborted = new Error('aborted');
  const { outcome, written, ending } = play(
    stepsOf([start('1'), delta('1', 'a'), end('1'), finish()]),
    (chunk) => chunk.type === 'start-step' && ending.abort(aborted),
  );
  await expect(outcome).rejects.toBe(aborted);
  expect(written.map(({ type }) => type)).toEqual(['start-step']);
});

function textOf(chunks: readonly Chunk[]): string {
  return chunks.flatMap((chunk) => (chunk.type === 'text-delta' ? [chunk.delta] : [])).join('');
}
