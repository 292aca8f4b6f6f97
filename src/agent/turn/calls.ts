/**
 * Carries out the tool calls of a run. A call is recorded before its tool works and when it is finished, so no process carries it
 * out twice. At most AGENT_MAX_TOOL_CALLS_PER_STEP calls of a step are carried out; the others fail.
 */

import { getErrorMessage } from '@ai-sdk/provider';
import type { ToolModelMessage, ToolSet } from 'ai';
import { z } from 'zod';
import { currentScope, inScope, type Telemetry } from '#platform/telemetry/trace.ts';
import type { AgentContext } from '../context.ts';
import { explainFailure } from '../providers/failures.ts';
import type { Journal } from '../steps/stepstore.ts';
import { storable } from '../stream/chunks.ts';
import { type EventWriter, RunFenced } from '../stream/eventwriter.ts';
import type { ToolCall } from '../tools/context.ts';

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
