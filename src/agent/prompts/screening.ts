/**
 * Screens prompts and messages by a service of the operator before anything is reserved (PROMPT_SCREENING_URL;
 * docs/specification/agent.md#prompt-screening). The service speaks OpenAI's `/moderations`. No text reaches the log.
 */
import { Pool } from 'undici';
import { z } from 'zod';
import { createGates } from '#platform/concurrency.ts';
import type { Values } from '#platform/config.ts';
import { assertOutsideTransaction } from '#platform/db/db.ts';
import { readAtMost } from '#platform/http/bodies.ts';
import { parseJson } from '#platform/json.ts';
import type { Log } from '#platform/log.ts';
import { Problem, problems } from '#platform/problem.ts';
import { withDeadline } from '#platform/resilience.ts';
import { toStorableLine } from '#platform/storable.ts';
import { userAgent } from '#platform/version.ts';
import type { Failure } from '../api.ts';
import type { agentSettings } from '../config.ts';
import { agentProblems } from '../problems.ts';

export interface PromptScreening {
  /** Throws 422 `prompt_refused` for a flagged text. Throws 503 without a valid response, unless PROMPT_SCREENING_FAIL is `open`. */
  assertAllowed(userId: string, texts: readonly string[], signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

type PromptScreeningSettings = Pick<
  Values<typeof agentSettings>,
  'promptScreeningUrl' | 'promptScreeningKey' | 'promptScreeningModel' | 'promptScreeningFail'
>;

const longestAnswerMs = 5000;
const maxAnswerBytes = 256 * 1024;
const maxConnections = 32;
/** Below the context of OpenAI's model in every script. Pieces overlap, so that no phrase is split. */
const longestPiece = 8000;
const overlap = 200;
const maxPieces = 32;
const maxCategories = 32;

/** A user with many requests must not take the connections of others: their requests would time out, and pass with `open`. */
const gates = createGates({ width: 4, maxWaiting: 100, waitTimeoutMs: 10_000 });

const answerSchema = z.object({
  results: z
    .array(z.object({ flagged: z.boolean(), categories: z.record(z.string(), z.unknown()).default({}) }))
    .min(1),
});

export function createPromptScreening(
  settings: PromptScreeningSettings,
  log: Log,
  answerMs = longestAnswerMs,
): PromptScreening {
  const { promptScreeningUrl: url, promptScreeningFail: fail } = settings;
  if (url === undefined) return { assertAllowed: async () => undefined, close: async () => undefined };
  const moderation = createModeration(settings, url, answerMs);
  return {
    assertAllowed: async (userId, texts, signal) => {
      assertOutsideTransaction('the screening of prompts');
      const pieces = piecesOf(texts);
      if (pieces.length === 0) return;
      let categories: readonly string[] | undefined;
      try {
        categories = await gates.run(userId, () => moderation.ask(pieces, signal));
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof Problem) throw error;
        if (fail === 'closed')
          throw problems.engine_unavailable({
            message: 'The prompt cannot be checked now. Try again later.',
            cause: error,
          });
        log.warn({ err: error }, 'a prompt was not screened and passes (PROMPT_SCREENING_FAIL is open)');
      }
      if (categories !== undefined) throw refusal(categories);
    },
    close: () => moderation.close(),
  };
}

function refusal(categories: readonly string[]): Problem {
  const reasons = categories.length > 0 && {
    message: `The prompt was refused (${categories.join(', ')}). Change it and try again.`,
  };
  return agentProblems.prompt_refused({ ...reasons, fields: { categories } });
}

/** As the failure of a tool call; `undefined` if the prompt may be used. */
export async function findRefusal(
  { prompts }: { readonly prompts: PromptScreening },
  userId: string,
  prompt: string,
  signal?: AbortSignal,
): Promise<Failure | undefined> {
  try {
    await prompts.assertAllowed(userId, [prompt], signal);
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, message, status, details } = error;
    return { code, message, retryable: status !== 422, ...details.fields };
  }
}

/** The texts are one text, because the model reads them together. */
function piecesOf(texts: readonly string[]): readonly string[] {
  const text = texts.filter((one) => one.trim() !== '').join('\n\n');
  const pieces: string[] = [];
  for (let start = 0; start < text.length; start += longestPiece - overlap) {
    pieces.push(text.slice(start, start + longestPiece).toWellFormed());
    if (start + longestPiece >= text.length) break;
  }
  return pieces;
}

/** The service alone, for the doctor too. */
export function createModeration(settings: PromptScreeningSettings, address: string, answerMs = longestAnswerMs) {
  const { promptScreeningKey: key, promptScreeningModel: model } = settings;
  const url = new URL(address);
  const path = url.pathname.endsWith('/moderations') ? url.pathname : `${url.pathname.replace(/\/$/, '')}/moderations`;
  const pool = new Pool(url.origin, { connections: maxConnections, connect: { timeout: 2000 } });

  async function post(input: readonly string[], signal: AbortSignal) {
    const response = await pool.request({
      method: 'POST',
      // Redirects are not followed: prompts go only to the configured URL.
      path: path + url.search,
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        'user-agent': userAgent,
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ input: input.length === 1 ? input[0] : input, model }),
      signal,
    });
    const body = await readAtMost(response.body, maxAnswerBytes, tooLong);
    if (response.statusCode !== 200) throw new Error(`the service returned ${response.statusCode}`);
    const { results } = readAnswer(body);
    if (results.length !== input.length) throw new Error('the service returned results for other texts');
    return results;
  }

  return {
    /** Returns the categories of flagged texts, or `undefined` if none is. Rejects without a valid response. */
    ask: async (pieces: readonly string[], signal?: AbortSignal): Promise<readonly string[] | undefined> => {
      for (let from = 0; from < pieces.length; from += maxPieces) {
        const some = pieces.slice(from, from + maxPieces);
        const results = await withDeadline(answerMs, (ended) => post(some, ended), signal);
        const flagged = results.filter((result) => result.flagged);
        if (flagged.length > 0) return categoriesOf(flagged);
      }
      return undefined;
    },
    close: () => pool.destroy(),
  };
}

/** The response may repeat the prompt, and errors of parsers quote it. */
function readAnswer(body: Buffer): z.output<typeof answerSchema> {
  const { data } = answerSchema.safeParse(parseJson(body));
  if (data === undefined) throw new Error("the service did not return OpenAI's moderations");
  return data;
}

function categoriesOf(flagged: readonly { readonly categories: Readonly<Record<string, unknown>> }[]) {
  const names = flagged.flatMap(({ categories }) =>
    Object.keys(categories).filter((name) => categories[name] === true),
  );
  return [...new Set(names.map((name) => toStorableLine(name, 100)))].slice(0, maxCategories);
}

function tooLong(): Error {
  return new Error(`the service returned more than ${maxAnswerBytes} bytes`);
}
