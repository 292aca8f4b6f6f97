/** Operators sign in with their account at the identity provider, as users do. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { CallFailed, callJson, send } from '../calls.ts';
import { useConsole } from '../operator.tsx';
import { Problem } from '../parts/states.tsx';
import { hasSignedIn, rememberSignIn } from '../user.tsx';

/** Set while the browser is at the identity provider. After the return, the page continues without a click. */
const enteringKey = 'atelier.entering';

export function AccountSignIn() {
  const queries = useQueryClient();
  const { data: info } = useConsole();
  const authUrl = info?.addresses.auth ?? '';
  const entering = useMutation({
    mutationFn: async (mayLeave: boolean) => {
      // Without a session, the call would fail.
      const accessToken = hasSignedIn() ? await readAccessToken(authUrl) : undefined;
      if (accessToken !== undefined) {
        await send('/api/session/identity', { method: 'POST', json: { accessToken } });
        await queries.invalidateQueries({ queryKey: ['console'] });
      } else if (mayLeave) {
        rememberSignIn();
        sessionStorage.setItem(enteringKey, 'yes');
        const next = location.origin + location.pathname + location.search;
        location.assign(`${authUrl}/login?${new URLSearchParams({ next })}`);
      }
    },
  });
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
  const url = `${authUrl}/refresh`;
  const token = await callJson<{ readonly access_token: string }>(url, { method: 'POST', withCookies: true }).catch(
    (error: unknown) => {
      if (error instanceof CallFailed && error.status === 401) return undefined;
      throw error;
    },
  );
  return token?.access_token;
}
