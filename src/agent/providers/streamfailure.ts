/** How a stream fails that began with the status 200. Gateways report so that the server behind them failed (docs/providers.md). */
import { APICallError } from '@ai-sdk/provider';

/** Words in place of a status. */
const statuses: ReadonlyMap<string, number> = new Map([
  ['context_length_exceeded', 400],
  ['exceed_context_size_error', 400],
  ['internal_server_error', 500],
  ['overloaded_error', 503],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['server_error', 500],
  ['service_unavailable', 503],
]);

/** The same failure as a response with the error's status, so that it is retried alike. Anything else stays as it is. */
export function streamFailure(error: unknown): unknown {
  const { code, status, type, message } = Object(error) as Record<string, unknown>;
  const statusCode = [code, status, type].map(readStatus).find((found) => found !== undefined);
  if (error instanceof Error || statusCode === undefined) return error;
  return new APICallError({
    message: typeof message === 'string' ? message : 'the stream failed',
    url: '',
    requestBodyValues: {},
    statusCode,
    responseBody: JSON.stringify(error),
  });
}

/** The stream broke off: packages report an end without a reason. */
export function isBreak({ unified, raw }: { readonly unified: string; readonly raw: string | undefined }): boolean {
  return unified === 'interrupted' || (unified === 'other' && raw === undefined);
}

function readStatus(value: unknown): number | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string') return undefined;
  return /^[45][0-9][0-9]$/.test(text) ? Number(text) : statuses.get(text);
}
