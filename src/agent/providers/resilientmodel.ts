/**
 * A language model whose provider may fail (docs/specification/agent.md#provider-failures): bounded in time, retried
 * until its first token, replaced by a fallback, and called again with half of the prompt if that was too long.
 */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import {
  APICallError,
  InvalidResponseDataError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4Message,
  type LanguageModelV4Prompt,
  type LanguageModelV4StreamPart,
  type SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type { Log } from '#platform/log.ts';
import { DeadlineExceeded, startIdleDeadline, withDeadline } from '#platform/resilience.ts';
import { type Attributes, currentScope, type Telemetry } from '#platform/telemetry/trace.ts';
import { isNoteOfToolImage } from '../attachments.ts';
import { FirstTokenTimeout } from '../problems.ts';
import { isRetryableStatus, maxTries, waitBeforeRetry } from './retrying.ts';

interface ResilienceOptions {
  readonly firstTokenMs: number;
  readonly idleMs: number;
  readonly log: Log;
  readonly telemetry: Telemetry;
}

export interface Candidate {
  /** As users name it. */
  readonly id: string;
  /** As `MODELS_FILE` names the provider. */
  readonly providerName: string;
  readonly model: LanguageModelV4;
}

type Candidates = readonly [Candidate, ...Candidate[]];
type StreamResult = Awaited<ReturnType<LanguageModelV4['doStream']>>;

/** The first of `candidates`; each next one takes over when the one before cannot be reached before its first token. */
export function createResilientModel(candidates: Candidates, options: ResilienceOptions): LanguageModelV4 {
  const { model } = candidates[0];
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (call) => model.doGenerate(call),
    async doStream(call) {
      let failure: unknown;
      for (const [index, candidate] of candidates.entries()) {
        try {
          const result = await streamWithRetries(candidate, call, options);
          return index === 0 ? result : { ...result, stream: result.stream.pipeThrough(namingAnswerer(candidate.id)) };
        } catch (error) {
          call.abortSignal?.throwIfAborted();
          failure = error;
          if (!isUnreachable(error)) break;
          options.log.warn({ err: error, model: candidate.id }, 'a model could not be reached');
        }
      }
      throw failure;
    },
  };
}

/** Where the last part of an answer names the fallback that gave it. */
const metadataKey = 'atelier';

function namingAnswerer(id: string) {
  return new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
    transform(part, controller) {
      if (part.type !== 'finish') return controller.enqueue(part);
      controller.enqueue({
        ...part,
        providerMetadata: { ...part.providerMetadata, [metadataKey]: { answeredBy: id } },
      });
    },
  });
}

/** The id of the fallback that answered; `undefined` if the requested model did. */
export function readAnswerer(metadata: SharedV4ProviderMetadata | undefined): string | undefined {
  const id = metadata?.[metadataKey]?.answeredBy;
  return typeof id === 'string' ? id : undefined;
}

async function streamWithRetries(
  candidate: Candidate,
  call: LanguageModelV4CallOptions,
  options: ResilienceOptions,
): Promise<StreamResult> {
  let { prompt } = call;
  for (let tries = 1; ; tries++) {
    try {
      return await openStream(candidate, { ...call, prompt }, options);
    } catch (error) {
      call.abortSignal?.throwIfAborted();
      if (prompt === call.prompt && isContextTooLong(error)) {
        const half = newestHalf(prompt);
        if (half === undefined) throw error;
        prompt = half;
        continue;
      }
      if (tries >= maxTries || !isRetryable(error)) throw error;
      if (!(await waitBeforeRetry(tries, retryAfterOf(error), call.abortSignal))) throw error;
    }
  }
}

/** Resolves at the first token, so that everything before it can be tried again. */
async function openStream(
  { model, providerName }: Candidate,
  call: LanguageModelV4CallOptions,
  { firstTokenMs, idleMs, telemetry }: ResilienceOptions,
): Promise<StreamResult> {
  const span = startChatSpan(telemetry, providerName, model.modelId);
  const ending = new AbortController();
  const abortSignal =
    call.abortSignal === undefined ? ending.signal : AbortSignal.any([call.abortSignal, ending.signal]);
  const open = async () => {
    const result = await model.doStream({ ...call, abortSignal });
    const reader = observe(result.stream.getReader(), span);
    const opening: LanguageModelV4StreamPart[] = [];
    for (;;) {
      const { done, value } = await reader.read();
      if (done || (value.type === 'finish' && isBreak(value.finishReason)))
        throw new InvalidResponseDataError({ data: undefined, message: 'no first token' });
      if (value.type === 'error') throw streamFailure(value.error);
      opening.push(value);
      if (isToken(value) || value.type === 'finish') return { result, reader, opening };
    }
  };
  try {
    const { result, reader, opening } = await withDeadline(firstTokenMs, open);
    const onBroken = (reason: unknown) => {
      span.end(call.abortSignal?.aborted ? undefined : reason);
      ending.abort(reason);
    };
    return { ...result, stream: limitPauses(opening, reader, { idleMs, onBroken }) };
  } catch (error) {
    span.end(call.abortSignal?.aborted ? undefined : error);
    ending.abort(error);
    throw error instanceof DeadlineExceeded ? new FirstTokenTimeout() : error;
  }
}

