/**
 * Streams one turn: the model and its tools, step by step, until the answer is complete. Chunks go to the run's event
 * writer. Steps, tools at a time, silence and length are bounded.
 */
import type { LanguageModelV4 } from '@ai-sdk/provider';
import {
  convertToModelMessages,
  isStepCount,
  type ModelMessage,
  streamText,
  type TextStreamPart,
  type ToolSet,
  toUIMessageChunk,
  type UIMessageChunk,
} from 'ai';
import type { Telemetry } from '#platform/telemetry/telemetry.ts';
import type { UsageMeter } from '../billing/usage.ts';
import type { AgentMetrics } from '../metrics.ts';
import { brokeOff, explainFailure, isInterruption } from '../providers/failures.ts';
import { readAnswerer } from '../providers/resilientmodel.ts';
import { isBreak } from '../providers/streamfailure.ts';
import type { EventWriter } from '../stream/eventwriter.ts';
import { boundCalls } from './callbounds.ts';
import { DirectDeltas } from './directdeltas.ts';
import type { FileDeps } from './files.ts';
import { toolImageParts } from './history.ts';
import type { KeepFile } from './modelfiles.ts';
import { failureOf } from './tooloutput.ts';
import { withToolSpans } from './toolspans.ts';

export interface TurnStream {
  /** Retried and bounded in time. */
  readonly model: LanguageModelV4;
  readonly instructions: string;
  readonly messages: ModelMessage[];
  readonly tools: ToolSet;
  /** The images that tools have made since the last call. */
  readonly takeImages: () => readonly string[];
  readonly ownerId: string;
  readonly usage: UsageMeter;
  /** Ends the turn at once when it is aborted. */
  readonly signal: AbortSignal;
  readonly writer: Pick<EventWriter, 'write'>;
  readonly keepFile: KeepFile;
}

export interface StreamDeps extends FileDeps {
  /** AGENT_MAX_STEPS. */
  readonly maxSteps: number;
  /** AGENT_MAX_TOOL_CALLS_PER_STEP. */
  readonly maxToolCallsPerStep: number;
  readonly telemetry: Telemetry;
  readonly metrics: AgentMetrics;
}

export type TurnEnd =
  | { readonly status: 'completed'; readonly finishReason: string }
  | { readonly status: 'failed'; readonly error: string; readonly code?: string };

const toolsAtOnce = 4;

/** Rejects with the writer's error, and with the signal's reason once that is aborted. */
export async function streamTurn(deps: StreamDeps, turn: TurnStream): Promise<TurnEnd> {
  const { signal, usage } = turn;
  const direct = new DirectDeltas(turn.writer, signal);
  const bounded = boundCalls(turn.tools, deps.maxToolCallsPerStep);
  let failure: unknown;
  let lastStep: LastStep | undefined;
  const result = streamText({
    model: direct.tap(turn.model),
    instructions: turn.instructions,
    messages: turn.messages,
    tools: withToolSpans(bounded.tools, deps.telemetry),
    stopWhen: isStepCount(deps.maxSteps),
    toolCallConcurrency: toolsAtOnce,
    abortSignal: signal,
    // The model itself is retried, up to its first token.
    maxRetries: 0,
    experimental_download: refuseDownloads,
    prepareStep: async ({ messages }) => {
      bounded.nextStep();
      const images = await showImages(deps, turn);
      return images.length === 0 ? {} : { messages: [...messages, ...images] };
    },
    onStepEnd: (step) => {
      usage.addStep(step.usage, readAnswerer(step.providerMetadata));
      lastStep = step;
    },
    onError: ({ error }) => {
      failure ??= error;
    },
  });
  const toChunk = createTranslator(turn.tools);
  const observe = createObserver(deps.metrics, turn.tools);
  let end: TurnEnd | undefined;
  let hasAnswer = false;
  try {
    for await (const part of result.stream) {
      if (signal.aborted) break;
      const chunk = toChunk(part);
      if (chunk === undefined || chunk.type === 'start') continue;
      if (chunk.type === 'error') {
        deps.log.warn({ err: failure }, 'the model failed');
        end ??= { status: 'failed', error: chunk.errorText };
        if (isInterruption(failure)) end = { status: 'failed', error: brokeOff };
        break;
      }
      if (chunk.type === 'finish') end = endOf(chunk.finishReason, lastStep);
      else if (chunk.type !== 'abort') {
        observe(chunk);
        hasAnswer ||= chunk.type !== 'start-step';
        if (!isUnsafe(chunk)) await direct.write(chunk.type === 'file' ? await turn.keepFile(chunk) : chunk);
      }
    }
  } catch (error) {
    if (signal.aborted || !isInterruption(error)) throw error;
    deps.log.warn({ err: error }, 'the connection to the model broke');
  }
  signal.throwIfAborted();
  end ??= { status: 'failed', error: brokeOff };
  return hasAnswer && end.status === 'failed' && end.error === brokeOff ? interrupted : end;
}

