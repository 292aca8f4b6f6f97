/**
 * `POST /logout`: ends all sessions of the user or only this one, and clears the cookie in any case (docs/specification/auth.md#logout).
 */
import type { Log } from '#platform/log.ts';
import { withDeadline } from '#platform/resilience/deadline.ts';
import type { CookieRules } from './cookies.ts';
import { type Provider, providerTimeoutMs, type RevocationScope } from './provider.ts';
import { clearing } from './refresh.ts';
import { type RevocationDeps, revokeLater } from './revocations.ts';
import { hashToken, type Refreshed, type Rotation, subjectHashOf } from './rotation.ts';
import { readSessions, type SessionSealer } from './sessions.ts';

export interface LogoutDeps extends RevocationDeps {
  readonly rotation: Rotation;
  readonly provider: Pick<Provider, 'refresh' | 'revoke'>;
  readonly sessionSealer: SessionSealer;
  readonly cookies: CookieRules;
  readonly log: Log;
  readonly timeoutMs?: number;
}

/** The cookie is cleared in any case, so a logout does not wait longer for the database. */
const databaseTimeoutMs = 2000;

export interface Logout {
  readonly cookieHeader: string | undefined;
  readonly scope: RevocationScope;
  readonly clientAddress: string | undefined;
}

/**
 * Ends the sessions of all valid cookies, even those of several users, and returns the `Set-Cookie` lines. Never throws: a revocation
 * that fails is stored and retried, and one that cannot be stored is logged.
 */
export async function signOut(deps: LogoutDeps, logout: Logout): Promise<readonly string[]> {
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
async function endSession(deps: LogoutDeps, token: string, { scope, clientAddress }: Logout): Promise<void> {
  let refreshed: Refreshed = { kind: 'unavailable' };
  const isEnded = await withDeadline(deps.timeoutMs ?? providerTimeoutMs, async (signal) => {
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
  });
}

const sessionOf = (refreshed: Refreshed) => (refreshed.kind === 'ok' ? refreshed.session : undefined);
