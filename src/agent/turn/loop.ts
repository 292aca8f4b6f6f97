/**
 * Streams one turn: the model and its tools, step by step, until the answer is complete. Chunks go to the run's event
 * writer. Steps, tools at a time, silence and length are bounded.
 */

import { getErrorMessage, type LanguageModelV4, type LanguageModelV4StreamPart } from '@ai-sdk/provider';
import {
  convertToModelMessages,
  isStepCount,
  type ModelMessage,
  streamText,
  type TextStreamPart,
  type ToolModelMessage,
  type ToolSet,
  toUIMessageChunk,
  type UIMessageChunk,
  wrapLanguageModel,
} from 'ai';
import { z } from 'zod';
import { currentScope, inScope, type Telemetry } from '#platform/telemetry/trace.ts';
import type { PendingApproval } from '../approvals/rules.ts';
import { readDataUrl } from '../attachments.ts';
import { maxModelFiles, modelFileId, type UsageMeter } from '../billing/usage.ts';
import type { AgentContext } from '../context.ts';
import type { AgentMetrics } from '../metrics.ts';
import { RunFailure } from '../problems.ts';
import { brokeOff, explainFailure, isInterruption } from '../providers/failures.ts';
import { isBreak, readAnswerer } from '../providers/resilientmodel.ts';
import { answerOf } from '../records/answers.ts';
import { sign } from '../services/library.ts';
import type { Journal } from '../steps/stepstore.ts';
import { storable } from '../stream/chunks.ts';
import { type EventWriter, RunFenced } from '../stream/eventwriter.ts';
import type { ToolCall, ToolContext } from '../tools/context.ts';
import { makeImage } from '../tools/media.ts';
import { toolImageParts } from './history.ts';

type Part = LanguageModelV4StreamPart;

export interface TurnStream {
  /** Retried and bounded in time. */
  readonly model: LanguageModelV4;
  readonly instructions: string;
  readonly messages: readonly ModelMessage[];
  /** Counts from 1. */
  readonly firstStep: number;
  /** The ids of earlier tool calls of the message. */
  readonly takenIds: Iterable<string>;
  readonly tools: ToolSet;
  readonly calls: ToolCalls;
  /** Whether a person has to approve the call first. */
  readonly asks: (call: ToolCall) => PendingApproval | undefined;
  /** The images that tools have made since the last call. */
  readonly takeImages: () => readonly string[];
  readonly ownerId: string;
  readonly usage: UsageMeter;
  /** Ends the turn at once when it is aborted. */
  readonly signal: AbortSignal;
  readonly writer: Pick<EventWriter, 'write'>;
  /** A step whose calls are finished is recorded before its end is shown. */
  readonly commitStep: (step: number) => Promise<void>;
  readonly keepFile: KeepFile;
}

export type TurnEnd =
  | {
      readonly status: 'completed';
      readonly finishReason: string;
      /** Calls that wait for a person. */
      readonly approvals?: readonly PendingApproval[];
    }
  | {
      readonly status: 'failed';
      readonly error: string;
      readonly code?: string;
      /** In the words of the provider. */
      readonly answer?: string | undefined;
    };

/** Rejects with the writer's error, and with the signal's reason once that is aborted. */
export async function streamTurn(deps: AgentContext, turn: TurnStream): Promise<TurnEnd> {
  const ending = new AbortController();
  const signal = AbortSignal.any([turn.signal, ending.signal]);
  const steps = new Steps(deps, { ...turn, signal });
  const messages = [...turn.messages];
  // The process of the last step died before it ended the run.
  if (turn.firstStep > deps.maxSteps) return { status: 'completed', finishReason: 'max-steps' };
  try {
    for (let step = turn.firstStep; ; step++) {
      const images = await showImages(deps, turn);
      turn.usage.beginStep(step);
      const done = await steps.run([...messages, ...images]);
      if ('end' in done) return done.end;
      const results = await turn.calls.results();
      const goesOn = done.hasCalls && done.approvals.length === 0 && step < deps.maxSteps;
      if (goesOn) await turn.commitStep(step);
      await turn.writer.write({ type: 'finish-step' });
      if (done.approvals.length > 0)
        return { status: 'completed', finishReason: 'tool-calls', approvals: done.approvals };
      if (!goesOn) return { status: 'completed', finishReason: done.hasCalls ? 'max-steps' : done.finishReason };
      messages.push(...done.messages);
      if (results.length > 0) messages.push({ role: 'tool', content: [...results] });
    }
  } finally {
    // However the turn ends, the model ends with it.
    ending.abort(new RunFailure('The turn is over.'));
  }
}

