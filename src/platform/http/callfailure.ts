/** Why a call to another service came to nothing, and whether a repeat may help. */

interface FailureFacts {
  /** Nobody is there, or nobody who takes on more work: a repeat may help. */
  readonly silent: boolean;
  /** The call was not begun to be worked on: a repeat does no harm, whatever it does. */
  readonly untouched: boolean;
  readonly status?: number;
  readonly cause?: unknown;
}

export class CallFailed extends Error {
  readonly silent: boolean;
  readonly untouched: boolean;
  readonly status: number | undefined;

  constructor(message: string, facts: FailureFacts) {
    super(message, { cause: facts.cause });
    this.name = 'CallFailed';
    this.silent = facts.silent;
    this.untouched = facts.untouched;
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

/** What undici throws, told apart; errors of another kind are a fault of ours and stay as they are. */
export function asFailure(error: unknown): unknown {
  if (error instanceof CallFailed || !(error instanceof Error) || !('code' in error)) return error;
  return new CallFailed('the connection failed', {
    silent: true,
    untouched: notConnected.has(error.code),
    cause: error,
  });
}

const silentStatuses: ReadonlySet<number> = new Set([502, 503, 504]);
/** Of ours: said before the request was looked at. */
const refusals: ReadonlySet<unknown> = new Set(['draining', 'overloaded']);
/** Of ours: said in place of an answer. Other codes of 500 and above are answers, to the caller to judge. */
const excuses: ReadonlySet<unknown> = new Set([...refusals, 'engine_unavailable', 'internal_error']);

export function assertAnswered(
  { status, body }: { readonly status: number; readonly body: Buffer },
  ours: boolean,
): void {
  if (status < 500) return;
  const code = ours ? codeOf(body) : undefined;
  if (code !== undefined && !excuses.has(code)) return;
  throw new CallFailed(`answered ${status}${code === undefined ? '' : ` ${code}`}`, {
    silent: silentStatuses.has(status),
    untouched: refusals.has(code),
    status,
  });
}

function codeOf(body: Buffer): string | undefined {
  try {
    const { error } = JSON.parse(body.toString('utf8'));
    return typeof error === 'string' ? error : undefined;
  } catch {
    // Not one of our bodies: a proxy in between spoke.
    return undefined;
  }
}
