import { z } from 'zod';
import { matchSecret } from '#platform/access/secrets.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { problems } from '#platform/problem.ts';
import { accountOf } from './accounts.ts';
import { issueAccessToken, type TokenDeps } from './tokens.ts';

export interface RouteDeps extends TokenDeps {
  /** LOCAL_IDP_SECRET; empty: nobody gets a token this way. */
  readonly secret: string;
}

export function addRoutes(app: HttpServer, deps: RouteDeps): void {
  app.get(
    '/auth/v1/.well-known/jwks.json',
    { schema: { summary: 'The keys that access tokens are verified by' } },
    async (_request, reply) => {
      reply.header('cache-control', 'public, max-age=600');
      return { keys: deps.keys.published };
    },
  );

  if (deps.secret === '') return;
  const isSecret = matchSecret([deps.secret]);
  app.post(
    '/local/token',
    {
      onRequest: async (request, reply) => {
        reply.header('cache-control', 'no-store');
        const given = request.headers['x-local-secret'];
        if (typeof given !== 'string' || !isSecret(given)) throw problems.unauthorized();
      },
      schema: {
        summary: 'An access token of a made-up account',
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
    async (request) => issueAccessToken(deps, accountOf(request.body.email)),
  );
}
