/**
 * The endpoints of `npm run credits` and `npm run seed` for an embedded database, which only one process can open
 * (docs/accounts.md). The authentication service serves them.
 */

import type { FastifyRequest } from 'fastify';
import type { Access } from '#platform/access/access.ts';
import { auditOf, findActions, hashedTarget } from '#platform/audit/audit.ts';
import { actorOf, auditOperators } from '#platform/audit/http.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { Log } from '#platform/log.ts';
import { actionListing, creditsGrant, grantedProfile, operatorActions, seededAccounts } from './api.ts';
import { type GrantingDeps, grant } from './granting.ts';
import { seed } from './seeding.ts';

export function addAccountRoutes(app: HttpServer, access: Access, deps: GrantingDeps & { readonly log: Log }): void {
  /** The ids of users who were named by their addresses. */
  const granted = new WeakMap<FastifyRequest, string>();
  auditOperators(app, {
    ...deps,
    isOperators: (url, method) => url.startsWith('/v1/accounts/') && method !== 'GET',
    targetOf: (request) => {
      const user = granted.get(request) ?? creditsGrant.safeParse(request.body).data?.user;
      return user === undefined ? 'accounts' : hashedTarget(user);
    },
  });
  const routes = routesOf(app, 'accounts');

  routes.put('/v1/accounts/credits', access.internalWithoutCors, {
    id: 'setCredits',
    summary: 'Set the plan and the credits of a user',
    description: 'Sets the plan and the credits of a user, who is named by id or email address.',
    problems: ['user_not_found', 'user_ambiguous'],
    example: { user: 'ada@example.com', plan: 'pro', credits: 500 },
    body: creditsGrant,
    response: { 200: grantedProfile },
    handler: async (request) => {
      const profile = await grant(deps, actorOf(request.headers), request.body);
      granted.set(request, profile.id);
      return profile;
    },
  });

  routes.post('/v1/accounts/seed', access.internalWithoutCors, {
    id: 'seedAccounts',
    summary: 'Create sample users and feeds',
    description: 'Creates sample users and feeds. If you repeat the request, nothing is added.',
    client: { repeatable: true },
    response: { 200: seededAccounts },
    handler: async () => seed(deps.db, deps.welcome),
  });

  routes.get('/v1/accounts/actions', access.internalWithoutCors, {
    id: 'listOperatorActions',
    summary: 'List the actions of operators, newest first',
    description: 'Returns the audit log of operators.',
    querystring: actionListing,
    response: { 200: operatorActions },
    handler: async ({ query }) => ({ actions: [...(await findActions(auditOf(deps.db), query)).actions] }),
  });
}
