/**
 * Streams one turn: the model and its tools, step by step, until the answer is complete. Chunks go to the run's event
 * writer. Steps, silence, time and length are bounded.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { isStepCount, type ModelMessage, streamText, type ToolSet } from 'ai';
import type { Log } from '#platform/log.ts';
import { brokeOff, explainFailure, RunFailure } from '../providers/failures.ts';
import type { EventWriter } from '../stream/eventwriter.ts';
import { withIdleTimeout } from './idletimeout.ts';
import { withDistinctToolCallIds } from './toolcallids.ts';

export interface Turn {
  readonly model: LanguageModelV4;
  readonly instructions: string;
  readonly messages: ModelMessage[];
  readonly tools: ToolSet;
  /** Ends the turn at once when it is aborted. */
  readonly signal: AbortSignal;
  readonly writer: EventWriter;
  /** Set by a tool: the run ends with this reason after the tool's output is written. */
  readonly toolFailure: { readonly reason?: string };
  readonly log: Log;
  readonly limits?: Partial<typeof defaultLimits>;
}

export type TurnEnd =
  | { readonly status: 'completed'; readonly finishReason: string }
  | { readonly status: 'failed'; readonly error: string };

const maxBusyMs = 10;
const defaultLimits = { maxSteps: 8, idleMs: 60_000, maxRetries: 2 };

/** Rejects with the writer's error, and with the signal's reason once that is aborted. */
export async function streamTurn(turn: Turn): Promise<TurnEnd> {
  const { log, signal, writer } = turn;
  const { maxSteps, idleMs, maxRetries } = { ...defaultLimits, ...turn.limits };
  let failure: unknown;
  const result = streamText({
    model: withDistinctToolCallIds(withIdleTimeout(turn.model, idleMs)),
    instructions: turn.instructions,
    messages: turn.messages,
    tools: turn.tools,
    stopWhen: isStepCount(maxSteps),
    abortSignal: signal,
    maxRetries,
    experimental_download: refuseDownloads,
    onError: ({ error }) => {
      failure ??= error;
    },
  });
  const describe = (error: unknown) => explainFailure(error).slice(0, 1000);
  let steps = 0;
  let yieldedAtMs = performance.now();
  let end: TurnEnd | undefined;
  for await (const chunk of result.toUIMessageStream({ onError: describe, redactToolErrors: true })) {
    if (signal.aborted) break;
    // A model that streams without a pause must not block other runs and the renewal of their leases.
    if (performance.now() - yieldedAtMs > maxBusyMs) {
      await yieldToEventLoop();
      yieldedAtMs = performance.now();
    }
    if (chunk.type === 'start') continue;
    if (chunk.type === 'start-step') steps += 1;
    if (chunk.type === 'error') {
      log.warn({ err: failure }, 'the model failed');
      end ??= { status: 'failed', error: chunk.errorText };
      break;
    }
    if (chunk.type === 'finish') end = judgeFinish(chunk.finishReason, steps, maxSteps);
    else if (chunk.type !== 'abort') await writer.write(chunk);
    if (chunk.type === 'tool-output-available' && turn.toolFailure.reason !== undefined)
      throw new RunFailure(turn.toolFailure.reason);
  }
  signal.throwIfAborted();
  return end ?? { status: 'failed', error: brokeOff };
}

function judgeFinish(finishReason: string | undefined, steps: number, maxSteps: number): TurnEnd {
  switch (finishReason) {
    case 'tool-calls':
      return { status: 'failed', error: `The model came to no end within ${Math.min(steps, maxSteps)} steps.` };
    case 'stop':
    case 'length':
    case 'content-filter':
      return { status: 'completed', finishReason };
    default:
      // A stream that breaks off has no finish reason.
      return { status: 'failed', error: brokeOff };
  }
}

/** Our servers never fetch an address from a message. Files that the provider does not read itself are refused. */
async function refuseDownloads(
  files: readonly { readonly url: URL; readonly isUrlSupportedByModel: boolean }[],
): Promise<null[]> {
  if (files.some(({ isUrlSupportedByModel }) => !isUrlSupportedByModel))
    throw new Error('The model does not read files of this kind from an address.');
  return files.map(() => null);
}
