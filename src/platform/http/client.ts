/**
 * An HTTP client for internal and external services, with a bounded pool, a deadline over all attempts, retries where they are
 * safe, a circuit breaker and trace headers. If a service does not respond, the call fails with `engine_unavailable` (503).
 */

import { Pool } from 'undici';
import { onBehalfHeader } from '../access/caller.ts';
import { type Clock, monotonicClock } from '../clock.ts';
import { assertOutsideTransaction } from '../db/db.ts';
import { parseJson } from '../json.ts';
import { Problem, problems } from '../problem.ts';
import { BreakerOpen, createBreaker, DeadlineExceeded, retry, withDeadline } from '../resilience.ts';
import {
  type Attributes,
  currentScope,
  noTelemetry,
  type Telemetry,
  type Trace,
  writeTrace,
} from '../telemetry/trace.ts';
import { userAgent } from '../version.ts';
import { readAtMost } from './bodies.ts';

export interface ClientOptions {
  /** The name in logs and spans, such as `image` or `embeddings`. */
  readonly name: string;
  readonly baseUrl: string;
  /**
   * Set this for Atelier's own services. They receive the request id and the baggage, and their problem responses are distinguished from
   * outages.
   */
  readonly isInternal: boolean;
  /** Sent as `X-Internal-Key`. */
  readonly internalKey?: string;
  /** Time limit for a call with its retries. A call may override it. */
  readonly timeoutMs: number;
  readonly maxConnections?: number;
  readonly maxResponseBytes?: number;
  /** If `false`, every call is attempted regardless of earlier failures, because the caller needs to distinguish each failure. */
  readonly failFast?: boolean;
  readonly telemetry?: Telemetry;
  readonly clock?: Clock;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path below the base URL as a pattern. The span has the pattern, because a path can identify a user. */
  readonly route: string;
  /** The values of the parameters in the route. */
  readonly params?: Readonly<Record<string, string>>;
  /** Absent values are omitted. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** The encoded path and query, if they are not built from the route. */
  readonly path?: string;
  readonly json?: unknown;
  /** Instead of `json`: pieces of an `application/octet-stream`, which are sent without being copied. */
  readonly pieces?: readonly Uint8Array[];
  /** With `authorization` the call is made as that user, and the internal key is not sent. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The user whose rights the call has, sent as `X-On-Behalf-Of`. Without one the call has the rights of a server. */
  readonly onBehalfOf?: string | null;
  /** Repeating the call is safe. Default: `true` for GET, PUT and DELETE. */
  readonly idempotent?: boolean;
  readonly timeoutMs?: number;
  /** Cancels the call. It rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

interface ServiceResponse {
  /** Any status except those that mean the service is unavailable. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Throws `engine_unavailable` if the body is not JSON. */
  json(): unknown;
}

export interface HttpClient {
  send(call: Call): Promise<ServiceResponse>;
  close(): Promise<void>;
}

/** A client for code that acts for users: each call names its user, or `null` for the rights of a server. */
export interface ActingClient {
  send(call: Call & { readonly onBehalfOf: string | null }): Promise<ServiceResponse>;
}

const attempts = 3;
/** Well below the 15 s within which the system must recover (docs/specification/http.md#failing-engines). */
const trialEveryMs = 2000;
const failuresToOpen = 5;

