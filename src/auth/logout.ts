/** `POST /logout`: ends every session of the user; the cookie goes whatever becomes of that (document 001). */
import type { Log } from '#platform/log.ts';
import { withDeadline } from '#platform/resilience/deadline.ts';
import { type Provider, providerTimeoutMs } from './provider.ts';
import { readSessionTokens } from './refresh.ts';
import { type RevocationDeps, revokeLater } from './revocations.ts';
import { hashToken, type Refreshed, type Rotation, subjectHashOf } from './rotation.ts';
import type { Sealer } from './sealing.ts';

export interface LogoutDeps extends RevocationDeps {
  readonly rotation: Rotation;
  readonly provider: Pick<Provider, 'refresh' | 'revoke'>;
  readonly sessionSealer: Sealer;
  readonly log: Log;
}

/** The cookie goes in any case: nobody waits longer for a database. */
const databaseTimeoutMs = 2000;

/** Never throws: what cannot be done now is done later, and what cannot be kept for later is told to the log. */
export async function signOut(deps: LogoutDeps, cookieHeader: string | undefined): Promise<void> {
  const tokens = readSessionTokens(deps.sessionSealer, cookieHeader);
  await Promise.all(
    tokens.map((token) =>
      endSession(deps, token).catch((error: unknown) =>
        deps.log.error({ err: error }, 'a session could not be ended, nor kept to be ended later'),
      ),
    ),
  );
}

/** One deadline over both calls to the provider. */
async function endSession(deps: LogoutDeps, token: string): Promise<void> {
  let refreshed: Refreshed = { kind: 'unavailable' };
  const isEnded = await withDeadline(providerTimeoutMs, async (signal) => {
    refreshed = await deps.rotation.refresh(token);
    if (refreshed.kind !== 'ok') return refreshed.kind === 'expired';
    return (await deps.provider.revoke(refreshed.session.access_token, signal)).kind !== 'unavailable';
  }).catch(() => false);
  const session = sessionOf(refreshed);
  await withDeadline(databaseTimeoutMs, async () => {
    // First buried, then dropped: a second tab must not find the answer in between.
    if (!isEnded) {
      const newest = session?.refreshToken ?? token;
      await revokeLater(deps, newest, [...new Set([token, newest])]);
    }
    await deps.answers.drop(hashToken(token), session === undefined ? undefined : subjectHashOf(session));
  });
}

const sessionOf = (refreshed: Refreshed) => (refreshed.kind === 'ok' ? refreshed.session : undefined);
