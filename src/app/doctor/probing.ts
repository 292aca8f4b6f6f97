/** HTTP requests of the doctor to external services, and the evaluation of their responses. */
import { outgoingFetch } from '#platform/http/outgoing.ts';

/** A finding that is reported but is not a fault. */
export class Warning extends Error {}

export interface ProbeOptions {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** The settings to check if the URL or the response is wrong. */
  readonly settings: string;
  /** The setting of the key, if there is one. */
  readonly keySetting?: string;
  readonly timeoutMs?: number;
}

export interface ProbeResponse {
  readonly status: number;
  /** The first `maxBytes` as JSON, or `undefined` if they are not JSON. */
  readonly json: unknown;
}

const maxBytes = 1024 * 1024;

/** Throws a readable message if there is no response, if the key is rejected, and for redirects and server errors. */
export async function probe(options: ProbeOptions): Promise<ProbeResponse> {
  const { url, method = 'GET', json, settings, keySetting } = options;
  const place = placeOf(url);
  const headers = {
    accept: 'application/json',
    ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    ...options.headers,
  };
  const body = json === undefined ? null : JSON.stringify(json);
  const signal = AbortSignal.timeout(options.timeoutMs ?? 5000);
  const init = { method, headers, body, signal, redirect: 'manual' } as const;
  const response = await outgoingFetch(withoutCredentials(url), init).catch((error: Error) => {
    throw new Error(`${place} is not responding (${reasonOf(error)}); check ${settings}`);
  });
  const { status } = response;
  if (keySetting !== undefined && (status === 401 || status === 403)) {
    await response.body?.cancel();
    throw new Error(`${place} rejects the key (${status}); check ${keySetting}`);
  }
  if (status === 429) {
    await response.body?.cancel();
    throw new Warning(`${place} returns 429: too many requests, or the quota is used up`);
  }
  if ((status >= 300 && status < 400) || status >= 500) {
    await response.body?.cancel();
    throw new Error(`${place} returns ${status}; check ${settings}`);
  }
  return { status, json: parseJson(await readSome(response).catch(() => '')) };
}

export const isSuccess = (status: number) => status >= 200 && status < 300;

export function bearer(key: string | undefined): Readonly<Record<string, string>> {
  return key ? { authorization: `Bearer ${key}` } : {};
}

/** Returns the URL without parts that may be secret. */
export function placeOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** `fetch` rejects such a URL with an error that contains it. The services do not send the credentials either. */
function withoutCredentials(url: string): URL {
  return Object.assign(new URL(url), { username: '', password: '' });
}

/** Returns the reason at the end of the chain of causes. */
export function reasonOf(error: Error): string {
  const { cause } = error;
  if (cause instanceof Error) return reasonOf(cause);
  if (typeof cause === 'string') return cause;
  return error.message || String((error as NodeJS.ErrnoException).code);
}

/** Whether a provider that returns 400 for a wrong key, as Google does, means the key. */
export const isKeyRefusal = (reason: string) => /\bAPI[ _-]?key\b|credential|authenticat/i.test(reason);

/** Stops reading an event stream after its first chunk. */
async function readSome(response: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  for await (const piece of response.body ?? []) {
    pieces.push(piece);
    length += piece.length;
    if (isStream || length > maxBytes) break;
  }
  return Buffer.concat(pieces).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
