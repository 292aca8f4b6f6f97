/**
 * One turn: the model and its tools, step by step, until it has answered. What comes of it goes out as chunks; how it
 * ended is the answer. Bounded in every direction: steps, silence, time, length.
 */
import { setImmediate as giveWay } from 'node:timers/promises';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { isStepCount, type ModelMessage, streamText, type ToolSet } from 'ai';
import type { Log } from '#platform/log.ts';
import type { Chunk } from '../stream/chunks.ts';
import { brokeOff, explainFailure } from '../providers/failures.ts';
import { withoutStalling } from './idletimeout.ts';
import { withDistinctToolCalls } from './toolcallids.ts';

export interface Turn {
  readonly model: LanguageModelV4;
  readonly instructions: string;
  readonly messages: ModelMessage[];
  readonly tools: ToolSet;
  /** Aborted: the run is to end, whatever is under way. */
  readonly signal: AbortSignal;
  readonly emit: (chunk: Chunk) => Promise<void>;
  readonly log: Log;
  readonly limits?: Partial<typeof defaultLimits>;
}

export type TurnEnd =
  | { readonly status: 'completed'; readonly finishReason: string }
  | { readonly status: 'failed'; readonly error: string };

const maxBusyMs = 10;
const defaultLimits = { maxSteps: 8, idleMs: 60_000, maxRetries: 2 };

/** Rejects with what `emit` rejects with, and with the signal's reason once that is aborted. */
export async function takeTurn(turn: Turn): Promise<TurnEnd> {
  const { log, signal, emit } = turn;
  const { maxSteps, idleMs, maxRetries } = { ...defaultLimits, ...turn.limits };
  let failure: unknown;
  const result = streamText({
    model: withDistinctToolCalls(withoutStalling(turn.model, idleMs)),
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
  let gaveWayAtMs = performance.now();
  let end: TurnEnd | undefined;
  for await (const chunk of result.toUIMessageStream({ onError: describe, redactToolErrors: true })) {
    if (signal.aborted) break;
    // A model that talks without a pause must not keep all other runs, and their leases, waiting.
    if (performance.now() - gaveWayAtMs > maxBusyMs) {
      await giveWay();
      gaveWayAtMs = performance.now();
    }
    if (chunk.type === 'start') continue;
    if (chunk.type === 'start-step') steps += 1;
    if (chunk.type === 'error') {
      log.warn({ err: failure }, 'the model failed');
      end ??= { status: 'failed', error: chunk.errorText };
      break;
    }
    if (chunk.type === 'finish') end = judgeFinish(chunk.finishReason, steps, maxSteps);
    else if (chunk.type !== 'abort') await emit(chunk);
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
      // A provider that stops in the middle of a word gives no reason.
      return { status: 'failed', error: brokeOff };
  }
}

/** An address in a message must not make our servers fetch it: whatever the provider does not read itself is refused. */
async function refuseDownloads(
  files: readonly { readonly url: URL; readonly isUrlSupportedByModel: boolean }[],
): Promise<null[]> {
  if (files.some(({ isUrlSupportedByModel }) => !isUrlSupportedByModel))
    throw new Error('The model does not read files of this kind from an address.');
  return files.map(() => null);
}
