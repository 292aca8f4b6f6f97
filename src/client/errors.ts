/** The errors that the client throws. The only other rejections are the reasons of the caller's own signal. */
import type { ProblemCode } from './codes.ts';

/**
 * The services' codes (docs/problems.md); `http_<status>` for a response from a proxy; and three codes of the client: the service
 * was unreachable, timed out, or returned an unexpected response.
 */
export type ErrorCode = ProblemCode | `http_${number}` | 'unreachable' | 'timeout' | 'unexpected_answer';

export interface FieldIssue {
  /** The position in the request: `body.specs.0.width`. */
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
  /** Compare with this. A service that is newer than the client may return other codes. */
  readonly code: ErrorCode;
  /** The status of the response; 0 if there was none. */
  readonly status: number;
  /** Include this id in a support request: the service's log contains it. */
  readonly requestId: string | undefined;
  /** The invalid fields of a request. */
  readonly issues: readonly FieldIssue[];
  /** Set if the service specified when to retry. */
  readonly retryAfterMs: number | undefined;
  /** The whole response body, including `required` and `balance` of a 402, `categories` of a `prompt_refused`, and `taskId` of a 409. */
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

  /** The invalid fields: `['body.width']`. */
  get fields(): readonly string[] {
    return this.issues.map(({ path }) => path);
  }
}

/** The thread already has a run in progress, so the message was not accepted. Wait until the run has ended, or stop it, and send again. */
export class ThreadBusy extends AtelierError {
  /** The run in progress. */
  readonly taskId: string;

  constructor(message: string, taskId: string, details: Details) {
    super('task_running', message, details);
    this.taskId = taskId;
  }
}

/** Browsers differ in the errors with which `fetch` rejects, so all become `unreachable` or `timeout`. */
export const toAtelierError = (reason: unknown): AtelierError =>
  reason instanceof AtelierError
    ? reason
    : new AtelierError('unreachable', 'The service cannot be reached.', { cause: reason });

/** Converts an error response: the body of docs/http.md, or any response of a proxy. */
export async function errorOf(response: Response): Promise<AtelierError> {
  const { status, headers } = response;
  const body = parseObject(await response.text().catch(() => '')) ?? {};
  const { error, reason, taskId } = body;
  const message = typeof body.message === 'string' ? body.message : `The service returned ${status}.`;
  const details = { status, body, retryAfterMs: readRetryAfter(headers.get('retry-after')) };
  if (status === 409 && reason === 'running' && typeof taskId === 'string')
    return new ThreadBusy(message, taskId, details);
  return new AtelierError(typeof error === 'string' ? (error as ErrorCode) : `http_${status}`, message, details);
}

/** Parses seconds or a date (RFC 9110, 10.2.3). */
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
    // The response may be a proxy's page.
    return undefined;
  }
}
