/**
 * Errors that a caller may see (docs/specification/http.md#errors). `message` is the public sentence of a Problem, and `cause` is for
 * the log only. Each service declares its problems in one table (`problems.ts`). A test compares docs/problems.md with these tables.
 */

export interface Issue {
  /** The position in the request: `body.specs.0.width`, `headers.x-internal-key`. */
  readonly path: string;
  readonly message: string;
}

export interface ProblemDefinition {
  readonly status: number;
  /** The public sentence that is used if no more precise one is given. */
  readonly message: string;
  /** Seconds for `Retry-After`, if a retry makes sense. */
  readonly retryAfterS?: number;
}

export interface ProblemDetails {
  readonly message?: string;
  readonly issues?: readonly Issue[];
  readonly retryAfterS?: number;
  /** Further fields of the body that the specification requires (`errorCode`, `reason`, …). */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** The reason, for the log. It is never sent to the caller. */
  readonly cause?: unknown;
}

export class Problem extends Error {
  readonly code: string;
  readonly status: number;
  readonly details: ProblemDetails;

  constructor(code: string, definition: ProblemDefinition, details: ProblemDetails = {}) {
    super(details.message ?? definition.message, { cause: details.cause });
    this.name = 'Problem';
    this.code = code;
    this.status = definition.status;
    this.details = { ...details, retryAfterS: details.retryAfterS ?? definition.retryAfterS };
  }
}

export type ProblemFactory = (details?: ProblemDetails) => Problem;

/**
 * Converts a table of definitions to functions that create Problems: `throw problems.asset_conflict({ cause })`.
 * The key is the stable `error` code of the body.
 */
export function defineProblems<Code extends string>(
  table: Readonly<Record<Code, ProblemDefinition>>,
): Readonly<Record<Code, ProblemFactory>> & { readonly table: Readonly<Record<Code, ProblemDefinition>> } {
  const factories = Object.fromEntries(
    Object.entries<ProblemDefinition>(table).map(([code, definition]) => [
      code,
      (details?: ProblemDetails) => new Problem(code, definition, details),
    ]),
  ) as Record<Code, ProblemFactory>;
  return Object.assign(factories, { table });
}

/** The problems that every service can return. */
export const problems = defineProblems({
  invalid_request: { status: 400, message: 'The request is not valid.' },
  unauthorized: { status: 401, message: 'A valid credential is required.' },
  forbidden: { status: 403, message: 'The credential does not permit this request.' },
  not_found: { status: 404, message: 'The resource does not exist.' },
  request_timeout: { status: 408, message: 'The request did not arrive in time. Send it again.' },
  payload_too_large: { status: 413, message: 'The request body is too large.' },
  unsupported_media_type: { status: 415, message: 'The content type of the body is not supported.' },
  rate_limited: {
    status: 429,
    message: 'Too many requests. Try again after the time in `Retry-After`.',
    retryAfterS: 60,
  },
  headers_too_large: { status: 431, message: 'The headers of the request are too large.' },
  internal_error: { status: 500, message: 'An internal error occurred.' },
  engine_unavailable: {
    status: 503,
    message: 'A required service is not responding. Try again later.',
    retryAfterS: 2,
  },
  storage_full: {
    status: 503,
    message: 'The server has no space left to store data. Reading still works.',
    retryAfterS: 30,
  },
  overloaded: { status: 503, message: 'The service is overloaded. Try again later.', retryAfterS: 1 },
  starting: { status: 503, message: 'The process is starting. Try again later.', retryAfterS: 1 },
  draining: { status: 503, message: 'The service is shutting down. Try again later.', retryAfterS: 2 },
});

/**
 * Creates a 400 that names one field: `throw invalid('body.width', 'must be at most 16383')`. The specification may require its own
 * `sentence`.
 */
export function invalid(path: string, message: string, sentence = `${path}: ${message}.`): Problem {
  return problems.invalid_request({ message: sentence, issues: [{ path, message }] });
}
