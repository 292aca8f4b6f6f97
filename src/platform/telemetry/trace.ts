/**
 * W3C trace context (docs/specification/http.md#tracing): the trace of a request is passed to the calls made for it and to its log
 * lines, whether or not traces are recorded here.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomHex } from '../ids.ts';

export interface Trace {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 lower-case hex digits: the parent span of calls made now. */
  readonly spanId: string;
  /** The trace is recorded. */
  readonly sampled: boolean;
  /** `tracestate`, passed on unchanged. */
  readonly state?: string;
}

/** The context of the current request. Every log line and outgoing call reads it. */
export interface Scope {
  readonly requestId: string;
  readonly trace: Trace;
  /** Baggage for all internal services that take part. It is never sent to external services. */
  readonly baggage?: string;
}

const scopes = new AsyncLocalStorage<Scope>();

export const currentScope = (): Scope | undefined => scopes.getStore();

export function inScope<T>(scope: Scope, work: () => T): T {
  return scopes.run(scope, work);
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const maxStateLength = 512;
const maxBaggageLength = 8192;
const printable = /^[\t\x20-\x7e]+$/;

/** Returns `undefined` if there is no valid trace. `tracestate` is ignored then. */
export function readTrace(headers: Headers): Trace | undefined {
  const parent = parseTraceparent(headers.traceparent);
  if (parent === undefined) return undefined;
  const state = carried(headers.tracestate, maxStateLength);
  return state === undefined ? parent : { ...parent, state };
}

export function readBaggage(headers: Headers): string | undefined {
  return carried(headers.baggage, maxBaggageLength);
}

export const newTrace = (): Trace => ({ traceId: randomHex(16), spanId: randomHex(8), sampled: false });

export function writeTrace(trace: Trace): { readonly traceparent: string; readonly tracestate?: string } {
  return {
    traceparent: `00-${trace.traceId}-${trace.spanId}-${trace.sampled ? '01' : '00'}`,
    ...(trace.state === undefined ? {} : { tracestate: trace.state }),
  };
}

/** Headers for calls that bypass the client, such as to signed URLs. External services receive the trace context too. */
export function currentTraceHeaders(): Record<string, string> {
  const scope = currentScope();
  return scope === undefined ? {} : { ...writeTrace(scope.trace) };
}

/** https://www.w3.org/TR/trace-context/#traceparent-header: later versions may add fields at the end. */
function parseTraceparent(header: Headers[string]): Trace | undefined {
  if (typeof header !== 'string') return undefined;
  const match = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(header);
  if (match === null) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', rest] = match;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

function carried(header: Headers[string], maxLength: number): string | undefined {
  return typeof header === 'string' && header.length <= maxLength && printable.test(header) ? header : undefined;
}

// Spans for requests and calls. If tracing is off, an incoming trace is passed on unchanged, and a request without one gets a
// generated trace for the logs.

export type Attributes = Readonly<Record<string, string | number | readonly string[]>>;

interface SpanEnd {
  /** Set at the end rather than at the start if the route is known only then. */
  readonly name?: string;
  readonly attributes: Attributes;
  /**
   * 5xx of this service, calls that got no response, and model calls and tools that failed. Nothing else marks a span as
   * failed (docs/specification/http.md#errors).
   */
  readonly failed: boolean;
}

export interface Span {
  /** The parent of all work in this span. */
  readonly trace: Trace;
  /** Absent if the span is not recorded, so that no outcome must be computed. */
  readonly end?: (outcome: SpanEnd) => void;
}

export type SpanKind = 'server' | 'client' | 'internal';

export interface Telemetry {
  /** `server`: an incoming request. `client`: an outgoing call. `internal`: work in this process. */
  startSpan(kind: SpanKind, name: string, parent: Trace | undefined, attributes: Attributes): Span;
  /** Sends the remaining spans within a time limit, so that telemetry never blocks the end of a process. */
  stop(): Promise<void>;
}

export const noTelemetry: Telemetry = {
  startSpan: (_kind, _name, parent) => (parent === undefined ? new GeneratedSpan() : { trace: parent }),
  stop: async () => undefined,
};

/** Most requests neither log before their end nor call other services, so their trace is generated on first access. */
class GeneratedSpan implements Span {
  #trace: Trace | undefined;

  get trace(): Trace {
    this.#trace ??= newTrace();
    return this.#trace;
  }
}
