/** Calls to providers of pictures and videos: OpenAI's wire, with a deadline, and failures told in a sentence. */
import { z } from 'zod';
import { readAtMost } from '#platform/http/boundedbody.ts';
import { outgoingFetch } from '#platform/http/outgoing.ts';
import { withDeadline } from '#platform/resilience/deadline.ts';
import { OrderRefused, ProviderFailed } from '../generators.ts';

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

/** Throws OrderRefused for what is wrong with the order (400, 422), ProviderFailed for the rest. */
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
    return { status: answer.status, bytes, mime: answer.headers.get('content-type') ?? '' };
  };
  const answer = await withDeadline(call.timeoutMs, ask, outer).catch((cause: unknown) => {
    outer.throwIfAborted();
    throw new ProviderFailed(`The ${what} provider could not be reached, or did not answer in time.`, { cause });
  });
  if (answer.status === 400 || answer.status === 422) throw new OrderRefused(reasonOf(answer.bytes, what));
  if (answer.status < 200 || answer.status > 299)
    throw new ProviderFailed(`The ${what} provider answered ${answer.status}.`);
  return answer;
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
    // Told by what is missing in it.
    return undefined;
  }
}
