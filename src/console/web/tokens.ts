/** Access tokens of the signed-in user. Only the authentication service can read the cookie of the session. */
import { callJson } from './calls.ts';

interface AccessToken {
  readonly access_token: string;
  /** In seconds. */
  readonly expires_in: number;
}

interface DatedToken extends AccessToken {
  /** On the monotonic clock of the device. */
  readonly expiresAtMs: number;
}

const renewedBeforeMs = 60_000;

/**
 * Returns a function that returns a fresh token, other than one that a service has refused. It renews the token once for all concurrent
 * calls. Throws CallFailed.
 */
export function createTokens(authUrl: string): (refused?: string) => Promise<string> {
  let current: Promise<DatedToken> | undefined;
  const renew = () => {
    // The device's clock may be wrong. A token is at most as old as the request for it.
    const requestedAtMs = performance.now();
    const renewal = callJson<AccessToken>(`${authUrl}/refresh`, { method: 'POST', withCookies: true }).then(
      (token) => ({
        ...token,
        expiresAtMs: requestedAtMs + token.expires_in * 1000,
      }),
    );
    current = renewal;
    renewal.catch(() => {
      if (current === renewal) current = undefined;
    });
    return renewal;
  };
  return async (refused) => {
    const known = current ?? renew();
    const token = await known;
    if (token.access_token !== refused && token.expiresAtMs - performance.now() > renewedBeforeMs)
      return token.access_token;
    // Another call may have begun to renew it.
    const next = current === undefined || current === known ? renew() : current;
    return (await next).access_token;
  };
}
