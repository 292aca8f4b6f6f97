/** `POST /logout`: ends every session of the user, or this one alone; the cookie goes whatever becomes of that (docs/specification/auth.md#logout). */
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

/** The cookie goes in any case: nobody waits longer for a database. */
const databaseTimeoutMs = 2000;

export interface Logout {
  readonly cookieHeader: string | undefined;
  readonly scope: RevocationScope;
  readonly clientAddress: string | undefined;
}

/**
 * Ends the sessions of all good cookies, of several users too, and answers the `Set-Cookie` lines. Never throws: what cannot
 * be done now is done later, and what cannot be kept for later is logged.
 */
export async function signOut(deps: LogoutDeps, logout: Logout): Promise<readonly string[]> {
  const sessions = readSessions(deps.sessionSealer, logout.cookieHeader);
  await Promise.all(
    sessions.map(({ token }) =>
      endSession(deps, token, logout).catch((error: unknown) =>
        deps.log.error({ err: error }, 'a session could not be ended, nor kept to be ended later'),
      ),
    ),
  );
  return clearing(deps.cookies, sessions);
}

/** One deadline over both calls to the provider. */
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
    // First buried, then dropped: a second tab must not find the answer in between.
    if (!isEnded) {
      const newest = session?.refreshToken ?? token;
      await revokeLater(deps, { refreshToken: newest, scope }, [...new Set([token, newest])]);
    }
    await deps.answers.drop(hashToken(token), session === undefined ? undefined : subjectHashOf(session));
  });
}

const sessionOf = (refreshed: Refreshed) => (refreshed.kind === 'ok' ? refreshed.session : undefined);