type StepEnd =
  | { readonly end: TurnEnd }
  | {
      readonly hasCalls: boolean;
      readonly finishReason: string;
      readonly approvals: readonly PendingApproval[];
      readonly messages: readonly ModelMessage[];
    };

/** The calls of the model in one turn. */
class Steps {
  readonly #deps: AgentContext;
  readonly #turn: TurnStream;
  readonly #model: LanguageModelV4;
  readonly #toChunk: ReturnType<typeof createTranslator>;
  readonly #observe: ReturnType<typeof createObserver>;
  /** The model decides on calls, and ToolCalls carries them out. */
  readonly #tools: ToolSet;
  #hasAnswer: boolean;

  constructor(deps: AgentContext, turn: TurnStream) {
    const ids = { calls: new DistinctIds(turn.takenIds), texts: new DistinctIds(), reasonings: new DistinctIds() };
    this.#deps = deps;
    this.#turn = turn;
    this.#toChunk = createTranslator(turn.tools);
    this.#observe = createObserver(deps.metrics, turn.tools);
    this.#tools = Object.fromEntries(
      Object.entries(turn.tools).map(([name, { execute: _execute, ...tool }]) => [name, tool]),
    ) as ToolSet;
    this.#hasAnswer = turn.firstStep > 1;
    this.#model = wrapLanguageModel({
      model: turn.model,
      middleware: {
        specificationVersion: 'v4',
        wrapStream: async ({ doStream }) => {
          for (const kind of Object.values(ids)) kind.beginStep();
          const { stream, ...result } = await doStream();
          return { ...result, stream: stream.pipeThrough(renaming(ids)) };
        },
      },
    });
  }

  /** The chunks of one step, without its end. */
  async run(messages: ModelMessage[]): Promise<StepEnd> {
    const { log } = this.#deps;
    const { signal, usage } = this.#turn;
    let failure: unknown;
    const result = streamText({
      model: this.#model,
      instructions: this.#turn.instructions,
      messages,
      tools: this.#tools,
      stopWhen: isStepCount(1),
      abortSignal: signal,
      // The model itself is retried, up to its first token.
      maxRetries: 0,
      experimental_download: refuseDownloads,
      onError: ({ error }) => {
        failure ??= error;
      },
    });
    const approvals: PendingApproval[] = [];
    let hasCalls = false;
    let end: Extract<TextStreamPart<ToolSet>, { type: 'finish-step' }> | undefined;
    try {
      for await (const part of result.stream) {
        if (signal.aborted) break;
        if (part.type === 'error') {
          log.warn({ err: failure }, 'the model failed');
          return { end: this.#failed(isInterruption(failure) ? brokeOff : explain(part.error), failure) };
        }
        if (part.type === 'finish-step') {
          end = part;
          usage.addStep(part.usage, readAnswerer(part.providerMetadata));
          continue;
        }
        await this.#pass(part);
        if (part.type !== 'tool-call' || part.providerExecuted) continue;
        hasCalls = true;
        if (part.invalid) continue;
        const approval = this.#turn.asks(part);
        if (approval === undefined) this.#turn.calls.start(part);
        else approvals.push(await this.#ask(approval));
      }
    } catch (error) {
      if (signal.aborted || !isInterruption(error)) throw error;
      log.warn({ err: error }, 'the connection to the model broke');
    }
    signal.throwIfAborted();
    const { finishReason: unified, rawFinishReason: raw } = end ?? {};
    if (unified === undefined) return { end: this.#failed(brokeOff) };
    if (!hasCalls && isBreak({ unified, raw })) {
      await this.#turn.writer.write({ type: 'finish-step' });
      return { end: this.#failed(brokeOff) };
    }
    const finishReason = unified === 'other' && raw ? raw : unified;
    return { hasCalls, approvals, finishReason, messages: hasCalls ? await result.responseMessages : [] };
  }

  async #pass(part: TextStreamPart<ToolSet>): Promise<void> {
    const chunk = this.#toChunk(part);
    if (chunk === undefined || unpassed.has(chunk.type)) return;
    this.#observe(chunk);
    this.#hasAnswer ||= chunk.type !== 'start-step';
    if (isUnsafe(chunk)) return;
    await this.#turn.writer.write(chunk.type === 'file' ? await this.#turn.keepFile(chunk) : chunk);
  }

  async #ask(approval: PendingApproval): Promise<PendingApproval> {
    const { input: _, ...data } = approval;
    const { approvalId, toolCallId } = data;
    const { writer } = this.#turn;
    await writer.write({ type: 'tool-approval-request', approvalId, toolCallId });
    await writer.write({ type: 'data-approval', id: approvalId, data });
    return approval;
  }

  #failed(error: string, cause?: unknown): TurnEnd {
    const end = this.#hasAnswer && error === brokeOff ? interrupted : { status: 'failed' as const, error };
    return { ...end, answer: answerOf(cause) };
  }
}

