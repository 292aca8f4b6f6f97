/** HTTP requests of the doctor to external services, and the evaluation of their responses. */
import { outgoingFetch } from '#platform/version.ts';

/** A finding that is reported but is not a fault. */
export class Warning extends Error {}

/** The sentence of a check, or one of each part of it. */
export type Outcome = string | readonly Part[];
export type Part = readonly [name: string, sentence: Promise<string>];

/** A single part has the name of the check. */
export const ofParts = async (parts: readonly Part[]): Promise<Outcome> =>
  parts.length === 1 && parts[0] !== undefined ? parts[0][1] : parts;

export interface ProbeOptions {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The settings to check if the URL or the response is wrong. */
  readonly settings: string;
  /** The setting of the key, if there is one. */
  readonly keySetting?: string;
}

const timeoutMs = 5000;

/** Returns the status. Throws a readable message if there is no response, if the key is rejected, and for redirects and server errors. */
export async function probe({ url, headers, settings, keySetting }: ProbeOptions): Promise<number> {
  const place = placeOf(url);
  const init = {
    headers: { accept: 'application/json', ...headers },
    signal: AbortSignal.timeout(timeoutMs),
    redirect: 'manual',
  } as const;
  const response = await outgoingFetch(withoutCredentials(url), init).catch((error: Error) => {
    throw new Error(`${place} is not responding (${reasonOf(error)}); check ${settings}`);
  });
  const { status } = response;
  await response.body?.cancel();
  if (keySetting !== undefined && (status === 401 || status === 403))
    throw new Error(`${place} rejects the key (${status}); check ${keySetting}`);
  if (status === 429) throw new Warning(`${place} returns 429: too many requests, or the quota is used up`);
  if ((status >= 300 && status < 400) || status >= 500)
    throw new Error(`${place} returns ${status}; check ${settings}`);
  return status;
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
