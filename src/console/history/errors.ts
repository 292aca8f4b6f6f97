/** The last server errors of all services, from their processes. */
import { serverErrors } from '#platform/http/servererrors.ts';
import { readJson } from '../overview.ts';
import type { TraceLink } from '../traces.ts';
import type { ErrorList } from './api.ts';

const longestList = 50;

export async function readErrors(services: Readonly<Record<string, string>>, traceLink: TraceLink): Promise<ErrorList> {
  const lists = await Promise.all(
    Object.entries(services).map(async ([service, address]) => ({
      service,
      read: await readJson(`${address}/metrics/errors`, serverErrors),
    })),
  );
  const errors = lists.flatMap(({ service, read }) =>
    (read?.body.errors ?? []).map(({ traceId, ...error }) => ({ service, ...error, traceUrl: traceLink(traceId) })),
  );
  return {
    errors: errors.sort((one, other) => (one.at < other.at ? 1 : -1)).slice(0, longestList),
    unread: lists.flatMap(({ service, read }) => (read === undefined ? [service] : [])),
  };
}
