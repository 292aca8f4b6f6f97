import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { accountProblems } from '#accounts/problems.ts';
import { html } from '#platform/escaping.ts';
import { matchOrigins } from '#platform/http/cors.ts';
import type { OriginMatcher } from '#platform/http/httpserver.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { Problem, problems } from '#platform/problem.ts';
import { withDeadline } from '#platform/resilience.ts';
import { type AccessToken, accessToken, logoutQuery, signedOut } from './api.ts';
import { forgetSessions, recordUse } from './browsersessions.ts';
import { finishSignIn } from './callback.ts';
import type { AuthContext } from './context.ts';
import type { CookieRules } from './cookies.ts';
import { authProblems } from './problems.ts';
import type { RevocationScope } from './provider.ts';
import { revokeLater } from './revocations.ts';
import { hashToken, type Refreshed, subjectHashOf } from './rotation.ts';
import { areOfOneSubject, readSessions, type Session } from './sessions.ts';
import { type Redirect, redirectToProvider } from './signins.ts';

export function addRoutes(app: HttpServer, deps: AuthContext): void {
  addNavigation(app, deps);
  app.register(async (scope: HttpServer) => addCalls(scope, deps));
}

/** Routes that the browser navigates to. Other pages must not read their responses, and a prefetch must not sign in. */
function addNavigation(app: HttpServer, deps: AuthContext): void {
  const routes = routesOf(app, 'auth');
  const navigation = { config: { cors: false, anyQuery: true }, exposeHeadRoute: false } as const;
  const login = { ...navigation, onSend: showFailure(deps.targets.fallback) };
  // Parsed manually, because the response is a redirect for any input.
  const text = (meaning: string) => z.unknown().optional().meta({ type: 'string', description: meaning });

  routes.get('/login', login, {
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
    handler: async (request, reply) =>
      redirect(
        reply,
        await redirectToProvider(deps, request.query, request.headers.cookie, deps.clientAddressOf(request)),
      ),
  });

  routes.get('/callback', navigation, {
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
    handler: async (request, reply) =>
      redirect(
        reply,
        await finishSignIn(deps, {
          ...request.query,
          cookieHeader: request.headers.cookie,
          acceptLanguage: request.headers['accept-language'],
          userAgent: request.headers['user-agent'],
          clientAddress: deps.clientAddressOf(request),
        }),
      ),
  });

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
function addCalls(app: HttpServer, deps: AuthContext): void {
  const routes = routesOf(app, 'auth');
  // These routes have no body, so any body is read and discarded, even one of an invalid type.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, body, done) => {
    body.resume();
    done(null);
  });
  const fromPages = { onRequest: refuseOtherOrigins(matchOrigins(deps.allowedOrigins)) };
  const logout = { ...fromPages, config: { anyQuery: true } };

  routes.post('/refresh', fromPages, {
    id: 'refresh',
    summary: 'Exchange the session cookie for an access token',
    description:
      'Returns a new access token and rotates the session cookie. Call it with credentials from a page of an allowed origin. After 503, the session is still valid.',
    problems: ['no_session', 'refresh_failed', 'account_blocked', 'forbidden_origin', 'upstream_unavailable'],
    readsSession: true,
    client: { repeatable: true, cookies: true },
    response: { 200: accessToken },
    handler: async (request, reply) => {
      const { outcome, setCookies } = await refresh(deps, request.headers, deps.clientAddressOf(request));
      for (const cookie of setCookies) reply.header('set-cookie', cookie);
      if (outcome instanceof Problem) throw outcome;
      return reply.send(outcome);
    },
  });

  routes.post('/logout', logout, {
    id: 'logout',
    summary: 'Sign out',
    description:
      'Ends all sessions of the user and deletes the cookie. With `scope=local`, only this session ends. Without a session, the response is the same.',
    problems: ['forbidden_origin'],
    readsSession: true,
    client: { query: 'SignOut', repeatable: true, cookies: true },
    querystring: logoutQuery,
    response: { 200: signedOut },
    handler: async (request, reply) => {
      const { cookie: cookieHeader } = request.headers;
      const clientAddress = deps.clientAddressOf(request);
      const setCookies = await signOut(deps, { cookieHeader, scope: request.query.scope, clientAddress });
      for (const cookie of setCookies) reply.header('set-cookie', cookie);
      return reply.send({ ok: true } as const);
    },
  });
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

// The page of a sign-in that cannot start: plain HTML without scripts.

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 4rem auto; padding: 0 1rem; color: #1d1d28; background: #fff; }
h1 { font-size: 1.4rem; } a { color: #3b3bb3; }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #16161c; } a { color: #a9a9ff; } }
`;

const failurePageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'`,
};

