/** One exchange with a provider of language models, as its wire has it, and what has to come of it. */
import type { ModelEntry } from '#agent/modelsfile.ts';
import type { WireAnswer } from './wire.fixture.ts';

export interface WireCase {
  readonly title: string;
  readonly provider?: NonNullable<ModelEntry['provider']>;
  /** Of the base URL. */
  readonly path: string;
  /** Default: the title. */
  readonly question?: string;
  /** One for each request. */
  readonly answers: readonly WireAnswer[];
  /** Matched by the first request. */
  readonly request?: { readonly path: string; readonly headers?: object; readonly body?: object };
  /** In the body of the last request. */
  readonly sent?: { readonly includes?: readonly string[]; readonly excludes?: readonly string[] };
  readonly entry?: Pick<ModelEntry, 'maxOutputTokens' | 'query'>;
  readonly expected: {
    readonly status: 'completed' | 'failed';
    readonly text?: string;
    readonly reasoning?: string;
    readonly finishReason?: string;
    readonly usage?: object;
    /** The arguments of the call of `recallMemory`. */
    readonly toolInput?: object;
    readonly error?: string;
    readonly requests?: number;
  };
}

/** `null`: the provider reported nothing. */
export function usageOf(
  inputTokens: number | null,
  outputTokens: number | null,
  details: { readonly reasoning?: number; readonly cached?: number } = {},
) {
  const { reasoning = null, cached = null } = details;
  const totalTokens = inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens;
  return { inputTokens, outputTokens, totalTokens, reasoningTokens: reasoning, cachedInputTokens: cached };
}
