/** What the client throws. Everything else that reaches a caller is an `AbortError` of its own signal. */

interface ErrorBody {
  readonly error?: unknown;
  readonly message?: unknown;
  readonly requestId?: unknown;
  readonly issues?: unknown;
}

/** A service answered, and refused: the error body of CONTRACT §3. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly status: number;
  /** Stable, in snake case: `insufficient_credits`. `http_<status>` when something in between answered. */
  readonly code: string;
  readonly requestId: string | undefined;
  /** Of a request that failed validation. */
  readonly issues: readonly { readonly path: string; readonly message: string }[];
  /** Seconds, when the service said when to come back. */
  readonly retryAfterS: number | undefined;
  /** The whole body: `taskId` and `reason` of a 409 among it. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(response: Response, body: Readonly<Record<string, unknown>>) {
    const { error, message, requestId, issues } = body as ErrorBody;
    const code = typeof error === 'string' ? error : `http_${response.status}`;
    super(typeof message === 'string' ? message : `The service answered with ${response.status}.`);
    this.status = response.status;
    this.code = code;
    this.requestId = typeof requestId === 'string' ? requestId : undefined;
    this.issues = Array.isArray(issues) ? issues : [];
    const retryAfterS = Number(response.headers.get('retry-after') ?? Number.NaN);
    this.retryAfterS = Number.isFinite(retryAfterS) ? retryAfterS : undefined;
    this.body = body;
  }
}

/** The service was not reached, again and again. `cause` is the last reason. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/** What came is not what the service speaks: another version, or something in between that answers in its place. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

export async function refusalOf(response: Response): Promise<ServiceError> {
  const text = await response.text().catch(() => '');
  return new ServiceError(response, parseObject(text) ?? {});
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
