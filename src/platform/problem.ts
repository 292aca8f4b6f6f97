/**
 * Errors that a caller may see (docs/specification/http.md#errors). `message` is the public sentence of a Problem, and `cause` is for
 * the log only. Each service declares its problems in one table (`problems.ts`). A test compares docs/problems.md with these tables.
 */
import table from './problems.json' with { type: 'json' };

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
export const problems = defineProblems(table);

/**
 * Creates a 400 that names one field: `throw invalid('body.width', 'must be at most 16383')`. The specification may require its own
 * `sentence`.
 */
export function invalid(path: string, message: string, sentence = `${path}: ${message}.`): Problem {
  return problems.invalid_request({ message: sentence, issues: [{ path, message }] });
}
