/** A user who signed in through the authentication service: its cookie stays with the browser, access tokens come from it. */
import type { AccessToken } from './auth/api.ts';
import { authCalls } from './auth/calls.ts';
import type { Access, CallOptions } from './calling.ts';

export interface Session {
  /** For `credential`. Renewed in time, and when a service refuses it; once, however many ask. */
  readonly accessToken: (refused?: string) => Promise<string>;
  /** Where the browser goes to sign in, and comes back from to `next`. */
  loginUrl(next: string, invite?: string): string;
  /** Everywhere, not on this device alone. */
  signOut(options?: CallOptions): Promise<void>;
}

/** So long before its end a token is not begun with. */
const marginMs = 60_000;

/** `accessToken` rejects with an `AtelierError` of status 401 (`no_session`, `refresh_failed`): nobody is signed in. */
export function createSession(access: Access): Session {
  const auth = authCalls(access);
  let current: Promise<AccessToken> | undefined;
  const renew = () => {
    const asked = auth.refresh();
    asked.catch(() => {
      if (current === asked) current = undefined;
    });
    current = asked;
    return asked;
  };
  return {
    async accessToken(refused) {
      const asked = current ?? renew();
      const token = await asked;
      const isGood = token.access_token !== refused && token.expires_at * 1000 - Date.now() > marginMs;
      if (isGood) return token.access_token;
      // Whoever came first has renewed it already.
      const next = current === undefined || current === asked ? renew() : current;
      return (await next).access_token;
    },
    loginUrl: (next, invite) => auth.loginUrl({ next, ...(invite !== undefined && { invite }) }),
    async signOut(options) {
      await auth.logout({}, options);
      current = undefined;
    },
  };
}
