/** A user who signed in through the authentication service. The browser stores the cookie, and access tokens come from the service. */
import type { AccessToken } from './auth/api.ts';
import { authCalls } from './auth/calls.ts';
import type { Access, CallOptions } from './calling.ts';

export interface Session {
  /** Pass this as `credential`. It renews the token in time and after a service rejected it. Concurrent callers share one renewal. */
  readonly accessToken: (refused?: string) => Promise<string>;
  /** The URL where the browser signs in. It returns to `next`. */
  loginUrl(next: string, invite?: string): string;
  /** Signs out on all devices. */
  signOut(options?: CallOptions): Promise<void>;
}

interface DatedToken extends AccessToken {
  /** On the monotonic clock of the device. */
  readonly expiresAtMs: number;
}

/** A token is not used if it expires within this time. */
const marginMs = 60_000;

/** `accessToken` rejects with an `AtelierError` of status 401 (`no_session`, `refresh_failed`) if no user is signed in. */
export function createSession(access: Access): Session {
  const auth = authCalls(access);
  let current: Promise<DatedToken> | undefined;
  const renew = () => {
    // The device's clock may be wrong. A token is at most as old as the request for it.
    const requestedAtMs = performance.now();
    const requested = auth
      .refresh()
      .then((token) => ({ ...token, expiresAtMs: requestedAtMs + token.expires_in * 1000 }));
    requested.catch(() => {
      if (current === requested) current = undefined;
    });
    current = requested;
    return requested;
  };
  return {
    async accessToken(refused) {
      const requested = current ?? renew();
      const token = await requested;
      const isGood = token.access_token !== refused && token.expiresAtMs - performance.now() > marginMs;
      if (isGood) return token.access_token;
      // Another caller has already renewed it.
      const next = current === undefined || current === requested ? renew() : current;
      return (await next).access_token;
    },
    loginUrl: (next, invite) => auth.loginUrl({ next, ...(invite !== undefined && { invite }) }),
    async signOut(options) {
      await auth.logout({}, options);
      current = undefined;
    },
  };
}