/** Of one step, not of the run. */
const unpassed: ReadonlySet<UIMessageChunk['type']> = new Set(['start', 'finish', 'finish-step', 'abort']);

const explain = (error: unknown) => explainFailure(error).slice(0, 1000);

const interrupted = {
  status: 'failed',
  error: 'The model stopped in the middle of its answer.',
  code: 'provider_interrupted',
} as const;

/** Clients show sources as links. */
const isUnsafe = (chunk: UIMessageChunk) => chunk.type === 'source-url' && !/^https?:\/\//i.test(chunk.url);

/** Translates parts as `toUIMessageStream` of the SDK does, without its four streams. `undefined`: the part has no chunk. */
function createTranslator(tools: ToolSet): (part: TextStreamPart<ToolSet>) => UIMessageChunk | undefined {
  const invalidCalls = new Set<string>();
  return (part) => {
    if (part.type === 'tool-call' && part.invalid) invalidCalls.add(part.toolCallId);
    // The chunk of the call has the error already.
    if (part.type === 'tool-error' && !part.providerExecuted && invalidCalls.delete(part.toolCallId)) return undefined;
    return toUIMessageChunk(part, { tools, onError: explain, redactToolErrors: true, sendSources: true });
  };
}

/** Measures the time to the first token, and counts calls that no tool can carry out. */
function createObserver(metrics: AgentMetrics, tools: ToolSet): (chunk: UIMessageChunk) => void {
  const startedAtMs = performance.now();
  let hasToken = false;
  return (chunk) => {
    if (!hasToken && chunk.type !== 'start-step') {
      hasToken = true;
      metrics.firstToken(performance.now() - startedAtMs);
    }
    // A model may call tools that do not exist.
    if (chunk.type !== 'tool-input-error') return;
    const { toolName } = chunk;
    const label = tools[toolName]?.type === 'dynamic' ? 'mcp' : toolName;
    metrics.toolCalled(toolName in tools ? label : 'unknown', 'failed');
  };
}

