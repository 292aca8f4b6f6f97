/** The graphs and errors of the Overview. */
import type { HttpServer } from '#platform/http/server.ts';
import type { OperatorGuard } from '../operators/guard.ts';
import type { TraceLink } from '../traces.ts';
import { errorList, history, historyQuery } from './api.ts';
import { readErrors } from './errors.ts';
import { type HistoryDeps, readHistory } from './reading.ts';

export function addHistoryRoutes(app: HttpServer, guard: OperatorGuard, deps: HistoryDeps): void {
  app.get(
    '/api/history',
    {
      ...guard,
      schema: {
        tags: ['console'],
        summary: 'The last hour or day of all services',
        querystring: historyQuery,
        response: { 200: history },
      },
    },
    async ({ query }) => readHistory(deps, query.range),
  );
}

export interface ErrorDeps {
  readonly services: Readonly<Record<string, string>>;
  readonly traceLink: TraceLink;
}

export function addErrorRoutes(app: HttpServer, guard: OperatorGuard, { services, traceLink }: ErrorDeps): void {
  app.get(
    '/api/errors',
    { ...guard, schema: { tags: ['console'], summary: 'The last server errors', response: { 200: errorList } } },
    async () => readErrors(services, traceLink),
  );
}
