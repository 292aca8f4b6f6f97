/** What a run uses and costs: the tokens of its answer, as the provider reported them, and its credits. */
import type { LanguageModelUsage, UIMessage } from 'ai';
import { lockBalance, sumCredits } from '#accounts/ledger/credits.ts';
import { createGates } from '#platform/concurrency.ts';
import type { Tx } from '#platform/db/db.ts';
import type { Failure } from '../api.ts';
import type { AgentContext } from '../context.ts';
import { assetIdOf } from '../services/library.ts';
import type { AgentTables, RunStep, TokenUsage } from '../tables.ts';
import { listVideoIds } from '../videos/videostore.ts';
import { takeFreeCancel } from './usagestore.ts';

export const unknownUsage: TokenUsage = {
  inputTokens: null,
  outputTokens: null,
  totalTokens: null,
  reasoningTokens: null,
  cachedInputTokens: null,
};

export class UsageMeter {
  /** Of the steps in this process, by number. Counts from 1. */
  readonly steps = new Map<number, Pick<RunStep, 'tookMs' | 'inputTokens' | 'outputTokens'>>();
  /** By the id of a tool call. */
  readonly callsTookMs = new Map<string, number>();
  #total: TokenUsage = unknownUsage;
  #answeredBy: string | undefined;
  #step = { number: 1, startedAtMs: performance.now(), isOpen: false };

  beginStep(number: number): void {
    this.#step = { number, startedAtMs: performance.now(), isOpen: true };
  }

  /** How long the call of the model in progress has lasted. `undefined`: there is none. */
  openStepMs(): number | undefined {
    return this.#step.isOpen ? Math.round(performance.now() - this.#step.startedAtMs) : undefined;
  }

