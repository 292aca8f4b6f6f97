/**
 * Calls to other services, ours and foreign: a bounded pool, a deadline over all attempts, repeats where they do no harm,
 * a breaker, the trace. Whoever does not answer becomes `engine_unavailable` (503).
 */

import { Pool } from 'undici';
import { onBehalfHeader } from '../access/caller.ts';
import { type Clock, monotonicClock } from '../clock.ts';
import { assertOutsideTransaction } from '../db/db.ts';
import { problems } from '../problem.ts';
import { BreakerOpen, createBreaker } from '../resilience/breaker.ts';
import { DeadlineExceeded, withDeadline } from '../resilience/deadline.ts';
import { retry } from '../resilience/retry.ts';
import { type Attributes, noTelemetry, type Telemetry } from '../telemetry/telemetry.ts';
import { currentScope, type Trace, writeTrace } from '../telemetry/trace.ts';
import { readAtMost } from './boundedbody.ts';
import { asFailure, assertAnswered, CallFailed } from './callfailure.ts';
import { userAgent } from './outgoing.ts';

export interface ClientOptions {
  /** For logs and spans: `image`, `embeddings`. */
  readonly name: string;
  readonly baseUrl: string;
  /** One of our services: it is told the request's id and baggage, and its problems are told from its silence. */
  readonly ours: boolean;
  /** Sent as `X-Internal-Key`. */
  readonly internalKey?: string;
  /** For one call, repeats included; a call may have its own. */
  readonly timeoutMs: number;
  readonly maxConnections?: number;
  readonly maxResponseBytes?: number;
  /** `false`: each call is tried, whatever became of the last ones; where every failure is told apart by the caller. */
  readonly failFast?: boolean;
  readonly telemetry?: Telemetry;
  readonly clock?: Clock;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below the base address, encoded, with its query. By default the route. */
  readonly path?: string;
  /** The path as a pattern, for the span: a path can name a user. */
  readonly route: string;
  readonly json?: unknown;
  /** With `authorization` the call is that user's, and the internal key stays at home. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The user whose rights the call has; without one it has those of a server. Sent as `X-On-Behalf-Of`. */
  readonly onBehalfOf?: string | null;
  /** Doing it twice does no harm. Of GET, PUT and DELETE that is taken for granted. */
  readonly idempotent?: boolean;
  readonly timeoutMs?: number;
  /** Whoever waits has gone away: rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

interface Answer {
  /** Any but those that say that nobody is there to answer. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Throws `engine_unavailable` when the body is not JSON. */
  json(): unknown;
}

export interface HttpClient {
  send(call: Call): Promise<Answer>;
  close(): Promise<void>;
}

/** The same, for code that acts for users: each call names its user, or `null` for the rights of a server. */
export interface ActingClient {
  send(call: Call & { readonly onBehalfOf: string | null }): Promise<Answer>;
}

const attempts = 3;
/** Well below the 15 s within which all has to be well again (docs/specification/http.md#failing-engines). */
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

  async function attempt(call: Call, trace: Trace | undefined, signal: AbortSignal): Promise<Answer> {
    const { method, route, path = route, json, onBehalfOf } = call;
    const headers = {
      accept: 'application/json',
      'user-agent': userAgent,
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      // Beside a credential of the call's own it would decide alone (docs/specification/http.md#credentials).
      ...(options.internalKey === undefined || call.headers?.authorization !== undefined
        ? {}
        : {
            'x-internal-key': options.internalKey,
            ...(typeof onBehalfOf === 'string' && { [onBehalfHeader]: onBehalfOf }),
          }),
      ...headersOfScope(trace, options.ours),
      ...call.headers,
    };
    const body = json === undefined ? null : JSON.stringify(json);
    const answer = await pool
      .request({ method, path: prefix + path, headers, body, signal })
      .then(async (response) => {
        const { statusCode: status, headers } = response;
        const bytes = await readAtMost(response.body, maxResponseBytes, tooLong);
        return { status, headers, body: bytes, json: () => parseJson(bytes, name) };
      })
      .catch((error: unknown) => {
        throw signal.aborted ? signal.reason : asFailure(error);
      });
    assertAnswered(answer, options.ours);
    return answer;
  }

  async function send(call: Call): Promise<Answer> {
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
      const answer = await withDeadline(
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
      status = answer.status;
      return answer;
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

function parseJson(body: Buffer, name: string): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw problems.engine_unavailable({ cause: new Error(`${name} did not answer in JSON`, { cause: error }) });
  }
}

/** Baggage and ids are ours; strangers are only told which trace this belongs to. */
function headersOfScope(trace: Trace | undefined, ours: boolean): Record<string, string> {
  const scope = currentScope();
  return {
    ...(trace === undefined ? {} : writeTrace(trace)),
    ...(ours && scope !== undefined ? { 'x-request-id': scope.requestId } : {}),
    ...(ours && scope?.baggage !== undefined ? { baggage: scope.baggage } : {}),
  };
}
