/**
 * The offline model: a stand-in for a language model that works without a key. It is a pure function of the prompt. It
 * streams reasoning, calls the tools that plain words request, then writes a text about their results. Every response
 * states that it is simulated.
 */
import { setImmediate as giveWay, setTimeout as sleep } from 'node:timers/promises';
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { answerTo, fillerOf, label, reasoningFor } from './answering.ts';
import { readRequest } from './request.ts';

/** The pause between two words of an ordinary response: short, but visible. */
const wordMs = 8;

type Prompt = LanguageModelV4CallOptions['prompt'];

export const offlineModel: LanguageModelV4 = {
  specificationVersion: 'v4',
  provider: 'offline',
  modelId: 'offline-demo',
  // The model downloads nothing. It only reads words.
  supportedUrls: { '*/*': [/.*/] },
  async doGenerate(options) {
    const text = [];
    for await (const part of speak(options)) if (part.type === 'text-delta') text.push(part.delta);
    return { content: [{ type: 'text', text: text.join('') }], finishReason: stop, usage, warnings: [] };
  },
  async doStream(options) {
    return { stream: ReadableStream.from(speak(options)) };
  },
};

const stop = { unified: 'stop', raw: undefined } as const;
const calls = { unified: 'tool-calls', raw: undefined } as const;
const usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

async function* speak({
  prompt,
  abortSignal: signal,
}: LanguageModelV4CallOptions): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: [] };
  const { question, answers } = lastTurn(prompt);
  const { script, toolRequests } = readRequest(question);
  const isFirstStep = answers.length === 0;
  if (isFirstStep) yield* reason(reasoningFor(toolRequests));
  if (isFirstStep && script?.kind === 'fail') {
    yield* say([`${label} This run fails because it was asked to. `, 'Half a sen'], wordMs, signal, false);
    yield { type: 'error', error: new Error('asked to fail') };
    return;
  }
  if (isFirstStep && toolRequests.length > 0) {
    for (const [index, { toolName, input }] of toolRequests.entries()) {
      const toolCallId = `call-${prompt.length}-${index + 1}`;
      yield { type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) };
    }
    yield { type: 'finish', usage, finishReason: calls };
    return;
  }
  if (script?.kind === 'slow') {
    const words = fillerOf(script.seconds * 2);
    yield* say([`${label} Slowly: `, ...words], 500, signal);
  } else if (script?.kind === 'long') yield* say([`${label} `, ...fillerOf(script.words)], 0, signal);
  else yield* say(answerTo(question, answers, instructionsOf(prompt)).match(/\S+\s*/g) ?? [], wordMs, signal);
  yield { type: 'finish', usage, finishReason: stop };
}

async function* reason(text: string): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'reasoning-start', id: 'r' };
  yield { type: 'reasoning-delta', id: 'r', delta: text };
  yield { type: 'reasoning-end', id: 'r' };
}

async function* say(
  words: readonly string[],
  pauseMs: number,
  signal: AbortSignal | undefined,
  toTheEnd = true,
): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'text-start', id: 't' };
  for (const [index, delta] of words.entries()) {
    signal?.throwIfAborted();
    yield { type: 'text-delta', id: 't', delta };
    if (pauseMs > 0) await sleep(pauseMs, undefined, signal && { signal });
    // Yields, as a network would. Otherwise all other work of the process would wait for the last word.
    else if (index % 32 === 31) await giveWay();
  }
  if (toTheEnd) yield { type: 'text-end', id: 't' };
}

/** Describes an attached image in words, beside the user's text. A model that sees no images is reminded of that. */
const attachedNote = /^\[attached: [^\]]*\](?:\n\[[^\]]*\])?$/;

/** Returns the last message of the user, and the tool results since then. */
function lastTurn(prompt: Prompt): { readonly question: string; readonly answers: readonly ToolAnswer[] } {
  const from = prompt.findLastIndex(({ role }) => role === 'user');
  const message = prompt[from];
  const question =
    message?.role === 'user'
      ? message.content
          .flatMap((part) => (part.type === 'text' && !attachedNote.test(part.text) ? [part.text] : []))
          .join('\n')
      : '';
  const answers = prompt
    .slice(from + 1)
    .flatMap((message) =>
      message.role === 'tool'
        ? message.content.flatMap((part) =>
            part.type === 'tool-result' ? [{ toolName: part.toolName, output: contentOf(part.output) }] : [],
          )
        : [],
    );
  return { question, answers };
}

export interface ToolAnswer {
  readonly toolName: string;
  readonly output: unknown;
}

const contentOf = (output: object): unknown => Reflect.get(output, 'value');

function instructionsOf(prompt: Prompt): string {
  const [first] = prompt;
  return first?.role === 'system' ? first.content : '';
}
