/** Why a call to another service failed, and whether a retry can help. */

interface FailureFacts {
  /** The service is down or overloaded, so a retry can help. */
  readonly isRetryable: boolean;
  /** The service did not start to process the call: a retry is safe even if the call is not idempotent. */
  readonly wasNotSent: boolean;
  readonly status?: number;
  readonly cause?: unknown;
}

export class CallFailed extends Error {
  readonly isRetryable: boolean;
  readonly wasNotSent: boolean;
  readonly status: number | undefined;

  constructor(message: string, facts: FailureFacts) {
    super(message, { cause: facts.cause });
    this.name = 'CallFailed';
    this.isRetryable = facts.isRetryable;
    this.wasNotSent = facts.wasNotSent;
    this.status = facts.status;
  }
}

const notConnected: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Wraps connection errors of undici. Other errors are bugs and are returned unchanged. */
export function asFailure(error: unknown): unknown {
  if (error instanceof CallFailed || !(error instanceof Error) || !('code' in error)) return error;
  return new CallFailed('the connection failed', {
    isRetryable: true,
    wasNotSent: notConnected.has(error.code),
    cause: error,
  });
}

const unavailableStatuses: ReadonlySet<number> = new Set([502, 503, 504]);
/** Codes that Atelier's services return before they read the request. */
const refusals: ReadonlySet<unknown> = new Set(['draining', 'overloaded']);
/** Codes that mean that an internal service could not respond. The caller handles every other code of 500 and above. */
const excuses: ReadonlySet<unknown> = new Set([...refusals, 'engine_unavailable', 'storage_full', 'internal_error']);

export function assertAvailable(
  { status, body }: { readonly status: number; readonly body: Buffer },
  isInternal: boolean,
): void {
  if (status < 500) return;
  const code = isInternal ? codeOf(body) : undefined;
  if (code !== undefined && !excuses.has(code)) return;
  throw new CallFailed(`answered ${status}${code === undefined ? '' : ` ${code}`}`, {
    isRetryable: unavailableStatuses.has(status),
    wasNotSent: refusals.has(code),
    status,
  });
}

function codeOf(body: Buffer): string | undefined {
  try {
    const { error } = JSON.parse(body.toString('utf8'));
    return typeof error === 'string' ? error : undefined;
  } catch {
    // The response came from a proxy and not from an internal service.
    return undefined;
  }
}
