/** `POST /refresh`: the cookie's refresh credential for an access token; the front end never sees it (document 001). */
import type { AccessToken } from './api.ts';
import { type CookieRules, readCookies } from './cookies.ts';
import { authProblems } from './problems.ts';
import type { Refreshed, Rotation } from './rotation.ts';
import type { Sealer } from './sealing.ts';

export interface RefreshDeps {
  readonly rotation: Rotation;
  readonly sessionSealer: Sealer;
  readonly cookies: CookieRules;
}

export interface Refresh {
  readonly body: AccessToken;
  readonly setCookie: string;
}

/**
 * Throws `no_session` (401), `refresh_failed` (401, with which the dead cookie is to be cleared) and
 * `upstream_unavailable` (503).
 */
export async function refresh(deps: RefreshDeps, cookieHeader: string | undefined): Promise<Refresh> {
  const tokens = readSessionTokens(deps.sessionSealer, cookieHeader);
  if (tokens.length === 0) throw authProblems.no_session();
  for (const token of tokens) {
    const refreshed = await deps.rotation.refresh(token);
    if (refreshed.kind === 'ok') return tell(deps, refreshed);
    // Nothing is known of this one, so nothing may be said of the session.
    if (refreshed.kind === 'unavailable')
      throw authProblems.upstream_unavailable(
        refreshed.retryAfterS === undefined ? {} : { retryAfterS: refreshed.retryAfterS },
      );
  }
  throw authProblems.refresh_failed();
}

function tell(deps: RefreshDeps, { session }: Refreshed & { readonly kind: 'ok' }): Refresh {
  const { access_token, token_type, expires_in, expires_at } = session;
  return {
    body: { access_token, token_type, expires_in, expires_at },
    setCookie: deps.cookies.keepSession(deps.sessionSealer.seal(session.refreshToken)),
  };
}

/** Whose seal is broken is none. Two that are good come about when COOKIE_DOMAIN is changed. */
export function readSessionTokens(sealer: Sealer, cookieHeader: string | undefined): readonly string[] {
  const found = readCookies(cookieHeader, 'ka_session').map((value) => sealer.unseal(value));
  return [...new Set(found.flatMap((token) => (token === undefined || token === '' ? [] : [token])))];
}
