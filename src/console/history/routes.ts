/** The graphs and errors of the Overview. */
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { ConsoleContext, StoredContext } from '../context.ts';
import type { OperatorGuard } from '../operators/guard.ts';
import { errorList, history, historyQuery } from './api.ts';
import { readErrors } from './errors.ts';
import { readHistory } from './reading.ts';

export function addHistoryRoutes(app: HttpServer, guard: OperatorGuard, deps: StoredContext): void {
  const routes = routesOf(app, 'console');
  routes.get(
    '/api/history',
    guard,
    { summary: 'The last hour or day of all services', querystring: historyQuery, response: { 200: history } },
    async ({ query }) => readHistory(deps, query.range),
  );
}

export function addErrorRoutes(app: HttpServer, guard: OperatorGuard, { services, traceLink }: ConsoleContext): void {
  const routes = routesOf(app, 'console');
  routes.get('/api/errors', guard, { summary: 'The last server errors', response: { 200: errorList } }, async () =>
    readErrors(services, traceLink),
  );
}