/** Images that tools have made go to the model with its next step. */
async function showImages(deps: AgentContext, { ownerId, takeImages, signal }: TurnStream): Promise<ModelMessage[]> {
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

// Makes the ids of tool calls and texts distinct within a run, and storable. Calls name images, videos and ledger references, but
// some providers start counting again at each step.

/** Ids of one kind in a run. None occurs twice. */
class DistinctIds {
  readonly #taken: Set<string>;
  /** The new ids of what is still streaming. */
  readonly #open = new Map<string, string>();

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  beginStep(): void {
    this.#open.clear();
  }

  rename(id: string): string {
    const known = this.#open.get(id);
    if (known !== undefined) return known;
    const wanted = storable(id);
    let unused = wanted;
    for (let number = 2; this.#taken.has(unused); number++) unused = `${wanted}-${number}`;
    this.#taken.add(unused);
    this.#open.set(id, unused);
    return unused;
  }

  /** As `rename`, for the last time: the id then names something else. */
  close(id: string): string {
    const renamed = this.rename(id);
    this.#open.delete(id);
    return renamed;
  }
}

/** Renames the ids in the parts of a step, and makes the arguments of calls storable. */
function renaming({ calls, texts, reasonings }: Readonly<Record<'calls' | 'texts' | 'reasonings', DistinctIds>>) {
  const renamed = (part: Part): Part => {
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
        return { ...part, id: texts.rename(part.id) };
      case 'text-end':
        return { ...part, id: texts.close(part.id) };
      case 'reasoning-start':
      case 'reasoning-delta':
        return { ...part, id: reasonings.rename(part.id) };
      case 'reasoning-end':
        return { ...part, id: reasonings.close(part.id) };
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
        return { ...part, id: calls.rename(part.id) };
      case 'tool-call':
        return { ...part, toolCallId: calls.close(part.toolCallId), input: storableJson(part.input) };
      default:
        return part;
    }
  };
  return new TransformStream<Part, Part>({ transform: (part, controller) => controller.enqueue(renamed(part)) });
}

function storableJson(input: string): string {
  try {
    return JSON.stringify(storable(JSON.parse(input)));
  } catch {
    // The SDK reports invalid JSON to the model.
    return storable(input);
  }
}

// Files that the model itself generates. Each becomes an asset of the thread, is charged like an image of a tool, and goes into the
// stream with a signed URL. A file that cannot be stored is a `data-notice` with the reason.

type FileChunk = Extract<UIMessageChunk, { type: 'file' }>;
type KeepFile = (chunk: FileChunk) => Promise<UIMessageChunk>;

const maxBytes = 20 * 1024 * 1024;

/** For one run. `earlier`: how many files it has already. */
export function createFileKeeper(deps: AgentContext, context: ToolContext, signal: AbortSignal, earlier = 0): KeepFile {
  let count = earlier;
  return async ({ url, mediaType, providerMetadata }) => {
    const file = readDataUrl(url);
    if (file === undefined || !/^[\w.+-]+\/[\w.+-]+$/.test(file.mime))
      return notice('The file of the model is unreadable.');
    if (file.bytes.length > maxBytes) return notice('The file of the model is larger than 20 MiB.');
    if (count === maxModelFiles)
      return notice(`The model made more than ${maxModelFiles} files. This one was not stored.`);
    const { images } = deps.catalogue;
    const { providerModel } = context;
    // The price of the same model in the catalogue of images.
    const model = images.find((one) => one.model !== undefined && one.model === providerModel) ?? images[0];
    const call = { toolCallId: modelFileId(count), prompt: undefined, kind: kindOf(file.mime), model, signal };
    count += 1;
    const { assetId, mime, failure } = await makeImage(deps, context, call, async () => file);
    if (assetId === null) return notice(failure?.message ?? 'The file of the model could not be stored.');
    if (call.kind === 'image') context.madeImages.push(assetId);
    const { ownerId } = context.run;
    const signed = await sign(deps, ownerId, call.kind === 'video' ? 'video' : 'image', [assetId]).catch(
      () => undefined,
    );
    // Without the media service, the URL is known when the message is read.
    const { url: made = `asset:${assetId}`, thumbUrl } = signed?.get(assetId) ?? {};
    return {
      type: 'file',
      mediaType: mime ?? mediaType,
      url: made,
      providerMetadata: { ...providerMetadata, atelier: { assetId, ...(thumbUrl && { thumbUrl }) } },
    };
  };
}

const notice = (message: string): UIMessageChunk => ({ type: 'data-notice', data: { code: 'file_not_kept', message } });

const kindOf = (mime: string): 'image' | 'video' | 'file' =>
  mime.startsWith('image/') ? 'image' : mime.startsWith('video/') ? 'video' : 'file';

// Carries out the tool calls of a run. A call is recorded before its tool works and when it is finished, so no process carries it
// out twice. At most AGENT_MAX_TOOL_CALLS_PER_STEP calls of a step are carried out; the others fail.

export interface CallContext {
  readonly tools: ToolSet;
  readonly journal: Journal;
  readonly writer: Pick<EventWriter, 'write' | 'flush'>;
  readonly signal: AbortSignal;
  /** By the id of a call. */
  readonly tookMs: Map<string, number>;
}

type ToolResult = Extract<ToolModelMessage['content'][number], { type: 'tool-result' }>;

const atOnce = 4;
/** The outputs of these tools are media, also if the call failed. */
const kinds: Readonly<Record<string, string>> = { generateImage: 'image', editImage: 'image', generateVideo: 'video' };

export class ToolCalls {
  readonly #deps: AgentContext;
  readonly #context: CallContext;
  readonly #waiting: (() => void)[] = [];
  #working = 0;
  #started = 0;
  #calls: Promise<ToolResult>[] = [];

  constructor(deps: AgentContext, context: CallContext) {
    this.#deps = deps;
    this.#context = context;
  }

  start(call: ToolCall): void {
    this.#started += 1;
    const carriedOut =
      this.#started > this.#deps.maxToolCallsPerStep ? this.#refuse(call) : this.#inTurn(() => this.#carryOut(call));
    // Awaited by `results`. Until then, a rejection must not end the process.
    carriedOut.catch(() => undefined);
    this.#calls.push(carriedOut);
  }

  /** Of all calls since the last time, for the model. Rejects if one of them could not be written, and if the run is stopped. */
  async results(): Promise<readonly ToolResult[]> {
    const calls = this.#calls;
    this.#calls = [];
    this.#started = 0;
    return Promise.all(calls);
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#working >= atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#working += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#working -= 1;
      else next();
    }
  }

  async #refuse(call: ToolCall): Promise<ToolResult> {
    const { maxToolCallsPerStep: max } = this.#deps;
    const message = `At most ${max} tool calls of one response are carried out. Make the others in your next response.`;
    const kind = kinds[call.toolName];
    const media = kind && { kind, assetId: null, url: null, mime: null };
    const failure = { code: 'too_many_tool_calls', message, retryable: true };
    return this.#show(call, { ...media, status: 'failed', failure });
  }

  async #carryOut(call: ToolCall): Promise<ToolResult> {
    const { tools, journal, signal, writer, tookMs } = this.#context;
    const { toolCallId, toolName, input } = call;
    signal.throwIfAborted();
    // A process that goes on with the run keeps only calls that were shown. It would request this one again.
    await writer.flush();
    await journal.callStarted({ toolCallId, name: toolName });
    let output: unknown;
    const startedAtMs = performance.now();
    try {
      const execute = tools[toolName]?.execute;
      if (execute === undefined) throw new Error(`the tool ${toolName} does not exist`);
      const options = { toolCallId, messages: [], abortSignal: signal, context: undefined as never };
      output = storable(await inToolSpan(this.#deps.telemetry, toolName, toolCallId, () => execute(input, options)));
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof RunFenced) throw error;
      return this.#showError(call, error);
    } finally {
      tookMs.set(toolCallId, Math.round(performance.now() - startedAtMs));
    }
    await journal.callFinished(toolCallId, { output: output ?? null });
    return this.#show(call, output);
  }

  async #show({ toolCallId, toolName }: ToolCall, output: unknown): Promise<ToolResult> {
    await this.#context.writer.write({ type: 'tool-output-available', toolCallId, output });
    this.#count(toolName, failureOf(output) === undefined ? 'completed' : 'failed');
    const value =
      typeof output === 'string'
        ? ({ type: 'text', value: output } as const)
        : ({ type: 'json', value: JSON.parse(JSON.stringify(output ?? null)) } as const);
    return { type: 'tool-result', toolCallId, toolName, output: value };
  }

  async #showError({ toolCallId, toolName }: ToolCall, error: unknown): Promise<ToolResult> {
    const errorText = explainFailure(error).slice(0, 1000);
    await this.#context.journal.callFinished(toolCallId, { error: errorText });
    await this.#context.writer.write({ type: 'tool-output-error', toolCallId, errorText });
    this.#count(toolName, 'failed');
    return { type: 'tool-result', toolCallId, toolName, output: { type: 'error-text', value: getErrorMessage(error) } };
  }

  /** Other servers choose the names of their tools, so these share one label. */
  #count(name: string, status: 'completed' | 'failed'): void {
    this.#deps.metrics.toolCalled(this.#context.tools[name]?.type === 'dynamic' ? 'mcp' : name, status);
  }
}

