/** How the doctor asks other people's services over HTTP, and judges what they answer. */
import { outgoingFetch } from '#platform/http/outgoing.ts';

/** Worth a line, and no fault. */
export class Warning extends Error {}

export interface Question {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** The settings to look at when the address or the answer is wrong. */
  readonly settings: string;
  /** The setting of the key, if there is one. */
  readonly keySetting?: string;
  readonly timeoutMs?: number;
}

export interface Reply {
  readonly status: number;
  /** The first `maxBytes`; `undefined` unless it is JSON. */
  readonly json: unknown;
}

const maxBytes = 1024 * 1024;

/** Throws a sentence if nothing answers, if the key is refused, and for redirects and server errors. */
export async function ask(question: Question): Promise<Reply> {
  const { url, method = 'GET', json, settings, keySetting } = question;
  const place = placeOf(url);
  const headers = {
    accept: 'application/json',
    ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    ...question.headers,
  };
  const body = json === undefined ? null : JSON.stringify(json);
  const signal = AbortSignal.timeout(question.timeoutMs ?? 5000);
  const request = { method, headers, body, signal, redirect: 'manual' } as const;
  const response = await outgoingFetch(withoutCredentials(url), request).catch((error: Error) => {
    throw new Error(`${place} does not answer (${reasonOf(error)}); see ${settings}`);
  });
  const { status } = response;
  if (keySetting !== undefined && (status === 401 || status === 403)) {
    await response.body?.cancel();
    throw new Error(`${place} refuses the key (${status}); see ${keySetting}`);
  }
  if (status === 429) {
    await response.body?.cancel();
    throw new Warning(`${place} answers 429: too many requests, or no quota is left`);
  }
  if ((status >= 300 && status < 400) || status >= 500) {
    await response.body?.cancel();
    throw new Error(`${place} answers ${status}; see ${settings}`);
  }
  return { status, json: parseJson(await readSome(response).catch(() => '')) };
}

export const isSuccess = (status: number) => status >= 200 && status < 300;

export function bearer(key: string | undefined): Readonly<Record<string, string>> {
  return key ? { authorization: `Bearer ${key}` } : {};
}

/** Without what may be secret. */
export function placeOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}

/** `fetch` refuses such a URL, with an error that shows it. The services do not send the credentials either. */
function withoutCredentials(url: string): URL {
  return Object.assign(new URL(url), { username: '', password: '' });
}

export function reasonOf(error: Error): string {
  const { cause } = error;
  return cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : error.message;
}

/** An event stream is left after its first piece. */
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
