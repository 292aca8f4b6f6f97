/** Calls to either process, and the book of results: documented responses and broken promises. */
import { setTimeout as sleep } from 'node:timers/promises';

const portOffsets = { media: 1, auth: 3, agent: 4, memory: 5, notify: 7 } as const;

export interface Book {
  /** Counts each kind of response: `POST /task 201`, `POST /task 503 draining`. */
  readonly answers: Map<string, number>;
  /** Broken promises of the product. */
  readonly breaches: string[];
  breach(what: string): void;
  count(what: string): void;
  /** By kind of call. */
  readonly slowestMs: Map<string, number>;
}

export function openBook(): Book {
  const answers = new Map<string, number>();
  const breaches: string[] = [];
  const count = (what: string) => void answers.set(what, (answers.get(what) ?? 0) + 1);
  const breach = (what: string) => void breaches.push(`${new Date().toISOString()} ${what}`);
  return { answers, breaches, count, breach, slowestMs: new Map() };
}

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
}

type Service = keyof typeof portOffsets;

export interface Caller {
  /** Makes one attempt on a random process. Returns undefined if there was no response. */
  once(
    service: Service,
    method: string,
    path: string,
    body?: unknown,
    headers?: HeaderFields,
  ): Promise<Answer | undefined>;
  /** Retries on a missing response or 5xx, for calls that are safe to repeat. Throws if the soak ends first. */
  persist(service: Service, method: string, path: string, body?: unknown, headers?: HeaderFields): Promise<Answer>;
  url(service: Service): string;
}

type HeaderFields = Readonly<Record<string, string>>;

/**
 * Responses that are allowed while engines fail, without a fault of the caller (docs/specification/http.md#failing-engines;
 * docs/problems.md).
 */
const documented = new Set([
  'engine_unavailable',
  'overloaded',
  'draining',
  'upstream_unavailable',
  'screening_unavailable',
  'object_changing',
  'asset_changing',
  'copy_failed',
  'email_failed',
  'send_in_progress',
  'storage_full',
]);

export function createCaller(
  book: Book,
  portBases: readonly number[],
  credential: () => HeaderFields,
  isOver: () => boolean,
): Caller {
  const url = (service: Service) => {
    const base = portBases[Math.floor(Math.random() * portBases.length)] ?? 0;
    return `http://127.0.0.1:${base + portOffsets[service]}`;
  };
  async function once(service: Service, method: string, path: string, body?: unknown, headers: HeaderFields = {}) {
    const name = `${method} ${path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|t-[0-9a-f-]{36}/g, ':id').replace(/\?.*/, '')}`;
    const startedAtMs = performance.now();
    try {
      const response = await fetch(url(service) + path, {
        method,
        headers: { ...credential(), ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(60_000),
      });
      const text = await response.text();
      const answer = { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
      book.count(`${name} ${answer.status} ${(answer.status >= 400 && answer.body.error) || ''}`.trim());
      if (answer.status >= 500 && !documented.has(String(answer.body.error)))
        book.breach(`${name} returned ${answer.status} ${text.slice(0, 300)}`);
      return answer as Answer;
    } catch (error) {
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      if (isLate) book.breach(`${name} did not respond within 60 s`);
      if (error instanceof SyntaxError) book.breach(`${name} did not return JSON`);
      book.count(`${name} not reached`);
      return undefined;
    } finally {
      book.slowestMs.set(name, Math.max(book.slowestMs.get(name) ?? 0, performance.now() - startedAtMs));
    }
  }
  return {
    url,
    once,
    persist: async (service, method, path, body, headers) => {
      for (;;) {
        const answer = await once(service, method, path, body, headers);
        if (answer !== undefined && answer.status < 500) return answer;
        if (isOver()) throw new Over();
        await sleep(200 + Math.random() * 300);
      }
    },
  };
}

/** The soak ended before the current work was acknowledged. */
export class Over extends Error {}