const interrupted: TurnEnd = {
  status: 'failed',
  error: 'The model stopped in the middle of its answer.',
  code: 'provider_interrupted',
};

/** Clients show sources as links. */
const isUnsafe = (chunk: UIMessageChunk) => chunk.type === 'source-url' && !/^https?:\/\//i.test(chunk.url);

/**
 * Translates parts as `toUIMessageStream` of the SDK does, without its four streams. `undefined`: the part has no chunk.
 */
function createTranslator(tools: ToolSet): (part: TextStreamPart<ToolSet>) => UIMessageChunk | undefined {
  const onError = (error: unknown) => explainFailure(error).slice(0, 1000);
  const invalidCalls = new Set<string>();
  return (part) => {
    if (part.type === 'tool-call' && part.invalid) invalidCalls.add(part.toolCallId);
    // The chunk of the call has the error already.
    if (part.type === 'tool-error' && !part.providerExecuted && invalidCalls.delete(part.toolCallId)) return undefined;
    return toUIMessageChunk(part, { tools, onError, redactToolErrors: true, sendSources: true });
  };
}

interface LastStep {
  readonly rawFinishReason: string | undefined;
  readonly toolCalls: readonly unknown[];
}

/** Any reason ends the answer well. A stream that breaks off has none. */
function endOf(unified: string | undefined, lastStep: LastStep | undefined): TurnEnd {
  const raw = lastStep?.rawFinishReason;
  if (unified === undefined || isBreak({ unified, raw })) return { status: 'failed', error: brokeOff };
  // The last step has called tools, whatever its reason, and there is no further step.
  if (lastStep?.toolCalls.length) return { status: 'completed', finishReason: 'max-steps' };
  return { status: 'completed', finishReason: unified === 'other' && raw ? raw : unified };
}

/** Measures the time to the first token, and how tools end. */
function createObserver(metrics: AgentMetrics, tools: ToolSet): (chunk: UIMessageChunk) => void {
  const startedAtMs = performance.now();
  const toolNames = new Map<string, string>();
  let hasToken = false;
  const toolEnded = (toolCallId: string, status: 'completed' | 'failed') =>
    metrics.toolCalled(toolNames.get(toolCallId) ?? 'unknown', status);
  return (chunk) => {
    if (!hasToken && chunk.type !== 'start-step') {
      hasToken = true;
      metrics.firstToken(performance.now() - startedAtMs);
    }
    // A model may call tools that do not exist.
    if (chunk.type === 'tool-input-available' && chunk.toolName in tools)
      toolNames.set(chunk.toolCallId, labelOf(chunk.toolName, tools));
    if (chunk.type === 'tool-output-available')
      toolEnded(chunk.toolCallId, failureOf(chunk.output) === undefined ? 'completed' : 'failed');
    if (chunk.type === 'tool-output-error' || chunk.type === 'tool-input-error') toolEnded(chunk.toolCallId, 'failed');
  };
}

/** Other servers choose the names of their tools, so these share one label. */
function labelOf(name: string, tools: ToolSet): string {
  return tools[name]?.type === 'dynamic' ? 'mcp' : name;
}

/** Images that tools have made go to the model with its next step. */
async function showImages(deps: FileDeps, { ownerId, takeImages, signal }: TurnStream): Promise<ModelMessage[]> {
  const shown = await Promise.all(takeImages().map((assetId) => toolImageParts(deps, ownerId, assetId, signal)));
  const parts = shown.flat();
  return parts.length === 0 ? [] : convertToModelMessages([{ role: 'user', parts }]);
}

/** Our servers never fetch an address from a message. Files that the provider does not read itself are refused. */
async function refuseDownloads(
  files: readonly { readonly url: URL; readonly isUrlSupportedByModel: boolean }[],
): Promise<null[]> {
  if (files.some(({ isUrlSupportedByModel }) => !isUrlSupportedByModel))
    throw new Error('The model does not read files of this type from a URL.');
  return files.map(() => null);
}
