/**
 * `POST /refresh`: exchanges the cookie's refresh credential for an access token. The front end never sees the credential
 * (docs/specification/auth.md#refresh).
 */

import type { Problem } from '#platform/problem.ts';
import type { AccessToken } from './api.ts';
import type { AuthContext } from './context.ts';
import type { CookieRules } from './cookies.ts';
import { authProblems } from './problems.ts';
import { revokeLater } from './revocations.ts';
import { hashToken, type Refreshed } from './rotation.ts';
import { areOfOneSubject, readSessions, type Session } from './sessions.ts';

export interface Refresh {
  readonly outcome: AccessToken | Problem;
  readonly setCookies: readonly string[];
}

/** Maximum number of cookies to try. Each one costs a call to the provider if the earlier ones are dead. */
const maxTried = 5;

/** The problem is `no_session` (401), `refresh_failed` (401) or `upstream_unavailable` (503). */
export async function refresh(
  deps: AuthContext,
  cookieHeader: string | undefined,
  clientAddress: string | undefined,
): Promise<Refresh> {
  const { cookies, rotation, sessionSealer } = deps;
  const sessions = readSessions(sessionSealer, cookieHeader);
  if (sessions.length === 0) return { outcome: authProblems.no_session(), setCookies: [] };
  if (!areOfOneSubject(sessions))
    return { outcome: authProblems.no_session(), setCookies: cookies.clearEverySession() };
  for (const session of sessions.slice(0, maxTried)) {
    const { isEnded, checkedAtMs = session.sealedAtMs } = await deps.sessionEnds.check(session);
    if (isEnded) {
      await revokeOnce(deps, session);
      continue;
    }
    const refreshed = await rotation.refresh(session.token, clientAddress);
    if (refreshed.kind === 'ok') return renew(deps, session, refreshed, checkedAtMs);
    // The state of this credential is unknown, so the session must not be reported as ended.
    if (refreshed.kind === 'unavailable') return { outcome: unavailable(refreshed.retryAfterS), setCookies: [] };
  }
  return { outcome: authProblems.refresh_failed(), setCookies: clearing(cookies, sessions) };
}

/** Clients can send the cookie of an ended session any number of times, so only the first request stores a revocation. */
async function revokeOnce(deps: AuthContext, { token }: Session): Promise<void> {
  const result = await deps.refreshResults.find(hashToken(token));
  if (result?.outcome !== 'signed_out') await revokeLater(deps, { refreshToken: token, scope: 'local' }, [token]);
}

/** Several cookies differ in domain or path, so clearing one location leaves the others. */
export function clearing(cookies: CookieRules, sessions: readonly Session[]): readonly string[] {
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
