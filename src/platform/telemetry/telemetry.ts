/**
 * Spans for requests and calls. If tracing is off, an incoming trace is passed on unchanged, and a request without one gets a
 * generated trace for the logs.
 */
import { newTrace, type Trace } from './trace.ts';

export type Attributes = Readonly<Record<string, string | number | readonly string[]>>;

export interface SpanEnd {
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
