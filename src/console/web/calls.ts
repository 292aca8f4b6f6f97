/** Calls to the console's server and to the services, and their errors. */

import type { Access } from '../../client/calling.ts';

export class CallFailed extends Error {
  readonly status: number;
  readonly code: string;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(typeof body.message === 'string' ? body.message : `The service returned ${status}.`);
    this.name = 'CallFailed';
    this.status = status;
    this.code = typeof body.error === 'string' ? body.error : '';
    this.body = body;
  }
}

/** A call of the client of applications, too. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof Error && 'status' in error && error.status === 401;

/** Reports each response of the client's calls. Its status is 0 if no server responded. */
export function observe(access: Access, onResponse: (url: string, status: number) => void): Access {
  return {
    ...access,
    async fetch(input, init) {
      const response = await globalThis.fetch(input, init).catch((error: unknown) => {
        if (!init?.signal?.aborted) onResponse(String(input), 0);
        throw error;
      });
      onResponse(String(input), response.status);
      return response;
    },
  };
}

/** Wherever a session turns out to have ended. */
export const sessionEnded = 'Your session has ended. Sign in again to continue.';

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** `no-cache`: the server checks whether a stored response is still right. */
  readonly cache?: 'no-cache';
  /** Only calls to the authentication service send cookies to another origin. */
  readonly withCookies?: boolean;
}

/** Throws CallFailed, with status 0 if no server responded. */
export async function send(url: string, call: Call = {}): Promise<Response> {
  const { method = 'GET', json, headers = {}, signal = null, cache = 'default', withCookies = false } = call;
  const response = await fetch(url, {
    method,
    headers: { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    credentials: withCookies ? 'include' : 'same-origin',
    signal,
    cache,
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new CallFailed(0, { message: 'The service cannot be reached.' });
  });
  if (!response.ok) throw new CallFailed(response.status, await response.json().catch(() => ({})));
  return response;
}

/** The service defines the shape of its response. The console is built from the same sources. */
export async function callJson<T>(url: string, call: Call = {}): Promise<T> {
  const response = await send(url, call);
  return response.status === 204 ? (undefined as T) : response.json();
}
