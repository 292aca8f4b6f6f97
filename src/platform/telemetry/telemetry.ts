/**
 * Spans around requests and calls. Off, a trace that came in is handed on as it is, and where none came in one is made up
 * for the logs.
 */
import { newTrace, type Trace } from './trace.ts';

export type Attributes = Readonly<Record<string, string | number>>;

export interface SpanEnd {
  /** Told better at the end than at the start, when the route is known. */
  readonly name?: string;
  readonly attributes: Attributes;
  /** 5xx of ours, and calls that did not come to an answer: nothing else marks a span (docs/specification/http.md#errors). */
  readonly failed: boolean;
}

export interface Span {
  /** What is done under this span is a child of it. */
  readonly trace: Trace;
  /** Absent where nobody records: then no outcome needs to be put together. */
  readonly end?: (outcome: SpanEnd) => void;
}

export interface Telemetry {
  /** `server`: around a request to us; `client`: around a call of ours. */
  startSpan(kind: 'server' | 'client', name: string, parent: Trace | undefined, attributes: Attributes): Span;
  /** Sends what is left, and gives up after a while: telemetry never keeps a process from ending. */
  stop(): Promise<void>;
}

export const noTelemetry: Telemetry = {
  startSpan: (_kind, _name, parent) => (parent === undefined ? new MadeUp() : { trace: parent }),
  stop: async () => undefined,
};

/** Most requests neither log below their end nor call anybody: their trace is made up when it is looked at. */
class MadeUp implements Span {
  #trace: Trace | undefined;

  get trace(): Trace {
    this.#trace ??= newTrace();
    return this.#trace;
  }
}