export function createClient(options: ClientOptions): HttpClient {
  const { telemetry = noTelemetry, clock = monotonicClock, name, failFast = true } = options;
  const base = new URL(options.baseUrl);
  const prefix = base.pathname.replace(/\/$/, '');
  const maxResponseBytes = options.maxResponseBytes ?? 4 * 1024 * 1024;
  const tooLong = () =>
    new CallFailed(`the response is larger than ${maxResponseBytes} bytes`, { isRetryable: false, wasNotSent: false });
  const pool = new Pool(base.origin, { connections: options.maxConnections ?? 64, connect: { timeout: 2000 } });
  const breaker = createBreaker({
    failuresToOpen,
    trialEveryMs,
    clock,
    isFailure: (error) => (error instanceof CallFailed && error.isRetryable) || error instanceof DeadlineExceeded,
    isNeutral: (error) => !(error instanceof CallFailed || error instanceof DeadlineExceeded),
  });

  async function attempt(call: Call, trace: Trace | undefined, signal: AbortSignal): Promise<ServiceResponse> {
    const { method, path = pathOf(call), json, pieces, onBehalfOf } = call;
    const headers = {
      accept: 'application/json',
      'user-agent': userAgent,
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...(pieces && {
        'content-type': 'application/octet-stream',
        'content-length': String(pieces.reduce((sum, { length }) => sum + length, 0)),
      }),
      // If the call has its own credential, the key must be absent, because it would take precedence
      // (docs/specification/http.md#credentials).
      ...(options.internalKey === undefined || call.headers?.authorization !== undefined
        ? {}
        : {
            'x-internal-key': options.internalKey,
            ...(typeof onBehalfOf === 'string' && { [onBehalfHeader]: onBehalfOf }),
          }),
      ...headersOfScope(trace, options.isInternal),
      ...call.headers,
    };
    const body = pieces ?? (json === undefined ? null : JSON.stringify(json));
    const response = await pool
      // Undici accepts any iterable; its types name streams only.
      .request({ method, path: prefix + path, headers, body: body as string | null, signal })
      .then(async (response) => {
        const { statusCode: status, headers } = response;
        const bytes = await readAtMost(response.body, maxResponseBytes, tooLong);
        return { status, headers, body: bytes, json: () => jsonOf(bytes, name) };
      })
      .catch((error: unknown) => {
        throw signal.aborted ? signal.reason : asFailure(error);
      });
    assertAvailable(response, options.isInternal);
    return response;
  }

  async function send(call: Call): Promise<ServiceResponse> {
    const scope = currentScope();
    const span = telemetry.startSpan('client', `${call.method} ${call.route}`, scope?.trace, {
      'http.request.method': call.method,
      'server.address': base.hostname,
      'server.port': Number(base.port || (base.protocol === 'https:' ? 443 : 80)),
      'url.template': call.route,
      'peer.service': name,
    });
    const trace = scope === undefined && telemetry === noTelemetry ? undefined : span.trace;
    const idempotent = call.idempotent ?? call.method !== 'POST';
    let status: number | undefined;
    try {
      const response = await withDeadline(
        call.timeoutMs ?? options.timeoutMs,
        (signal) =>
          retry(() => (failFast ? breaker.run(() => attempt(call, trace, signal)) : attempt(call, trace, signal)), {
            attempts,
            baseDelayMs: 100,
            maxDelayMs: 1000,
            isRetryable: (error) =>
              error instanceof CallFailed && error.isRetryable && (idempotent || error.wasNotSent),
            signal,
          }),
        call.signal,
      );
      status = response.status;
      return response;
    } catch (error) {
      if (call.signal?.aborted) throw call.signal.reason;
      if (error instanceof CallFailed) status = error.status;
      if (!(error instanceof CallFailed || error instanceof DeadlineExceeded || error instanceof BreakerOpen))
        throw error;
      throw problems.engine_unavailable({
        cause: new Error(`${name}: ${call.method} ${call.route}`, { cause: error }),
      });
    } finally {
      const attributes: Attributes = status === undefined ? {} : { 'http.response.status_code': status };
      span.end?.({ attributes, failed: status === undefined ? !call.signal?.aborted : status >= 500 });
    }
  }

  return {
    async send(call) {
      assertOutsideTransaction(`the service ${name}`);
      return send(call);
    },
    close: () => pool.destroy(),
  };
}

function pathOf({ route, params = {}, query = {} }: Call): string {
  const path = route.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? path : `${path}?${search}`;
}

function jsonOf(body: Buffer, name: string): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw problems.engine_unavailable({ cause: new Error(`${name} did not return JSON`, { cause: error }) });
  }
}

/** Baggage and ids go to internal services only. External services receive only the trace context. */
function headersOfScope(trace: Trace | undefined, isInternal: boolean): Record<string, string> {
  const scope = currentScope();
  return {
    ...(trace === undefined ? {} : writeTrace(trace)),
    ...(isInternal && scope !== undefined ? { 'x-request-id': scope.requestId } : {}),
    ...(isInternal && scope?.baggage !== undefined ? { baggage: scope.baggage } : {}),
  };
}

/** Why a call to another service failed, and whether a retry can help. */

interface FailureFacts {
  /** The service is down or overloaded, so a retry can help. */
  readonly isRetryable: boolean;
  /** The service did not start to process the call: a retry is safe even if the call is not idempotent. */
  readonly wasNotSent: boolean;
  readonly status?: number;
  readonly cause?: unknown;
}

class CallFailed extends Error {
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
function asFailure(error: unknown): unknown {
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

function assertAvailable(
  { status, body }: { readonly status: number; readonly body: Buffer },
  isInternal: boolean,
): void {
  if (status < 500) return;
  // If it has none, the response came from a proxy and not from an internal service.
  const code = isInternal ? textAt(parseJson(body), 'error') : undefined;
  if (code !== undefined && !excuses.has(code)) return;
  throw new CallFailed(`answered ${status}${code === undefined ? '' : ` ${code}`}`, {
    isRetryable: unavailableStatuses.has(status),
    wasNotSent: refusals.has(code),
    status,
  });
}

function textAt(body: unknown, name: string): string | undefined {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
  return typeof value === 'string' ? value : undefined;
}

type Response = Awaited<ReturnType<HttpClient['send']>>;

/** Returns the body. Throws the problem of the service. A rejected key is a fault of the installation. */
export function bodyOf<T>(response: Response): T {
  const { status } = response;
  if (status < 300) return (response.body.length === 0 ? undefined : response.json()) as T;
  if (status === 401 || status === 403)
    throw problems.engine_unavailable({ cause: new Error('a service rejects INTERNAL_KEY or MEMORY_ADMIN_TOKEN') });
  const body = response.json();
  const message = textAt(body, 'message') ?? 'The service refused the request.';
  throw new Problem(textAt(body, 'error') ?? 'invalid_request', { status, message });
}