  /** `answeredBy`: the id of the fallback that took the place of the requested model. */
  addStep(usage: LanguageModelUsage, answeredBy?: string): void {
    const { inputTokens = null, outputTokens = null } = usage;
    const tookMs = Math.round(performance.now() - this.#step.startedAtMs);
    this.steps.set(this.#step.number, { tookMs, inputTokens, outputTokens });
    this.#step.isOpen = false;
    this.#answeredBy = answeredBy ?? this.#answeredBy;
    const total = this.#total;
    this.#total = {
      inputTokens: sum(total.inputTokens, usage.inputTokens),
      outputTokens: sum(total.outputTokens, usage.outputTokens),
      totalTokens: sum(total.totalTokens, usage.totalTokens),
      reasoningTokens: sum(
        total.reasoningTokens,
        isReported(usage, 'completion_tokens_details', 'reasoning_tokens')
          ? usage.outputTokenDetails.reasoningTokens
          : undefined,
      ),
      cachedInputTokens: sum(
        total.cachedInputTokens,
        isReported(usage, 'prompt_tokens_details', 'cached_tokens')
          ? usage.inputTokenDetails.cacheReadTokens
          : undefined,
      ),
    };
  }

  /** Of the steps that an earlier process has finished. */
  restore(total: TokenUsage, answeredBy: string | undefined): void {
    this.#total = total;
    this.#answeredBy = answeredBy;
  }

  total(): TokenUsage {
    return this.#total;
  }

  /** The last fallback that answered a step; `undefined` if the requested model answered all of them. */
  answeredBy(): string | undefined {
    return this.#answeredBy;
  }
}

export function addUsages(one: TokenUsage, other: TokenUsage): TokenUsage {
  const names = Object.keys(unknownUsage) as (keyof TokenUsage)[];
  return Object.fromEntries(
    names.map((name) => [name, sum(one[name], other[name] ?? undefined)]),
  ) as unknown as TokenUsage;
}

/** In US dollars. */
export function costOfTokens(
  { costUsd }: { readonly costUsd?: { readonly input: number; readonly output: number } | undefined },
  { inputTokens, outputTokens }: Pick<TokenUsage, 'inputTokens' | 'outputTokens'>,
): number {
  if (costUsd === undefined) return 0;
  return ((inputTokens ?? 0) * costUsd.input + (outputTokens ?? 0) * costUsd.output) / 1_000_000;
}

/** Of OpenAI's chat completions, the SDK reads details that are not there as 0. */
function isReported({ raw }: LanguageModelUsage, details: string, detail: string): boolean {
  if (raw?.prompt_tokens === undefined) return true;
  return typeof Reflect.get(Object(raw[details]), detail) === 'number';
}

function sum(total: number | null, step: number | undefined): number | null {
  return step === undefined ? total : (total ?? 0) + step;
}

// What the agent's work spends: its references in the ledger, and its limits (docs/specification/agent.md#credits).

export const runReference = (taskId: string): string => `run:${taskId}`;
const imagesOf = (taskId: string): string => `image:${taskId}:`;
/** `index`: of several images of one call. */
export const imageReference = (taskId: string, toolCallId: string, index = 0): string =>
  `${imagesOf(taskId)}${toolCallId}${index === 0 ? '' : ` #${index}`}`;
/** Also names the asset of the video. */
export const videoScope = (videoId: string): string => `video:${videoId}`;
export const videoAssetId = (videoId: string): string => assetIdOf(videoScope(videoId));
/** Of one attempt. */
export const videoReference = ({ videoId, attempt }: { readonly videoId: string; readonly attempt: number }): string =>
  `${videoScope(videoId)}:${attempt}`;

/** Of one tool call. */
const maxImagesOfCall = 16;
/** Of one run. */
export const maxModelFiles = 16;
/** Takes the place of a tool call's id for a file that the model itself has generated. */
export const modelFileId = (index: number): string => `model file ${index}`;

/** Of every image that one call may have ordered. */
export const imageReferences = (taskId: string, toolCallId: string): readonly string[] =>
  Array.from({ length: maxImagesOfCall }, (_, index) => imageReference(taskId, toolCallId, index));

/** What the tool returns for delivered images, without URLs. `undefined`: there is none. */
export function imageOutputOf(assetIds: readonly string[]) {
  const [assetId] = assetIds;
  if (assetId === undefined) return undefined;
  // The media type is known when messages are read.
  const made = { kind: 'image', assetId, status: 'completed', url: null, mime: null };
  return assetIds.length > 1 ? { ...made, assetIds } : made;
}

/** Whether a reference in the scope of a run is that of an image. */
export const isImage = (taskId: string, reference: string): boolean => reference.startsWith(imagesOf(taskId));

/** The parts with every image that was delivered, also if the run ended before its tool returned. */
export function withDelivered(
  taskId: string,
  parts: UIMessage['parts'],
  delivered: readonly string[],
): UIMessage['parts'] {
  return parts.map((part) => {
    if (part.type !== 'tool-generateImage' && part.type !== 'tool-editImage') return part;
    if (part.state === 'output-available') return part;
    const { type, toolCallId, input } = part;
    const all = imageReferences(taskId, toolCallId);
    const output = imageOutputOf(all.filter((reference) => delivered.includes(reference)).map(assetIdOf));
    if (output === undefined) return part;
    return { type, toolCallId, input, state: 'output-available', output };
  });
}

/** Whether a run has reserved and spent too much, in the transaction of a reservation. That has locked the user's balance. */
export async function exceedsRun(
  { maxRunCredits }: AgentContext,
  tx: Tx<AgentTables>,
  taskId: string,
): Promise<boolean> {
  if (maxRunCredits === 0) return false;
  const videos = await listVideoIds(tx, taskId);
  return (await sumCredits(tx, [taskId, ...videos.map(videoScope)])) > maxRunCredits;
}

export const runLimit = (maxRunCredits: number): Failure => ({
  code: 'run_credit_limit',
  message: `One run can spend at most ${maxRunCredits} credits. Continue in a new message.`,
  retryable: false,
});

/** Counts a cancellation for each reference, and returns those that are not free. In the transaction that closes them. */
export async function chargedCancels(
  { freeCancels }: AgentContext,
  tx: Tx<AgentTables>,
  userId: string,
  canceled: readonly string[],
): Promise<readonly string[]> {
  if (canceled.length === 0) return [];
  // Before the count, in the order of every transaction that changes both.
  await lockBalance(tx, userId);
  const charged: string[] = [];
  for (const reference of canceled) if (!(await takeFreeCancel(tx, userId, freeCancels))) charged.push(reference);
  return charged;
}

/**
 * Starts of runs and of tool calls lock the row of their user. Those that wait for each other must not take the connections of
 * other users.
 */
export const starts = createGates({ width: 1, maxWaiting: 1000, waitTimeoutMs: 10_000 });
