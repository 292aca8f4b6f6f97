/** The version of the program, and how its requests name it. */
import manifest from '../../package.json' with { type: 'json' };

export const version: string = manifest.version;

/** The commit of the build. A build replaces the variable by its value. `unknown` without a repository, and for the sources. */
export const commit: string = process.env.ATELIER_COMMIT || 'unknown';

// Identifies the program in every request that it sends.

export const userAgent = `Atelier/${version}`;

/** `fetch` with Atelier's User-Agent. */
export const outgoingFetch: typeof fetch = (url, init) => {
  const headers = new Headers(init?.headers ?? (url instanceof Request ? url.headers : undefined));
  headers.set('user-agent', userAgent);
  return fetch(url, { ...init, headers });
};
