/** Every request that leaves a process names the program that sends it. */
import { version } from '../version.ts';

export const userAgent = `Atelier/${version}`;

/** `fetch` with our User-Agent. */
export const outgoingFetch: typeof fetch = (url, init) => {
  const headers = new Headers(init?.headers ?? (url instanceof Request ? url.headers : undefined));
  headers.set('user-agent', userAgent);
  return fetch(url, { ...init, headers });
};