/** The same parts; the span ends with the last one. */
function observe(reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>, span: ChatSpan): PartSource {
  return {
    async read() {
      const result = await reader.read();
      if (result.done) span.end();
      else if (result.value.type === 'error') span.end(result.value.error);
      else span.observe(result.value);
      return result;
    },
    cancel: (reason) => reader.cancel(reason),
  };
}

/** An empty role chunk is no token, nor is the start of a text: providers send both before they generate. */
function isToken(part: LanguageModelV4StreamPart): boolean {
  switch (part.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return part.delta !== '';
    case 'tool-input-start':
    case 'tool-call':
    case 'file':
      return true;
    default:
      return false;
  }
}

/** 408 is retried, but a request that arrives too slowly would do so at every provider. */
function isUnreachable(error: unknown): boolean {
  if (APICallError.isInstance(error) && error.statusCode === 408) return false;
  return error instanceof FirstTokenTimeout || isRetryable(error);
}

function isRetryable(error: unknown): boolean {
  if (APICallError.isInstance(error)) {
    return error.statusCode === undefined ? error.isRetryable : isRetryableStatus(error.statusCode);
  }
  // The connection ended before the first token; then there is no invalid data to report.
  if (InvalidResponseDataError.isInstance(error)) return error.data === undefined;
  // `fetch` rejects with a TypeError when a connection is refused or broken.
  return error instanceof TypeError;
}

function retryAfterOf(error: unknown): string | undefined {
  return APICallError.isInstance(error) ? error.responseHeaders?.['retry-after'] : undefined;
}

// Spans of model calls by OpenTelemetry's conventions for generative AI
// (https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/). No span has a word of a prompt or of an answer.

interface ChatSpan {
  /** Reads what the answer reports about itself. */
  observe(part: LanguageModelV4StreamPart): void;
  /** With an error, the call has failed. Further calls do nothing. */
  end(error?: unknown): void;
}

/** Names of the convention, where they differ from the names of the SDK's packages. */
const wellKnown: Readonly<Record<string, string>> = {
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  vertex: 'gcp.vertex_ai',
  xai: 'x_ai',
};

function startChatSpan(telemetry: Telemetry, providerName: string, modelId: string): ChatSpan {
  const span = telemetry.startSpan('client', `chat ${modelId}`, currentScope()?.trace, {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': wellKnown[providerName] ?? providerName,
    'gen_ai.request.model': modelId,
  });
  let { end } = span;
  let attributes: Attributes = {};
  return {
    observe(part) {
      if (end === undefined) return;
      if (part.type === 'response-metadata' || part.type === 'finish')
        attributes = { ...attributes, ...describe(part) };
    },
    end(error) {
      if (error !== undefined) attributes = { ...attributes, 'error.type': typeOf(error) };
      end?.({ attributes, failed: error !== undefined });
      end = undefined;
    },
  };
}

type Reported = Extract<LanguageModelV4StreamPart, { type: 'response-metadata' | 'finish' }>;

function describe(part: Reported): Attributes {
  if (part.type === 'response-metadata') {
    const { id, modelId } = part;
    return { ...(id && { 'gen_ai.response.id': id }), ...(modelId && { 'gen_ai.response.model': modelId }) };
  }
  const { inputTokens, outputTokens } = part.usage;
  const { unified, raw } = part.finishReason;
  return {
    'gen_ai.response.finish_reasons': [raw || unified],
    ...(inputTokens.total !== undefined && { 'gen_ai.usage.input_tokens': inputTokens.total }),
    ...(outputTokens.total !== undefined && { 'gen_ai.usage.output_tokens': outputTokens.total }),
  };
}

/** Of few values, as the convention requires: the status of a refusal, or the name of the error. */
function typeOf(error: unknown): string {
  if (APICallError.isInstance(error) && error.statusCode !== undefined) return String(error.statusCode);
  return error instanceof Error ? error.name : '_OTHER';
}

// Half of a prompt that its provider has refused for its length (docs/specification/agent.md#prompt).

type Part = Exclude<LanguageModelV4Message['content'], string>[number];
type ToolResult = Extract<Part, { type: 'tool-result' }>;

/**
 * The newest messages that have half of the tokens, from a user's message on. The last question and its steps stay; if they
 * alone are more than half, their longest texts are cut in the middle, and their oldest images left out. `undefined`: nothing
 * could be left out.
 */
