/** Access tokens of the signed-in user. Only the authentication service can read the cookie of the session. */
import { callJson } from './calls.ts';

interface AccessToken {
  readonly access_token: string;
  /** In Unix seconds. */
  readonly expires_at: number;
}

const renewedBeforeMs = 60_000;

/** Returns a function that returns a fresh token. It renews the token once for all concurrent calls. Throws CallFailed. */
export function createTokens(authUrl: string): () => Promise<string> {
  let current: Promise<AccessToken> | undefined;
  const renew = () => {
    const renewal = callJson<AccessToken>(`${authUrl}/refresh`, { method: 'POST', withCookies: true });
    current = renewal;
    renewal.catch(() => {
      if (current === renewal) current = undefined;
    });
    return renewal;
  };
  return async () => {
    const known = current ?? renew();
    const token = await known;
    if (token.expires_at * 1000 - Date.now() > renewedBeforeMs) return token.access_token;
    // Another call may have begun to renew it.
    const next = current === undefined || current === known ? renew() : current;
    return (await next).access_token;
  };
}
