/** The Audit page: what operators did. */

import { z } from 'zod';
import { bodyOf } from '#platform/http/bodyof.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { pageSize } from '#platform/wholenumber.ts';
import type { OperatorGuard } from '../operators/guard.ts';
import type { ServiceClients } from '../services.ts';

const actionQuery = z.object({
  limit: pageSize(500, 100),
  cursor: z
    .string()
    .regex(/^\d{1,16}$/)
    .optional(),
  userId: z.guid().toLowerCase().optional().describe('Only actions on this user.'),
  actor: z.string().min(1).max(64).optional().describe('Only actions of this operator.'),
  action: z.string().min(1).max(100).optional().describe('Only actions that contain this text.'),
});

export function addActionRoutes(app: HttpServer, guard: OperatorGuard, { auth }: Pick<ServiceClients, 'auth'>): void {
  const routes = routesOf(app, 'console');
  routes.get(
    '/api/actions',
    guard,
    { summary: 'Search the actions of operators, newest first', querystring: actionQuery },
    async ({ query }) => bodyOf<object>(await auth.send({ method: 'GET', route: '/v1/actions', query })),
  );
}
