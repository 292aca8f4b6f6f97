import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { accountOf } from '#accounts/sampleaccounts.ts';
import { matchSecret } from '#platform/access/access.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { Problem, problems } from '#platform/problem.ts';
import { isStorableText } from '#platform/storable.ts';
import { addConsent, authorize, authorizeQuery } from './authorize.ts';
import type { IdpContext } from './context.ts';
import { faultRequest } from './faults.ts';
import { describeUser, exchangeCode, openSession, readAccessToken, refreshSession } from './grants.ts';
import { idpProblems } from './problems.ts';
import { endSessions, findSession, forgetUser } from './store.ts';

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

// GoTrue's paths and formats, below `/auth/v1`.

const pkceGrant = z.object({ auth_code: z.string().min(1), code_verifier: z.string().min(1) });
/** A longer text, or one that the database cannot store, is no token. */
const refreshGrant = z.object({ refresh_token: z.string().min(1).max(1024).refine(isStorableText) });

async function addGotrue(app: HttpServer, deps: IdpContext): Promise<void> {
  app.setErrorHandler(renderError);
  const matchesServiceKey = matchSecret(deps.serviceKey === undefined ? [] : [deps.serviceKey]);
  const isServiceKey = (key: unknown) => typeof key === 'string' && matchesServiceKey(key);
  app.addHook('onRequest', async (request) => {
    const key = request.headers.apikey;
    if (key !== undefined && key !== deps.anonKey && !isServiceKey(key)) throw idpProblems.invalid_api_key();
  });

  app.get(
    '/.well-known/jwks.json',
    { schema: { summary: 'Read the keys that verify access tokens' } },
    async (request, reply) => {
      if (await deps.faults.meet('jwks', request, reply)) return reply;
      reply.header('cache-control', 'public, max-age=600');
      return { keys: deps.keys.published };
    },
  );

  app.get('/settings', { schema: { summary: 'List the sign-in providers; requires the API key' } }, async (request) => {
    if (request.headers.apikey === undefined) throw idpProblems.invalid_api_key();
    return { external: { email: true, google: true }, disable_signup: false, mailer_autoconfirm: true };
  });

  app.get(
    '/authorize',
    { schema: { summary: 'Start a sign-in: redirects to the consent page', querystring: authorizeQuery } },
    async (request, reply) => {
      if (await deps.faults.meet('authorize', request, reply)) return reply;
      return authorize(deps, request.query, reply);
    },
  );

  app.post(
    '/token',
    {
      schema: {
        summary: 'Exchange a code (pkce) or a refresh token (refresh_token) for a session',
        querystring: z.object({ grant_type: z.enum(['pkce', 'refresh_token']) }),
      },
    },
    async (request, reply) => {
      const isCode = request.query.grant_type === 'pkce';
      if (await deps.faults.meet(isCode ? 'pkce' : 'refresh', request, reply)) return reply;
      reply.header('cache-control', 'no-store');
      if (isCode) {
        const { auth_code, code_verifier } = parse(pkceGrant, request.body);
        return exchangeCode(deps, z.uuid().safeParse(auth_code).data ?? unknownCode, code_verifier);
      }
      return refreshSession(deps, parse(refreshGrant, request.body).refresh_token);
    },
  );

  app.get('/user', { schema: { summary: 'Read the user of the token' } }, async (request, reply) => {
    if (await deps.faults.meet('user', request, reply)) return reply;
    const session = await findSession(deps.db, (await authenticate(deps, request)).sessionId);
    if (session === undefined) throw idpProblems.session_not_found();
    return describeUser(accountOf(session.email), session.created_at);
  });

  app.delete(
    '/admin/users/:id',
    { schema: { summary: 'Delete an account; requires the service key', params: z.object({ id: z.guid() }) } },
    async (request) => {
      if (!isServiceKey(request.headers.authorization?.replace(/^Bearer /, ''))) throw idpProblems.not_admin();
      await forgetUser(deps.db, request.params.id);
      return {};
    },
  );

  app.post(
    '/logout',
    {
      schema: {
        summary: 'End all sessions of the user, this session, or all other sessions',
        querystring: z.object({ scope: z.enum(['global', 'local', 'others']).default('global') }),
      },
    },
    async (request, reply) => {
      if (await deps.faults.meet('logout', request, reply)) return reply;
      const caller = await authenticate(deps, request);
      if ((await findSession(deps.db, caller.sessionId)) === undefined) throw idpProblems.session_not_found();
      await endSessions(deps.db, { scope: request.query.scope, ...caller });
      return reply.code(204).send();
    },
  );
}

/** A code that is not a UUID is treated as an unknown one. */
const unknownCode = '00000000-0000-0000-0000-000000000000';

const authenticate = (deps: IdpContext, request: FastifyRequest) =>
  readAccessToken(deps, request.headers.authorization);

function parse<T>(schema: z.ZodType<T>, body: unknown): T {
  const { data, error } = schema.safeParse(body ?? {});
  if (data === undefined)
    throw idpProblems.validation_failed({ message: `missing or wrong: ${error?.issues[0]?.path.join('.')}` });
  return data;
}

function renderError(error: FastifyError | Problem, request: FastifyRequest, reply: FastifyReply) {
  const problem = toProblem(error);
  if (problem.status >= 500) request.log.error({ err: error }, problem.message);
  return reply.code(problem.status).send({ code: problem.status, error_code: problem.code, msg: problem.message });
}

function toProblem(error: FastifyError | Problem): Problem {
  if (error instanceof Problem) {
    return error.code === 'invalid_request' ? idpProblems.bad_json({ cause: error }) : error;
  }
  if (hasZodFastifySchemaValidationErrors(error)) return idpProblems.validation_failed({ message: error.message });
  if ((error.statusCode ?? 500) < 500) return idpProblems.bad_json({ cause: error });
  return idpProblems.unexpected_failure({ cause: error });
}
