import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { matchOrigins, type OriginMatcher } from '#platform/http/origins.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { Problem, problems } from '#platform/problem.ts';
import { accessToken, logoutQuery, signedOut } from './api.ts';
import { type CallbackDeps, finishSignIn } from './callback.ts';
import { failurePageHeaders, renderFailurePage } from './failurepage.ts';
import { type LoginDeps, type Redirect, redirectToProvider } from './login.ts';
import { type LogoutDeps, signOut } from './logout.ts';
import { authProblems } from './problems.ts';
import { type RefreshDeps, refresh } from './refresh.ts';

export interface RouteDeps extends LoginDeps, CallbackDeps, RefreshDeps, LogoutDeps {
  readonly provider: LoginDeps['provider'] & CallbackDeps['provider'] & LogoutDeps['provider'];
  readonly clientAddressOf: (request: FastifyRequest) => string | undefined;
  /** The value of ALLOWED_REDIRECT_ORIGINS. */
  readonly allowedOrigins: readonly string[];
}

export function addRoutes(app: HttpServer, deps: RouteDeps): void {
  addNavigation(app, deps);
  app.register(async (scope: HttpServer) => addCalls(scope, deps));
}

/** Routes that the browser navigates to. Other pages must not read their responses, and a prefetch must not sign in. */
function addNavigation(app: HttpServer, deps: RouteDeps): void {
  const routes = routesOf(app, 'auth');
  const navigation = { config: { cors: false, anyQuery: true }, exposeHeadRoute: false } as const;
  // Parsed manually, because the response is a redirect for any input.
  const text = (meaning: string) => z.unknown().optional().meta({ type: 'string', description: meaning });

  routes.get(
    '/login',
    { ...navigation, onSend: showFailure(deps.targets.fallback) },
    {
      id: 'loginUrl',
      summary: 'Start a sign-in',
      description:
        'Navigate the browser to this URL. The response redirects to the identity provider, and the provider redirects to `/callback`.',
      problems: ['oauth_init_failed'],
      otherResponses: { 302: ['A redirect to the identity provider.'] },
      client: { query: 'SignInStart', kind: 'address' },
      querystring: z.looseObject({
        next: text('The URL to redirect to after sign-in.'),
        invite: text('The id of the inviting user.'),
      }),
    },
    async (request, reply) =>
      redirect(
        reply,
        await redirectToProvider(deps, request.query, request.headers.cookie, deps.clientAddressOf(request)),
      ),
  );

  routes.get(
    '/callback',
    navigation,
    {
      id: 'callbackUrl',
      summary: 'Complete a sign-in',
      description:
        'The identity provider redirects the browser to this URL. The response sets the session cookie and redirects to the `next` of the sign-in. After a failure, it redirects with `auth_error=1`.',
      otherResponses: { 302: ['A redirect to the application.'] },
      client: { query: 'SignInReturn', kind: 'address' },
      querystring: z.looseObject({
        code: text('The authorization code. Without it, the browser is redirected immediately.'),
        state: text('The state of the sign-in, if the identity provider returns it.'),
        error: text('The reason why the identity provider did not sign the user in.'),
      }),
    },
    async (request, reply) =>
      redirect(
        reply,
        await finishSignIn(deps, {
          ...request.query,
          cookieHeader: request.headers.cookie,
          acceptLanguage: request.headers['accept-language'],
          clientAddress: deps.clientAddressOf(request),
        }),
      ),
  );

  for (const path of ['/login', '/callback'])
    app.options(path, { config: { cors: false }, schema: { hide: true } }, async () => {
      throw problems.not_found();
    });
}

function redirect(reply: FastifyReply, { location, setCookies }: Redirect): FastifyReply {
  for (const cookie of setCookies) reply.header('set-cookie', cookie);
  return reply.code(302).header('cache-control', 'no-store').header('location', location).send();
}

/** A person who navigates to `/login` sees a page in place of the JSON of an error. */
function showFailure(homeUrl: string) {
  return async ({ headers, url }: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> => {
    reply.header('vary', 'Accept');
    if (reply.statusCode < 400 || !acceptsPage(headers.accept)) return payload;
    reply.headers(failurePageHeaders);
    return renderFailurePage(`?${url.split('?')[1] ?? ''}`, homeUrl);
  };
}

/** Programs that accept anything get JSON. */
function acceptsPage(accept = ''): boolean {
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'text/html' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

/** Routes that pages of the allowed origins call. */
function addCalls(app: HttpServer, deps: RouteDeps): void {
  const routes = routesOf(app, 'auth');
  // These routes have no body, so any body is read and discarded, even one of an invalid type.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, body, done) => {
    body.resume();
    done(null);
  });
  const onRequest = refuseOtherOrigins(matchOrigins(deps.allowedOrigins));

  routes.post(
    '/refresh',
    { onRequest },
    {
      id: 'refresh',
      summary: 'Exchange the session cookie for an access token',
      description:
        'Returns a new access token and rotates the session cookie. Call it with credentials from a page of an allowed origin. After 503, the session is still valid.',
      problems: ['no_session', 'refresh_failed', 'forbidden_origin', 'upstream_unavailable'],
      readsSession: true,
      client: { answer: 'AccessToken', repeatable: true, cookies: true },
      response: { 200: accessToken },
    },
    async (request, reply) => {
      const { outcome, setCookies } = await refresh(deps, request.headers.cookie, deps.clientAddressOf(request));
      for (const cookie of setCookies) reply.header('set-cookie', cookie);
      if (outcome instanceof Problem) throw outcome;
      return reply.send(outcome);
    },
  );

  routes.post(
    '/logout',
    { onRequest, config: { anyQuery: true } },
    {
      id: 'logout',
      summary: 'Sign out',
      description:
        'Ends all sessions of the user and deletes the cookie. With `scope=local`, only this session ends. Without a session, the response is the same.',
      problems: ['forbidden_origin'],
      readsSession: true,
      client: { query: 'SignOut', answer: 'SignedOut', repeatable: true, cookies: true },
      querystring: logoutQuery,
      response: { 200: signedOut },
    },
    async (request, reply) => {
      const { cookie: cookieHeader } = request.headers;
      const clientAddress = deps.clientAddressOf(request);
      const setCookies = await signOut(deps, { cookieHeader, scope: request.query.scope, clientAddress });
      for (const cookie of setCookies) reply.header('set-cookie', cookie);
      return reply.send({ ok: true } as const);
    },
  );
}

/**
 * Checks the origin before the cookie. A browser sends its origin with every POST. If the origin is missing, only a browser can send
 * `cross-site`.
 */
function refuseOtherOrigins(isAllowed: OriginMatcher) {
  return async ({ headers }: FastifyRequest, reply: FastifyReply): Promise<void> => {
    delete headers['content-type'];
    reply.header('cache-control', 'no-store');
    const isForeign =
      headers.origin === undefined ? headers['sec-fetch-site'] === 'cross-site' : !isAllowed(headers.origin);
    if (isForeign) throw authProblems.forbidden_origin();
  };
}
