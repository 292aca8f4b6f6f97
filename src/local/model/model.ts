/**
 * The offline model: a stand-in for a language model that works without a key. It is a pure function of the prompt. It
 * streams reasoning, calls the tools that plain words request, then writes a text about their results. Every response
 * states that it is simulated.
 */
import { setImmediate as giveWay, setTimeout as sleep } from 'node:timers/promises';
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';

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
  tools = [],
  abortSignal: signal,
}: LanguageModelV4CallOptions): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: [] };
  const { question, answers } = lastTurn(prompt);
  const { script, toolRequests: wanted } = readRequest(question);
  // A temporary conversation, for example, offers no tools of the memory.
  const toolRequests = wanted.filter(({ toolName }) => tools.some(({ name }) => name === toolName));
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

// The texts of the offline model.

export const label = '[offline demo model]';

const reasoningFor = (toolRequests: readonly ToolRequest[]): string =>
  toolRequests.length === 0 ? 'No tool is asked for; I answer in words.' : 'I do what the message asks for first.';

export function answerTo(question: string, answers: readonly ToolAnswer[], instructions: string): string {
  if (answers.length > 0) return `${label} ${answers.map(describe).join(' ')}`;
  const blocks = [...instructions.matchAll(/^<(wishes|memories)>\n([\s\S]*?)\n<\/\1>$/gm)];
  const known = blocks.flatMap(([, , lines = '']) => lines.split('\n').map((line) => line.replace(/^- /, '')));
  const memory = known.length === 0 ? '' : ` I was reminded of: ${list(known)}`;
  const excerpt = question.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
  return `${label} I understood: “${excerpt}”.${memory} Ask me for an image, an edit or a video, or tell me to remember something.`;
}

function describe({ toolName, output }: ToolAnswer): string {
  const result = typeof output === 'object' && output !== null ? output : {};
  const status: unknown = Reflect.get(result, 'status');
  const failure: unknown = Reflect.get(result, 'failure');
  if (typeof failure === 'object' && failure !== null) return sentence(Reflect.get(failure, 'message'));
  const made: unknown = Reflect.get(result, 'assetIds');
  switch (toolName) {
    case 'generateImage':
      return `Here ${Array.isArray(made) && made.length > 1 ? `are your ${made.length} images` : 'is your image'}, drawn by the offline renderer.`;
    case 'editImage':
      return 'Here is the edited image, by the offline renderer.';
    case 'generateVideo':
      return status === 'completed' ? 'Here is your video, by the offline renderer.' : 'Your video is being made.';
    case 'saveMemory': {
      const saved: unknown = Reflect.get(result, 'content');
      return typeof saved === 'string' ? `I will remember: ${sentence(saved)}` : 'I could not save that.';
    }
    case 'recallMemory': {
      const memories: unknown = Reflect.get(result, 'memories');
      const known = Array.isArray(memories) ? memories.map(String) : [];
      return known.length === 0 ? 'I remember nothing of that.' : `I remember: ${list(known)}`;
    }
    case 'forgetMemory': {
      const forgotten: unknown = Reflect.get(result, 'forgotten');
      return typeof forgotten === 'string' ? `I forgot: ${sentence(forgotten)}` : 'I did not find that in my memory.';
    }
    default:
      return 'The tool has answered.';
  }
}

/** Contents can end with a full stop already. */
const withoutStop = (content: unknown): string => String(content).replace(/\.$/, '');
const sentence = (content: unknown): string => `${withoutStop(content)}.`;

/** Several memories can have the same content, for example with other scopes. */
const list = (contents: readonly string[]): string => sentence([...new Set(contents.map(withoutStop))].join('; '));

const words = 'the light over the quiet hills turns slowly into evening and nobody minds the time it takes '.split(' ');

export function fillerOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${words[index % (words.length - 1)]} `);
}

// Finds out what a message requests from the offline model, by plain words. The result is the same for the same words.

export type Script =
  | { readonly kind: 'slow'; readonly seconds: number }
  | { readonly kind: 'long'; readonly words: number }
  | { readonly kind: 'fail' };

interface ToolRequest {
  readonly toolName: 'generateImage' | 'editImage' | 'generateVideo' | 'saveMemory' | 'recallMemory' | 'forgetMemory';
  readonly input: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly script: Script | undefined;
  readonly toolRequests: readonly ToolRequest[];
}

const longestText = 100_000;
const promptLength = 500;
/** Characters that are read. Every request that a user means comes within these. */
const longestQuestion = 4_000;

export function readRequest(message: string): ModelRequest {
  const question = message
    .slice(0, longestQuestion)
    .toWellFormed()
    .replace(/\s+/g, (run) => (run.includes('\n') ? '\n' : ' '));
  return { script: scriptIn(question), toolRequests: toolRequestsIn(question) };
}

function scriptIn(message: string): Script | undefined {
  const [, word, number] = /(?:^|\s)\/(slow|fail|long)\b(?:\s+(\d{1,6}))?/.exec(message) ?? [];
  if (word === 'fail') return { kind: 'fail' };
  if (word === 'slow') return { kind: 'slow', seconds: Math.min(Number(number ?? 20), 600) };
  if (word === 'long') return { kind: 'long', words: Math.min(Number(number ?? 1000), longestText) };
  return undefined;
}

/** Up to the end of the sentence. */
const remember = /\bremember\b(?: that)?[ :,\n]+([^.!?;\n]+)/i;
/** Where the next request of the same sentence begins. */
const furthermore = / and (?:then )?(?:make|create|draw|show|generate|edit)\b/i;
/** Only at the beginning, because many sentences mention forgetting. */
const forget = /^(?:please,? )?forget(?: that)?[ :,\n]+([^.!?;\n]+)/i;
const recall = /\brecall\b|\bwhat do you (?:know|remember)\b/i;

function toolRequestsIn(message: string): readonly ToolRequest[] {
  const prompt = message.trim().slice(0, promptLength) || 'something';
  if (recall.test(message)) return [{ toolName: 'recallMemory', input: { query: prompt } }];
  const forgotten = forget.exec(message.trim())?.[1]?.trim() ?? '';
  if (forgotten !== '') return [{ toolName: 'forgetMemory', input: { query: forgotten } }];
  const [, sentence = ''] = remember.exec(message) ?? [];
  const content = sentence.split(furthermore, 1).join('').trim();
  const rest = message.replace(content, '');
  const toolRequests: ToolRequest[] = [];
  if (content !== '') toolRequests.push({ toolName: 'saveMemory', input: { content } });
  if (/\bedit\b/i.test(rest)) toolRequests.push({ toolName: 'editImage', input: { prompt } });
  else if (/\b(?:images?|pictures?)\b/i.test(rest)) toolRequests.push({ toolName: 'generateImage', input: { prompt } });
  if (/\bvideos?\b|(?:^|\s)\/insufficient\b/i.test(rest))
    toolRequests.push({ toolName: 'generateVideo', input: { prompt } });
  return toolRequests;
}
