/**
 * A language model whose provider may fail (docs/specification/agent.md#provider-failures): bounded in time, retried
 * until its first token, replaced by a fallback, and called again with half of the prompt if that was too long.
 */
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { APICallError, InvalidResponseDataError } from 'ai';
import type { Log } from '#platform/log.ts';
import { DeadlineExceeded, withDeadline } from '#platform/resilience/deadline.ts';
import { FirstTokenTimeout } from './failures.ts';
import { isContextTooLong, newestHalf } from './promptsize.ts';
import { isRetryableStatus, maxTries, waitBeforeRetry } from './retrying.ts';

export interface ResilienceOptions {
  readonly firstTokenMs: number;
  readonly idleMs: number;
  readonly log: Log;
}

type Candidates = readonly [LanguageModelV4, ...LanguageModelV4[]];
type StreamResult = Awaited<ReturnType<LanguageModelV4['doStream']>>;

/** The first of `candidates`; each next one takes over when the one before cannot be reached before its first token. */
export function createResilientModel(candidates: Candidates, options: ResilienceOptions): LanguageModelV4 {
  const [first, ...fallbacks] = candidates;
  return {
    specificationVersion: 'v4',
    provider: first.provider,
    modelId: first.modelId,
    supportedUrls: first.supportedUrls,
    doGenerate: (call) => first.doGenerate(call),
    async doStream(call) {
      let failure: unknown;
      for (const candidate of [first, ...fallbacks]) {
        try {
          return await streamWithRetries(candidate, call, options);
        } catch (error) {
          call.abortSignal?.throwIfAborted();
          failure = error;
          if (!isUnreachable(error)) break;
          options.log.warn({ err: error, model: candidate.modelId }, 'a model could not be reached');
        }
      }
      throw failure;
    },
  };
}

async function streamWithRetries(
  model: LanguageModelV4,
  call: LanguageModelV4CallOptions,
  options: ResilienceOptions,
): Promise<StreamResult> {
  let { prompt } = call;
  for (let tries = 1; ; tries++) {
    try {
      return await openStream(model, { ...call, prompt }, options);
    } catch (error) {
      call.abortSignal?.throwIfAborted();
      if (prompt === call.prompt && isContextTooLong(error)) {
        prompt = newestHalf(prompt);
        if (prompt.length === call.prompt.length) throw error;
        continue;
      }
      if (tries >= maxTries || !isRetryable(error)) throw error;
      if (!(await waitBeforeRetry(tries, retryAfterOf(error), call.abortSignal))) throw error;
    }
  }
}

/** Resolves at the first token, so that everything before it can be tried again. */
async function openStream(
  model: LanguageModelV4,
  call: LanguageModelV4CallOptions,
  { firstTokenMs, idleMs }: ResilienceOptions,
): Promise<StreamResult> {
  const ending = new AbortController();
  const abortSignal =
    call.abortSignal === undefined ? ending.signal : AbortSignal.any([call.abortSignal, ending.signal]);
  const open = async () => {
    const result = await model.doStream({ ...call, abortSignal });
    const reader = result.stream.getReader();
    const opening: LanguageModelV4StreamPart[] = [];
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { result, reader, opening };
      if (value.type === 'error') throw value.error;
      opening.push(value);
      if (isToken(value) || value.type === 'finish') return { result, reader, opening };
    }
  };
  try {
    const { result, reader, opening } = await withDeadline(firstTokenMs, open);
    return { ...result, stream: continueStream(opening, reader, idleMs, ending) };
  } catch (error) {
    ending.abort(error);
    throw error instanceof DeadlineExceeded ? new FirstTokenTimeout() : error;
  }
}

function continueStream(
  opening: LanguageModelV4StreamPart[],
  reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>,
  idleMs: number,
  ending: AbortController,
): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream<LanguageModelV4StreamPart>({
    async pull(controller) {
      const next = opening.shift();
      if (next !== undefined) return controller.enqueue(next);
      try {
        const { done, value } = await withDeadline(idleMs, () => reader.read());
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        controller.error(error);
        ending.abort(error);
      }
    },
    cancel: (reason) => {
      ending.abort(reason);
      return reader.cancel(reason);
    },
  });
}

/** The first of an answer. Nothing comes of an empty role chunk, which providers send ahead. */
function isToken(part: LanguageModelV4StreamPart): boolean {
  switch (part.type) {
    case 'text-start':
    case 'text-delta':
    case 'reasoning-start':
    case 'reasoning-delta':
    case 'tool-input-start':
    case 'tool-call':
    case 'file':
      return true;
    default:
      return false;
  }
}

function isUnreachable(error: unknown): boolean {
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