// Spans of tool calls by OpenTelemetry's conventions for generative AI
// (https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#execute-tool-span). No span has an argument or a result.

/** Calls to services that a tool makes belong to its span. */
async function inToolSpan(telemetry: Telemetry, name: string, id: string, work: () => unknown): Promise<unknown> {
  const scope = currentScope();
  const { trace, end } = telemetry.startSpan('internal', `execute_tool ${name}`, scope?.trace, {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': id,
    'gen_ai.tool.type': 'function',
  });
  if (end === undefined) return work();
  try {
    const output = await (scope === undefined ? work() : inScope({ ...scope, trace }, work));
    const failure = failureOf(output);
    end({ attributes: failure === undefined ? {} : { 'error.type': failure }, failed: failure !== undefined });
    return output;
  } catch (error) {
    end({ attributes: { 'error.type': error instanceof Error ? error.name : '_OTHER' }, failed: true });
    throw error;
  }
}

// The outputs of our tools: an expected failure is an output with a code, so that clients can show it.

const failed = z.object({ status: z.literal('failed'), failure: z.object({ code: z.string() }).optional() });

/** The code of the failure; `undefined` if the output reports none. */
function failureOf(output: unknown): string | undefined {
  const parsed = failed.safeParse(output);
  return parsed.success ? (parsed.data.failure?.code ?? 'failed') : undefined;
}
