/** The last hour and the last errors, as the Overview shows them. */
import type { ServerError } from '#platform/http/servererrors.ts';

/** One value for each minute. `null`: not measured. */
export type Series = readonly (number | null)[];

export interface History {
  /** The start of each minute, oldest first, as ISO 8601. */
  readonly startsAt: readonly string[];
  readonly services: readonly ServiceSeries[];
  readonly runs: {
    readonly endedPerMinute: Series;
    readonly failedPerMinute: Series;
    readonly inputTokensPerMinute: Series;
    readonly outputTokensPerMinute: Series;
    /** From the start of a turn to the first token of its model. */
    readonly firstTokenP50Ms: Series;
    readonly firstTokenP95Ms: Series;
  };
}

interface ServiceSeries {
  readonly service: string;
  /** Requests. */
  readonly perMinute: Series;
  /** Responses with a 5xx status. */
  readonly errorsPerMinute: Series;
  /** The median response time, without streams. */
  readonly p50Ms: Series;
  readonly p95Ms: Series;
}

export interface ErrorList {
  /** The newest first; at most 50. */
  readonly errors: readonly (Omit<ServerError, 'traceId'> & {
    readonly service: string;
    readonly traceUrl: string | null;
  })[];
  /** Services that do not respond. Their errors are unknown. */
  readonly unread: readonly string[];
}

export interface ServiceHistory {
  /** Looks at all services, and adds what they counted since the last look. */
  sample(): Promise<void>;
  read(): History;
}