export function newestHalf(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt | undefined {
  const system = prompt.filter(({ role }) => role === 'system');
  const messages = prompt.filter(({ role }) => role !== 'system');
  const sizes = messages.map(sizeOf);
  const lastQuestion = messages.findLastIndex(isQuestion);
  let remaining = sumOf(sizes);
  const half = remaining / 2;
  let from = 0;
  while (from < lastQuestion && (remaining > half || !isQuestion(messages[from]))) {
    remaining -= sizes[from] ?? 0;
    from += 1;
  }
  const kept = messages.slice(from);
  const fitting = remaining > half ? withShorterTexts(withFewerImages(kept, half / 2), half) : kept;
  const isShorter = from > 0 || fitting.some((message, index) => message !== kept[index]);
  return isShorter ? [...system, ...fitting] : undefined;
}

/** Images that tools have made follow their step in a message of the user, which is no question. */
function isQuestion(message: LanguageModelV4Message | undefined): boolean {
  if (message?.role !== 'user') return false;
  const texts = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  return texts.length === 0 || !texts.every(isNoteOfToolImage);
}

function sizeOf(message: LanguageModelV4Message): number {
  if (typeof message.content === 'string') return estimateTokens(message.content);
  return sumOf(
    message.content.map((part) => (part.type === 'file' ? imageTokens : estimateTokens(JSON.stringify(part)))),
  );
}

function withFewerImages(messages: readonly LanguageModelV4Message[], maxTokens: number): LanguageModelV4Message[] {
  const count = sumOf(messages.map((message) => partsOf(message).filter(({ type }) => type === 'file').length));
  let excess = count - Math.floor(maxTokens / imageTokens);
  return messages.map((message) =>
    mapParts(message, (part) => {
      if (part.type !== 'file' || excess <= 0) return part;
      excess -= 1;
      return { type: 'text', text: '[an image that is left out]' };
    }),
  );
}

function withShorterTexts(messages: readonly LanguageModelV4Message[], maxTokens: number): LanguageModelV4Message[] {
  const texts = messages.flatMap((message) => partsOf(message).flatMap((part) => textOf(part) ?? []));
  const bytes = texts.map((text) => Buffer.byteLength(text));
  const otherBytes = sumOf(messages.map(sizeOf)) * bytesPerToken - sumOf(bytes);
  const maxBytes = levelOf(bytes, maxTokens * bytesPerToken - otherBytes);
  return messages.map((message) =>
    mapParts(message, (part) => {
      const text = textOf(part);
      return text === undefined || Buffer.byteLength(text) <= maxBytes ? part : withText(part, cut(text, maxBytes));
    }),
  );
}

/** The most that each may have, so that all together have at most `budget`. */
function levelOf(sizes: readonly number[], budget: number): number {
  const ascending = sizes.toSorted((a, b) => a - b);
  let left = budget;
  for (const [index, size] of ascending.entries()) {
    const share = left / (ascending.length - index);
    if (size > share) return Math.max(share, leastBytes);
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

const leastBytes = 300;

/** A question is often at the beginning or the end. */
function cut(text: string, maxBytes: number): string {
  const kept = Math.floor((text.length * maxBytes) / Buffer.byteLength(text) / 2);
  return `${text.slice(0, kept)}\n[…]\n${text.slice(-kept)}`.toWellFormed();
}

/** What can be cut. A signed text stays whole, and so does reasoning before tool calls: providers refuse changes to them. */
function textOf(part: Part): string | undefined {
  if (part.type === 'text' || part.type === 'reasoning') return isSigned(part) ? undefined : part.text;
  if (part.type !== 'tool-result') return undefined;
  const { output } = part;
  if (output.type === 'text' || output.type === 'error-text') return output.value;
  return output.type === 'json' || output.type === 'error-json' ? JSON.stringify(output.value) : undefined;
}

/** Anthropic's, Google's and OpenAI's proof that they wrote it. */
const isSigned = ({ providerOptions = {} }: Part) =>
  Object.values(providerOptions).some(
    ({ signature, thoughtSignature, reasoningEncryptedContent }) =>
      (signature ?? thoughtSignature ?? reasoningEncryptedContent) != null,
  );

function withText(part: Part, text: string): Part {
  if (part.type === 'text' || part.type === 'reasoning') return { ...part, text };
  const type = (part as ToolResult).output.type.startsWith('error') ? 'error-text' : 'text';
  return { ...(part as ToolResult), output: { type, value: text } };
}

const partsOf = ({ content }: LanguageModelV4Message): readonly Part[] => (typeof content === 'string' ? [] : content);

/** The same message, if no part changes. */
function mapParts(message: LanguageModelV4Message, change: (part: Part) => Part): LanguageModelV4Message {
  const parts = partsOf(message);
  const changed = parts.map(change);
  if (changed.every((part, index) => part === parts[index])) return message;
  // A part takes the place of one that the message may have.
  return { ...message, content: changed } as LanguageModelV4Message;
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

// How a stream fails that began with the status 200. Gateways report so that the server behind them failed (docs/providers.md).

/** Words in place of a status. */
const statuses: ReadonlyMap<string, number> = new Map([
  ['context_length_exceeded', 400],
  ['exceed_context_size_error', 400],
  ['internal_server_error', 500],
  ['overloaded_error', 503],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['server_error', 500],
  ['service_unavailable', 503],
]);

/** The same failure as a response with the error's status, so that it is retried alike. Anything else stays as it is. */
export function streamFailure(error: unknown): unknown {
  const { code, status, type, message } = Object(error) as Record<string, unknown>;
  const statusCode = [code, status, type].map(readStatus).find((found) => found !== undefined);
  if (error instanceof Error || statusCode === undefined) return error;
  return new APICallError({
    message: typeof message === 'string' ? message : 'the stream failed',
    url: '',
    requestBodyValues: {},
    statusCode,
    responseBody: JSON.stringify(error),
  });
}

/** The stream broke off: packages report an end without a reason. */
export function isBreak({ unified, raw }: { readonly unified: string; readonly raw: string | undefined }): boolean {
  return unified === 'interrupted' || (unified === 'other' && raw === undefined);
}

function readStatus(value: unknown): number | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') return undefined;
  return /^[45][0-9][0-9]$/.test(text) ? Number(text) : statuses.get(text);
}

// Bounds the pauses of a model's stream. Deltas are merged before it, on OpenAI's wire, and after it, for the event log.

interface IdleStreamOptions {
  /** How long the provider may pause. After that the stream fails with DeadlineExceeded. */
  readonly idleMs: number;
  /** Called when the stream has failed or is canceled, to end the provider's work. */
  readonly onBroken: (reason: unknown) => void;
}

/** In characters. Above it nothing is read from the provider until the reader catches up. */
const maxWaitingSize = 64 * 1024;
/** A provider that sends without a pause must not block other runs and the renewal of their leases. */
const maxBusyMs = 10;

/** A reader of the provider's stream. */
type PartSource = Pick<ReadableStreamDefaultReader<LanguageModelV4StreamPart>, 'read' | 'cancel'>;

/**
 * Passes on `opening` and what `source` still has, and reads ahead. A failure is the last part: a stream that fails itself discards
 * what was not read.
 */
export function limitPauses(
  opening: readonly LanguageModelV4StreamPart[],
  source: PartSource,
  { idleMs, onBroken }: IdleStreamOptions,
): ReadableStream<LanguageModelV4StreamPart> {
  const idle = startIdleDeadline(idleMs);
  let yieldedAtMs = performance.now();
  let isCanceled = false;
  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      start(controller) {
        for (const part of opening) controller.enqueue(part);
      },
      async pull(controller) {
        if (performance.now() - yieldedAtMs > maxBusyMs) {
          await yieldToEventLoop();
          yieldedAtMs = performance.now();
        }
        idle.touch();
        const next = await idle.race(source.read()).catch((error: unknown) => ({ error }));
        idle.pause();
        if (isCanceled) return;
        if ('value' in next && next.value !== undefined) return controller.enqueue(next.value);
        if ('error' in next) {
          onBroken(next.error);
          controller.enqueue({ type: 'error', error: next.error });
        }
        controller.close();
      },
      cancel(reason) {
        isCanceled = true;
        idle.stop();
        onBroken(reason);
        return source.cancel(reason);
      },
    },
    { highWaterMark: maxWaitingSize, size: deltaLength },
  );
}

const deltaLength = (part: LanguageModelV4StreamPart) => ('delta' in part ? part.delta.length : 0);

// How many tokens a prompt has. Tokenizers differ between models, so this is an estimate that errs on the safe side: one
// token for three bytes of UTF-8. English has about four bytes a token, Chinese and Japanese at most about three.

export const bytesPerToken = 3;
/** An image of at most 1568 pixels a side, with the largest of the common formulas. */
export const imageTokens = 1600;

export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

const signs = [
  'context_length',
  'context length',
  'context window',
  'context size',
  'maximum context',
  'too long',
  'too large for',
  'too many tokens',
  'token limit',
  'tokens limit',
  'input tokens',
  'maximum number of tokens',
];

/** A provider refuses a prompt for its length in words of its own. */
function isContextTooLong(error: unknown): boolean {
  if (!APICallError.isInstance(error) || ![400, 413, 422].includes(error.statusCode ?? 0)) return false;
  const reason = `${error.message} ${error.responseBody?.slice(0, 10_000) ?? ''}`.toLowerCase();
  return signs.some((sign) => reason.includes(sign));
}
