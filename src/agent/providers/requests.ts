/** Calls to providers of pictures and videos on OpenAI's wire: with a deadline, retried, and with failures for the user. */
import { z } from 'zod';
import { readAtMost } from '#platform/http/boundedbody.ts';
import { outgoingFetch } from '#platform/http/outgoing.ts';
import { withDeadline } from '#platform/resilience/deadline.ts';
import { OrderRefused, ProviderFailed } from './generators.ts';
import { isRetryableStatus, maxTries, waitBeforeRetry } from './retrying.ts';

export interface ProviderSettings {
  readonly url: string;
  readonly apiKey: string | undefined;
  readonly name: string | undefined;
}

export interface ProviderCall {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly json?: unknown;
  readonly form?: FormData;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

const said = z.object({ error: z.object({ message: z.string() }) });

/**
 * 408, 429, 5xx and broken connections are tried up to three times (docs/specification/agent.md#provider-failures). Throws
 * OrderRefused for a fault of the order (400, 422), ProviderFailed for any other failure.
 */
export async function callProvider(
  { url, apiKey }: ProviderSettings,
  what: string,
  call: ProviderCall,
): Promise<{ readonly bytes: Uint8Array; readonly mime: string }> {
  const { method, path, json, form, maxBytes, signal: outer } = call;
  const headers = {
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    ...(json === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const body = form ?? (json === undefined ? null : JSON.stringify(json));
  const ask = async (signal: AbortSignal) => {
    const answer = await outgoingFetch(url + path, { method, headers, body, signal, redirect: 'error' });
    const bytes = await readAtMost(
      answer.body ?? [],
      maxBytes,
      () => new Error(`the response is larger than ${maxBytes} bytes`),
    );
    return {
      status: answer.status,
      bytes,
      mime: answer.headers.get('content-type') ?? '',
      retryAfter: answer.headers.get('retry-after'),
    };
  };
  const answer = await askWithRetries(() => withDeadline(call.timeoutMs, ask, outer), outer).catch((cause: unknown) => {
    outer.throwIfAborted();
    throw new ProviderFailed(`The ${what} provider could not be reached, or did not answer in time.`, { cause });
  });
  if (answer.status === 400 || answer.status === 422) throw new OrderRefused(reasonOf(answer.bytes, what));
  if (answer.status < 200 || answer.status > 299)
    throw new ProviderFailed(`The ${what} provider answered ${answer.status}.`);
  return answer;
}

/** Neither a time limit nor a body that is too large is retried. */
async function askWithRetries<T extends { readonly status: number; readonly retryAfter: string | null }>(
  ask: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const isLast = tries === maxTries;
    const answer = await ask().catch((error: unknown) => {
      signal.throwIfAborted();
      // `fetch` rejects with a TypeError when a connection is refused or broken.
      if (isLast || !(error instanceof TypeError)) throw error;
      return undefined;
    });
    if (answer !== undefined && (isLast || !isRetryableStatus(answer.status))) return answer;
    const mayRetry = await waitBeforeRetry(tries, answer?.retryAfter, signal);
    if (answer !== undefined && !mayRetry) return answer;
  }
}

function reasonOf(bytes: Uint8Array, what: string): string {
  const parsed = said.safeParse(parseJson(bytes));
  const message = parsed.success ? parsed.data.error.message.slice(0, 300) : 'no reason given';
  return `The ${what} provider refused: ${message}`;
}

/** `undefined`: it is no JSON. */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    // Recognized by its missing field.
    return undefined;
  }
}