/** `query`: of the request, with its `?`. `homeUrl`: DEFAULT_REDIRECT_ORIGIN. */
function renderFailurePage(query: string, homeUrl: string): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sign-in is not available</title>
<style>${{ text: style }}</style>
</head>
<body>
<h1>Sign-in is not available</h1>
<p>The sign-in could not start. Try again in a moment.</p>
<p><a href="${query}">Try again</a> · <a href="${homeUrl}">Back</a></p>
</body>
</html>
`.text;
}

// `POST /logout`: ends all sessions of the user or only this one, and clears the cookie in any case (docs/specification/auth.md#logout).

/** The cookie is cleared in any case, so a logout does not wait longer for the database. */
const databaseTimeoutMs = 2000;

interface Logout {
  readonly cookieHeader: string | undefined;
  readonly scope: RevocationScope;
  readonly clientAddress: string | undefined;
}

/**
 * Ends the sessions of all valid cookies, even those of several users, and returns the `Set-Cookie` lines. Never throws: a revocation
 * that fails is stored and retried, and one that cannot be stored is logged.
 */
async function signOut(deps: AuthContext, logout: Logout): Promise<readonly string[]> {
  const sessions = readSessions(deps.sessionSealer, logout.cookieHeader);
  await Promise.all(
    sessions.map(({ token }) =>
      endSession(deps, token, logout).catch((error: unknown) =>
        deps.log.error({ err: error }, 'cannot end a session or store it for a retry'),
      ),
    ),
  );
  return clearing(deps.cookies, sessions);
}

/** One deadline covers both calls to the provider. */
async function endSession(deps: AuthContext, token: string, { scope, clientAddress }: Logout): Promise<void> {
  let refreshed: Refreshed = { kind: 'unavailable' };
  const isEnded = await withDeadline(deps.timeoutMs, async (signal) => {
    refreshed = await deps.rotation.refresh(token, clientAddress);
    if (refreshed.kind !== 'ok') return refreshed.kind === 'expired';
    const { access_token: accessToken } = refreshed.session;
    return (await deps.provider.revoke(accessToken, scope, { signal, clientAddress })).kind !== 'unavailable';
  }).catch(() => false);
  const session = sessionOf(refreshed);
  await withDeadline(databaseTimeoutMs, async () => {
    // Mark the token as revoked before deleting results, so that a second tab cannot read a result in between.
    if (!isEnded) {
      const newest = session?.refreshToken ?? token;
      await revokeLater(deps, { refreshToken: newest, scope }, [...new Set([token, newest])]);
    }
    await deps.refreshResults.drop(hashToken(token), session === undefined ? undefined : subjectHashOf(session));
    if (session !== undefined) await forgetSessions(deps, session, scope);
  });
}

const sessionOf = (refreshed: Refreshed) => (refreshed.kind === 'ok' ? refreshed.session : undefined);

// `POST /refresh`: exchanges the cookie's refresh credential for an access token. The front end never sees the credential
// (docs/specification/auth.md#refresh).

interface Refresh {
  readonly outcome: AccessToken | Problem;
  readonly setCookies: readonly string[];
}

/** Maximum number of cookies to try. Each one costs a call to the provider if the earlier ones are dead. */
const maxTried = 5;

/** The problem is `no_session` (401), `refresh_failed` (401), `account_blocked` (403) or `upstream_unavailable` (503). */
async function refresh(
  deps: AuthContext,
  headers: FastifyRequest['headers'],
  clientAddress: string | undefined,
): Promise<Refresh> {
  const { cookies, rotation, sessionSealer } = deps;
  const sessions = readSessions(sessionSealer, headers.cookie);
  if (sessions.length === 0) return { outcome: authProblems.no_session(), setCookies: [] };
  if (!areOfOneSubject(sessions))
    return { outcome: authProblems.no_session(), setCookies: cookies.clearEverySession() };
  for (const session of sessions.slice(0, maxTried)) {
    const { isEnded, isBlocked, checkedAtMs } = await deps.sessionEnds.check(session);
    if (isEnded || isBlocked) {
      await revokeOnce(deps, session);
      // All cookies are of one user.
      if (isBlocked) return { outcome: accountProblems.account_blocked(), setCookies: clearing(cookies, sessions) };
      continue;
    }
    const refreshed = await rotation.refresh(session.token, clientAddress);
    if (refreshed.kind === 'ok') {
      // Without a check, the database does not respond.
      const isOver =
        checkedAtMs !== undefined && (await recordUse(deps, refreshed.session, headers['user-agent'], checkedAtMs));
      if (!isOver) return renew(deps, session, refreshed, checkedAtMs ?? session.sealedAtMs);
      await revokeOnce(deps, { token: refreshed.session.refreshToken }, session.token);
      continue;
    }
    // The state of this credential is unknown, so the session must not be reported as ended.
    if (refreshed.kind === 'unavailable') return { outcome: unavailable(refreshed.retryAfterS), setCookies: [] };
  }
  return { outcome: authProblems.refresh_failed(), setCookies: clearing(cookies, sessions) };
}

/**
 * Clients can send the cookie of an ended session any number of times, so only the first request stores a revocation. `before`: tokens
 * that this one replaced.
 */
async function revokeOnce(deps: AuthContext, { token }: Pick<Session, 'token'>, ...before: string[]): Promise<void> {
  const result = await deps.refreshResults.find(hashToken(token));
  const dead = [...new Set([...before, token])];
  if (result?.outcome !== 'signed_out') await revokeLater(deps, { refreshToken: token, scope: 'local' }, dead);
}

/** Several cookies differ in domain or path, so clearing one location leaves the others. */
function clearing(cookies: CookieRules, sessions: readonly Session[]): readonly string[] {
  return sessions.length > 1 ? cookies.clearEverySession() : [cookies.clearSession()];
}

const unavailable = (retryAfterS: number | undefined) =>
  authProblems.upstream_unavailable(retryAfterS === undefined ? {} : { retryAfterS });

/** `sealedAtMs`: the time of the check for an end, so that an end during this request ends the new cookie too. */
function renew(
  deps: AuthContext,
  before: Session,
  { session }: Refreshed & { readonly kind: 'ok' },
  sealedAtMs: number,
): Refresh {
  const { access_token, token_type, expires_in, expires_at, refreshToken: token, user } = session;
  const sealed = deps.sessionSealer.seal({ token, subject: user?.id ?? before.subject, sealedAtMs });
  return {
    outcome: { access_token, token_type, expires_in, expires_at },
    setCookies: [deps.cookies.keepSession(sealed)],
  };
}
