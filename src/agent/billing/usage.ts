/** The tokens of an answer: the sum of its steps, as the provider reported them; and the model that answered. */
import type { LanguageModelUsage } from 'ai';
import type { RunStep } from '../tables.ts';

/** `null`: the provider did not report it. */
export interface TokenUsage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly totalTokens: number | null;
  readonly reasoningTokens: number | null;
  readonly cachedInputTokens: number | null;
}

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
  #step = { number: 1, startedAtMs: performance.now() };

  beginStep(number: number): void {
    this.#step = { number, startedAtMs: performance.now() };
  }

  /** `answeredBy`: the id of the fallback that took the place of the requested model. */
  addStep(usage: LanguageModelUsage, answeredBy?: string): void {
    const { inputTokens = null, outputTokens = null } = usage;
    const tookMs = Math.round(performance.now() - this.#step.startedAtMs);
    this.steps.set(this.#step.number, { tookMs, inputTokens, outputTokens });
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
