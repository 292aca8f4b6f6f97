/**
 * What providers and the gateways in front of them answer to a refresh: only the provider's own refusal ends a session
 * (docs/specification/auth.md#refresh). Each row is one answer as its maker sends it.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openBrowser, signIn } from '../../test/auth/browser.fixture.ts';
import { type AuthRig, origin, startAuth } from '../../test/auth/rig.fixture.ts';

let rig: AuthRig;
beforeAll(async () => {
  rig = await startAuth();
});
afterAll(() => rig.close());
afterEach(() => rig.wellAgain());

type Row = readonly [maker: string, status: number, body: string];

const page = (title: string) =>
  `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`;
const goTrue = (status: number, code: string, message: string) =>
  JSON.stringify({ code: status, error_code: code, msg: message });

/** The session is dead: 401, and the cookie goes. */
const dead: readonly Row[] = [
  [
    'GoTrue, an unknown token',
    400,
    goTrue(400, 'refresh_token_not_found', 'Invalid Refresh Token: Refresh Token Not Found'),
  ],
  ['GoTrue, a token used twice', 400, goTrue(400, 'refresh_token_already_used', 'Invalid Refresh Token: Already Used')],
  ['GoTrue, an expired session', 400, goTrue(400, 'session_expired', 'Invalid Refresh Token: Session Expired')],
  [
    'GoTrue, a session that was ended',
    403,
    goTrue(403, 'session_not_found', 'Session from session_id claim in JWT does not exist'),
  ],
  ['GoTrue, a deleted user', 404, goTrue(404, 'user_not_found', 'User not found')],
  ['GoTrue, a banned user', 400, goTrue(400, 'user_banned', 'User is banned')],
  ['GoTrue since API version 2024-01-01', 400, '{"code":"refresh_token_not_found","message":"Invalid Refresh Token"}'],
  ['GoTrue of 2022', 400, '{"error":"invalid_grant","error_description":"Invalid Refresh Token"}'],
  ['GoTrue, a failed validation', 422, goTrue(422, 'validation_failed', 'Refresh token is not valid')],
  ['an OAuth server', 400, '{"error":"invalid_grant"}'],
  ['an OAuth server that uses 401', 401, '{"error":"invalid_grant","error_description":"expired"}'],
  ['a provider that uses 410', 410, '{"code":"session_expired","message":"gone"}'],
];

/** Nothing is known of the session: 503, and the cookie stays. */
const unknown: readonly Row[] = [
  ['Kong, no route', 404, '{"message":"no Route matched with those values"}'],
  ['Kong, a missing key', 401, '{"message":"No API key found in request"}'],
  ['Kong, a wrong key', 401, '{"message":"Invalid authentication credentials"}'],
  ['Kong, its limit', 429, '{"message":"API rate limit exceeded"}'],
  ['Kong, no upstream', 503, '{"message":"failure to get a peer from the ring-balancer"}'],
  ['Kong, a bad upstream', 502, '{"message":"An invalid response was received from the upstream server"}'],
  ['Supabase, a paused project', 540, '{"message":"Project paused"}'],
  [
    'Supabase, a wrong key',
    401,
    '{"message":"Invalid API key","hint":"Double check your Supabase `anon` or `service_role` API key."}',
  ],
  ['GoTrue, its limit', 429, goTrue(429, 'over_request_rate_limit', 'Request rate limit reached')],
  ['GoTrue, its database', 500, goTrue(500, 'unexpected_failure', 'Unable to process request')],
  ['GoTrue, its time limit', 504, goTrue(504, 'request_timeout', 'Processing this request timed out')],
  ['GoTrue, a body that it cannot read', 400, goTrue(400, 'bad_json', 'Could not parse request body as JSON')],
  ['Traefik, no route', 404, '404 page not found\n'],
  ['Traefik, no upstream', 502, 'Bad Gateway'],
  ['nginx, a bad request', 400, page('400 Bad Request')],
  ['nginx, a forbidden address', 403, page('403 Forbidden')],
  ['nginx, no file', 404, page('404 Not Found')],
  ['nginx, a wrong method', 405, page('405 Not Allowed')],
  ['nginx, a request that is too large', 413, page('413 Request Entity Too Large')],
  ['nginx, a client that left', 499, ''],
  ['nginx, a slow upstream', 504, page('504 Gateway Time-out')],
  ['Cloudflare, a challenge', 403, page('Just a moment...')],
  ['Cloudflare, a blocked address', 403, 'error code: 1020'],
  ['Cloudflare, its limit', 429, 'error code: 1015'],
  ['Cloudflare, no origin', 521, page('521: Web server is down')],
  ['Cloudflare, a bad certificate', 526, page('526: Invalid SSL certificate')],
  ['Envoy, no upstream', 503, 'upstream connect error or disconnect/reset before headers'],
  ['Envoy, a misdirected request', 421, ''],
  ['AWS load balancer, no target', 503, page('503 Service Temporarily Unavailable')],
  ['AWS API gateway, no route', 403, '{"message":"Missing Authentication Token"}'],
  ['AWS API gateway, a forbidden call', 403, '{"message":"Forbidden"}'],
  ['Google load balancer, no backend', 404, 'default backend - 404'],
  ['Caddy, no site', 404, ''],
  ['Vercel, no deployment', 404, 'The deployment could not be found on Vercel.\n\nDEPLOYMENT_NOT_FOUND'],
  ['an empty 401', 401, ''],
  ['a teapot', 418, '{"error":"short_and_stout"}'],
];

async function refreshAgainst(status: number, body: string) {
  const browser = openBrowser();
  await signIn(browser, rig.url, { email: `u-${randomUUID()}@example.com` });
  await rig.wellAgain();
  await rig.fault({ operation: 'refresh', kind: 'answer', status, body });
  const refresh = () => browser.post(`${rig.url}/refresh`, { origin });
  const response = await refresh();
  await rig.wellAgain();
  return { status: response.status, error: JSON.parse(response.text).error, cookies: response.setCookies, refresh };
}

it.each(dead)('signs out: %s (%i)', async (_maker, status, body) => {
  const { cookies, ...response } = await refreshAgainst(status, body);
  expect(response).toMatchObject({ status: 401, error: 'refresh_failed' });
  expect(cookies).toEqual([expect.stringMatching(/^ka_session=; Max-Age=0;/)]);
});

it.each(unknown)('preserves the session: %s (%i)', async (_maker, status, body) => {
  const { refresh, ...response } = await refreshAgainst(status, body);
  expect(response).toEqual({ status: 503, error: 'upstream_unavailable', cookies: [] });
  expect((await refresh()).status).toBe(200);
});
