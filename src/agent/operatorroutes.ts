import { plans } from '#accounts/api.ts';
import type { Access } from '#platform/access/access.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { readSpenders, readTotals, readUserUsage } from './billing/accounts.ts';
import type { AgentContext } from './context.ts';
import { configuredMedia } from './generation/catalogue.ts';
import * as api from './operatorapi.ts';

export function addOperatorRoutes(app: HttpServer, access: Access, deps: AgentContext): void {
  const routes = routesOf(app, 'agent');

  routes.get('/models/all', access.internalOnly, {
    id: 'listConfiguredModels',
    summary: 'List all models, plans and prices, for operators',
    description: 'Returns all models with their plans and prices, for operators.',
    response: { 200: api.configuredModels },
    handler: async () => ({
      models: [...deps.models.all()],
      media: configuredMedia(deps.catalogue),
      plans: plans.map((plan) => ({ plan, hasVideo: deps.catalogue.videos[0].plans.includes(plan) })),
      prices: { image: deps.catalogue.images[0].credits, video: deps.catalogue.videos[0].credits },
    }),
  });

  routes.get('/usage/totals', access.internalOnly, {
    id: 'readUsageTotals',
    summary: 'Read the usage of all users by day, model and plan, newest day first',
    description: 'Returns the usage of all users by day, model and plan, newest day first, for operators.',
    querystring: api.usageTotalsRange,
    response: { 200: api.usageTotals },
    handler: async ({ query }) => readTotals(deps, query),
  });

  routes.get('/usage/users', access.internalOnly, {
    id: 'listSpenders',
    summary: 'List the users who spent the most credits in a month',
    description: 'Returns the users who spent the most credits in a month, for operators.',
    querystring: api.spenderListing,
    response: { 200: api.spenders },
    handler: async ({ query }) => readSpenders(deps, query),
  });

  routes.get('/usage/users/:userId', access.internalOnly, {
    id: 'readUserUsage',
    summary: 'Read the usage and the costs of a user by day and model',
    description: 'Returns runs, tokens, media, credits and costs of a user for each day and model, for operators.',
    client: { query: 'UserUsageRange' },
    params: api.userParams,
    querystring: api.usageTotalsRange,
    response: { 200: api.userUsage },
    handler: async ({ params, query }) => readUserUsage(deps, params.userId, query),
  });
}
