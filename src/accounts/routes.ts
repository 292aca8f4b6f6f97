/**
 * What `npm run credits` and `npm run seed` call where the database is embedded, and so in the hands of one process
 * (docs/accounts.md). Served by the authentication service.
 */
import type { Access } from '#platform/access/access.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { grantedProfile, grantRequest, seeded } from './api.ts';
import { type GrantingDeps, grant } from './granting.ts';
import { seed } from './seeding.ts';

export function addAccountRoutes(app: HttpServer, access: Access, deps: GrantingDeps): void {
  const tags = ['accounts'];
  // Not for pages: their origins are let in for sessions alone.
  const config = { ...access.internalOnly.config, cors: false } as const;

  app.put(
    '/v1/accounts/credits',
    {
      ...access.internalOnly,
      config,
      schema: {
        tags,
        summary: 'Set the plan and the credits of a user',
        body: grantRequest,
        response: { 200: grantedProfile },
      },
    },
    async (request) => grant(deps, request.body),
  );

  app.post(
    '/v1/accounts/seed',
    {
      ...access.internalOnly,
      config,
      schema: { tags, summary: 'Fill in made-up users and feeds', response: { 200: seeded } },
    },
    async () => seed(deps.db),
  );
}
