/** How the client reaches the agent service: with `fetch` alone, in browsers and in Node. */
import { ConnectionError, ProtocolError, parseObject, refusalOf, ServiceError } from './errors.ts';

export type Headers = Readonly<Record<string, string>>;

export interface AgentAccess {
  /** Address of the agent service. */
  readonly url: string;
  /** Asked for anew at each request: an access token lives for an hour, a conversation may live longer. */
  readonly headers: () => Headers | Promise<Headers>;
  readonly fetch?: typeof globalThis.fetch;
  readonly patience?: Partial<Patience>;
}

export interface Patience {
  /** So often in a row nothing gets through, then it is given up. Counted, not timed: a closed laptop loses no time. */
  readonly tries: number;
  /** Before the second try; doubled from there on. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** Nothing came for so long: the connection is dead. The service says something every 15 s. */
  readonly silentMs: number;
}

const defaultPatience: Patience = { tries: 12, firstPauseMs: 200, longestPauseMs: 5000, silentMs: 40_000 };

export const patienceOf = (access: AgentAccess): Patience => ({ ...defaultPatience, ...access.patience });

/** One request. Rejects with whatever `fetch` rejects with. */
export async function request(access: AgentAccess, path: string, init: RequestInit = {}): Promise<Response> {
  const { headers, ...rest } = init;
  // Looked up at each call: other libraries wrap it.
  const send = access.fetch ?? globalThis.fetch;
  return send(access.url.replace(/\/+$/, '') + path, {
    ...rest,
    headers: { ...(await access.headers()), ...(headers as Headers) },
  });
}

/** Repeated while the service is not reached or asks for patience. Throws `ServiceError`, `ConnectionError`. */
export async function readJson(
  access: AgentAccess,
  path: string,
  init: RequestInit = {},
): Promise<Record<string, unknown>> {
  const response = await requestPatiently(access, path, init);
  const body = parseObject(await response.text());
  if (body === undefined) throw new ProtocolError(`${path} was not answered with JSON.`);
  return body;
}

/** The answer, once it is a success. Only for requests that may be repeated. */
export async function requestPatiently(access: AgentAccess, path: string, init: RequestInit = {}): Promise<Response> {
  const signal = init.signal ?? undefined;
  for (const pausing = createPauses(access, signal); ; ) {
    let reason: unknown;
    try {
      const response = await request(access, path, init);
      if (response.ok) return response;
      reason = await refusalOf(response);
    } catch (error) {
      reason = error;
    }
    signal?.throwIfAborted();
    await pausing.pause(reason);
  }
}

export interface Pauses {
  /** Something got through: what was failed before is forgotten. */
  reset(): void;
  /** Waits before the next try. Throws `reason`, or `ConnectionError`, when there is to be none. */
  pause(reason: unknown): Promise<void>;
}

export function createPauses(access: AgentAccess, signal: AbortSignal | undefined): Pauses {
  const { tries, firstPauseMs, longestPauseMs } = patienceOf(access);
  let failures = 0;
  return {
    reset() {
      failures = 0;
    },
    async pause(reason) {
      const isRefusal = reason instanceof ServiceError;
      if (isRefusal && !isPassing(reason.status)) throw reason;
      failures += 1;
      if (failures >= tries) {
        throw isRefusal ? reason : new ConnectionError('The service cannot be reached.', { cause: reason });
      }
      const doubledMs = Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs);
      const askedForMs = isRefusal ? Math.min((reason.retryAfterS ?? 0) * 1000, longestPauseMs) : 0;
      // Half of it by chance: those who were cut off together need not come back together.
      await sleep(Math.max(askedForMs, doubledMs * (0.5 + Math.random() / 2)), signal);
    },
  };
}

/** Draining, overloaded, a proxy without anybody behind it. */
export const isPassing = (status: number): boolean =>
  status >= 500 || status === 408 || status === 425 || status === 429;

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
