/** `GET /login`: stores the target and sends the browser to sign in (docs/specification/auth.md#login). */

import { withDeadline } from '#platform/resilience/deadline.ts';
import type { AuthContext } from './context.ts';
import { authProblems } from './problems.ts';
import { providerTimeoutMs } from './provider.ts';
import { beginSignIn } from './signins.ts';

export interface Redirect {
  readonly location: string;
  readonly setCookies: readonly string[];
}

/** `next` and `invite` are raw values of any type. Throws `oauth_init_failed` (502) and then sets no cookie. */
export async function redirectToProvider(
  deps: AuthContext,
  query: { readonly next?: unknown; readonly invite?: unknown },
  cookieHeader: string | undefined,
  clientAddress: string | undefined,
): Promise<Redirect> {
  const { cookies, targets } = deps;
  const next = targets.validate(query.next);
  // Both are this machine, but to browsers they are different sites.
  const hosts = [deps.publicUrl, next ?? ''].map((url) => URL.parse(url)?.hostname);
  if (hosts.includes('localhost') && hosts.includes('127.0.0.1'))
    deps.log.warn(`a page at ${hosts[1]} stays signed out: open it at ${hosts[0]}, the host of PUBLIC_BASE_URL`);
  const invite = readInvite(query.invite);
  const { challenge, state, setCookies } = beginSignIn(deps, cookieHeader, { next, invite });
  const location = await withDeadline(providerTimeoutMs, (signal) =>
    deps.provider.authorize({ challenge, state }, { signal, clientAddress }),
  ).catch(() => undefined);
  if (location === undefined) throw authProblems.oauth_init_failed();
  return {
    location,
    setCookies: [
      cookies.keep('ka_next', next ?? targets.fallback),
      ...(invite === undefined ? [] : [cookies.keep('ka_invite', invite)]),
      ...setCookies,
    ],
  };
}

/** Returns a user id, or `undefined` for a value that cannot be one. */
function readInvite(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(value) ? value : undefined;
}
