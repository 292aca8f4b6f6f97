/** Links to traces, for installations that send them to a collector. */

/** `null`: there is no trace, or no page for traces is set. */
export type TraceLink = (traceId: string | undefined | null) => string | null;

/** `template`: CONSOLE_TRACE_URL, with `{traceId}` where the id belongs. */
export function createTraceLink(template: string | undefined): TraceLink {
  return (traceId) =>
    template === undefined || !/^[0-9a-f]{32}$/.test(traceId ?? '')
      ? null
      : template.replaceAll('{traceId}', traceId ?? '');
}
