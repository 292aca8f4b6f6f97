/** The Models page: models, prices and usage, all from the agent service. */

import { z } from 'zod';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { passOn } from '../forwarding.ts';
import type { OperatorGuard } from '../operators/guard.ts';
import type { ServiceClients } from '../services.ts';

const totalsQuery = z.object({ from: z.iso.date(), to: z.iso.date() });
const month = z.string().regex(/^\d{4}-(?:0[1-9]|1[0-2])$/, 'must be a month such as 2026-01');

export function addUsageRoutes(app: HttpServer, guard: OperatorGuard, { agent }: ServiceClients): void {
  const routes = routesOf(app, 'console');

  routes.get('/api/models', guard, { summary: 'Models, plans and prices' }, async (_request, reply) =>
    passOn(reply, await agent.send({ method: 'GET', route: '/models/all' }), 'agent'),
  );

  routes.get(
    '/api/usage/totals',
    guard,
    { summary: 'Usage by day, model and plan', querystring: totalsQuery },
    async ({ query }, reply) =>
      passOn(reply, await agent.send({ method: 'GET', route: '/usage/totals', query }), 'agent'),
  );

  routes.get(
    '/api/usage/users',
    guard,
    { summary: 'Users by credits spent in a month', querystring: z.object({ month }) },
    async ({ query }, reply) =>
      passOn(reply, await agent.send({ method: 'GET', route: '/usage/users', query }), 'agent'),
  );
}
