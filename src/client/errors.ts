/** What the client throws. Everything else that reaches a caller is the reason of its own signal. */
import type { ProblemCode } from './codes.ts';

/**
 * The services' own codes (docs/problems.md); `http_<status>` when something in between answered; and three of the
 * client's: the service was not reached, did not answer in time, or does not speak as it should.
 */
export type ErrorCode = ProblemCode | `http_${number}` | 'unreachable' | 'timeout' | 'unexpected_answer';

export interface FieldIssue {
  /** Where in the request: `body.specs.0.width`. */
  readonly path: string;
  readonly message: string;
}

interface Details {
  readonly status?: number;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

export class AtelierError extends Error {
  override readonly name = 'AtelierError';
  /** To be compared with. A service that is newer than the client may say others. */
  readonly code: ErrorCode;
  /** Of the answer; 0 when there was none. */
  readonly status: number;
  /** To be named when asking about a failure: the service's log has it. */
  readonly requestId: string | undefined;
  /** Of a request that is not valid: field by field. */
  readonly issues: readonly FieldIssue[];
  /** When the service said when to come back. */
  readonly retryAfterMs: number | undefined;
  /** The whole answer: `required` and `balance` of a 402, `taskId` of a 409 among it. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, { status = 0, body = {}, retryAfterMs, cause }: Details = {}) {
    super(message, { cause });
    this.code = code;
    this.status = status;
    this.requestId = typeof body.requestId === 'string' ? body.requestId : undefined;
    this.issues = Array.isArray(body.issues) ? body.issues : [];
    this.retryAfterMs = retryAfterMs;
    this.body = body;
  }

  /** Of the fields that are not valid: `['body.width']`. */
  get fields(): readonly string[] {
    return this.issues.map(({ path }) => path);
  }
}

/** What `fetch` rejects with differs from browser to browser. */
export const toldOf = (reason: unknown): AtelierError =>
  reason instanceof AtelierError
    ? reason
    : new AtelierError('unreachable', 'The service cannot be reached.', { cause: reason });

/** A service answered, and refused: the body of docs/http.md, or whatever a proxy says in its place. */
export async function refusalOf(response: Response): Promise<AtelierError> {
  const { status, headers } = response;
  const body = parseObject(await response.text().catch(() => '')) ?? {};
  const { error, message } = body;
  return new AtelierError(
    typeof error === 'string' ? (error as ErrorCode) : `http_${status}`,
    typeof message === 'string' ? message : `The service answered with ${status}.`,
    { status, body, retryAfterMs: readRetryAfter(headers.get('retry-after')) },
  );
}

/** RFC 9110, 10.2.3: seconds, or a date. */
function readRetryAfter(text: string | null): number | undefined {
  if (text === null) return undefined;
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    // A page of a proxy, perhaps.
    return undefined;
  }
}
