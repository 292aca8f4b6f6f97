/** The graphs and errors of the Overview. */
import type { Routes } from '#platform/http/routes.ts';
import { serverErrors } from '#platform/http/servererrors.ts';
import type { ErrorList } from '../api.ts';
import type { ConsoleContext } from '../context.ts';
import type { OperatorGuard } from '../operators/guard.ts';
import { readJson } from '../overview.ts';
import type { TraceLink } from '../services.ts';

export function addHistoryRoutes(routes: Routes, guard: OperatorGuard, deps: ConsoleContext): void {
  routes.get('/api/history', guard, {
    summary: 'The last hour of all services',
    handler: async () => deps.history.read(),
  });
  routes.get('/api/errors', guard, {
    summary: 'The last server errors',
    handler: async () => readErrors(deps.services, deps.traceLink),
  });
}

// The last server errors of all services, from their processes.

const longestList = 50;

async function readErrors(services: Readonly<Record<string, string>>, traceLink: TraceLink): Promise<ErrorList> {
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
