/** Identifies the program in every request that it sends. */
import { version } from '../version.ts';

export const userAgent = `Atelier/${version}`;

/** `fetch` with Atelier's User-Agent. */
export const outgoingFetch: typeof fetch = (url, init) => {
  const headers = new Headers(init?.headers ?? (url instanceof Request ? url.headers : undefined));
  headers.set('user-agent', userAgent);
  return fetch(url, { ...init, headers });
};
