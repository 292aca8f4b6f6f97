import { z } from 'zod';
import { accountOf } from '#accounts/sampleaccounts.ts';
import { matchSecret } from '#platform/access/secrets.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { problems } from '#platform/problem.ts';
import { addConsent } from './authorize.ts';
import type { IdpContext } from './context.ts';
import { faultRequest } from './faults.ts';
import { addGotrue } from './gotrue.ts';
import { openSession } from './grants.ts';

export function addRoutes(app: HttpServer, deps: IdpContext): void {
  app.register((scope: HttpServer) => addGotrue(scope, deps), { prefix: '/auth/v1' });
  app.register((scope: HttpServer) => addConsent(scope, deps));
  if (deps.secret !== '') addLocal(app, deps);
}

/** Routes for Atelier's commands and tests, which know the secret. */
function addLocal(app: HttpServer, deps: IdpContext): void {
  const isSecret = matchSecret([deps.secret]);
  const guarded = {
    onRequest: async (
      request: { readonly headers: Readonly<Record<string, unknown>> },
      reply: { header(name: string, value: string): unknown },
    ) => {
      reply.header('cache-control', 'no-store');
      const candidate = request.headers['x-local-secret'];
      if (typeof candidate !== 'string' || !isSecret(candidate)) throw problems.unauthorized();
    },
  };

  app.post(
    '/local/token',
    {
      ...guarded,
      schema: {
        summary: 'Create an access token of a test account',
        description: 'For `npm run token`, which sends LOCAL_IDP_SECRET as `X-Local-Secret`.',
        body: z.object({ email: z.email().max(320) }),
        response: {
          200: z.object({
            access_token: z.string(),
            token_type: z.literal('bearer'),
            expires_in: z.int(),
            expires_at: z.int(),
          }),
        },
      },
    },
    async (request) => {
      const { access_token, token_type, expires_in, expires_at } = await openSession(
        deps,
        accountOf(request.body.email),
      );
      return { access_token, token_type, expires_in, expires_at };
    },
  );

  app.post(
    '/local/faults',
    {
      ...guarded,
      schema: { summary: 'Inject faults into the next calls of an operation, for tests', body: faultRequest },
    },
    async (request, reply) => {
      deps.faults.arm(request.body);
      return reply.code(204).send();
    },
  );
  app.get('/local/faults', { ...guarded, schema: { summary: 'Count the calls of each operation' } }, async () => ({
    calls: deps.faults.calls,
  }));
  app.delete(
    '/local/faults',
    { ...guarded, schema: { summary: 'Remove all faults and reset the counts' } },
    async (_request, reply) => {
      deps.faults.clear();
      return reply.code(204).send();
    },
  );
}
