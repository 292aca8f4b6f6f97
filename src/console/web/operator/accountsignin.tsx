/** Operators sign in with their account at the identity provider, as users do. */
import { useEffect } from 'react';
import { callJson, isSignedOut, send } from '../calls.ts';
import { useConsole } from '../operator.tsx';
import { useDeed } from '../parts/server.ts';
import { Problem } from '../parts/states.tsx';
import { hasSignedIn, rememberSignIn } from '../user.tsx';

/** Set while the browser is at the identity provider. After the return, the page continues without a click. */
const enteringKey = 'atelier.entering';

export function AccountSignIn() {
  const { data: info } = useConsole();
  const authUrl = info?.addresses.auth ?? '';
  const entering = useDeed(
    async (mayLeave: boolean) => {
      // Without a session, the call would fail.
      const accessToken = hasSignedIn() ? await readAccessToken(authUrl) : undefined;
      if (accessToken !== undefined) {
        await send('/api/session/identity', { method: 'POST', json: { accessToken } });
      } else if (mayLeave) {
        rememberSignIn();
        sessionStorage.setItem(enteringKey, 'yes');
        const next = location.origin + location.pathname + location.search;
        location.assign(`${authUrl}/login?${new URLSearchParams({ next })}`);
      }
    },
    ['console'],
  );
  const { mutate: enter } = entering;
  useEffect(() => {
    if (sessionStorage.getItem(enteringKey) === null) return;
    sessionStorage.removeItem(enteringKey);
    enter(false);
  }, [enter]);
  if (!info?.hasOperatorAccounts) return null;
  return (
    <>
      <p className="quiet">Use the account with which you sign in to the studio.</p>
      <div>
        <button type="button" className="primary" disabled={entering.isPending} onClick={() => enter(true)}>
          {entering.isPending ? 'Signing in …' : 'Continue with your account'}
        </button>
      </div>
      <Problem of={entering.error} />
      <h2>Or with the token</h2>
    </>
  );
}

async function readAccessToken(authUrl: string): Promise<string | undefined> {
  const call = { method: 'POST', withCookies: true } as const;
  try {
    return (await callJson<{ readonly access_token: string }>(`${authUrl}/refresh`, call)).access_token;
  } catch (error) {
    if (isSignedOut(error)) return undefined;
    throw error;
  }
}
