/**
 * A language model whose provider may fail (docs/specification/agent.md#provider-failures): bounded in time, retried
 * until its first token, replaced by a fallback, and called again with half of the prompt if that was too long.
 */
import {
  APICallError,
  InvalidResponseDataError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4StreamPart,
  type SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type { Log } from '#platform/log.ts';
import { DeadlineExceeded, withDeadline } from '#platform/resilience/deadline.ts';
import type { Telemetry } from '#platform/telemetry/telemetry.ts';
import { type ChatSpan, startChatSpan } from './chatspan.ts';
import { coalesceDeltas, type PartSource } from './coalescing.ts';
import { FirstTokenTimeout } from './expectedfailures.ts';
import { mergingProvider } from './mergedframes.ts';
import { isContextTooLong } from './promptsize.ts';
import { isRetryableStatus, maxTries, waitBeforeRetry } from './retrying.ts';
import { newestHalf } from './shorterprompt.ts';
import { isBreak, streamFailure } from './streamfailure.ts';

export interface ResilienceOptions {
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
    const windowMs = providerName === mergingProvider ? 0 : undefined;
    return { ...result, stream: coalesceDeltas(opening, reader, { idleMs, onBroken, windowMs }) };
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
