/** Operators sign in with their account at the identity provider, as users do. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { CallFailed, callJson, send } from '../calls.ts';
import { useConsole } from '../operator.tsx';
import { Problem } from '../parts/states.tsx';
import { hasSignedIn, rememberSignIn } from '../user.tsx';

export function AccountSignIn() {
  const queries = useQueryClient();
  const { data: info } = useConsole();
  const authUrl = info?.addresses.auth ?? '';
  const entering = useMutation({
    mutationFn: async () => {
      // Without a session, the call would fail.
      const accessToken = hasSignedIn() ? await readAccessToken(authUrl) : undefined;
      if (accessToken === undefined) {
        rememberSignIn();
        location.assign(`${authUrl}/login?${new URLSearchParams({ next: `${location.origin}/operator` })}`);
        return;
      }
      await send('/api/session/identity', { method: 'POST', json: { accessToken } });
      await queries.invalidateQueries({ queryKey: ['console'] });
    },
  });
  if (!info?.hasOperatorAccounts) return null;
  return (
    <div className="stack">
      <p className="quiet">Configured operators can sign in without a token.</p>
      <div>
        <button type="button" disabled={entering.isPending} onClick={() => entering.mutate()}>
          Continue with your account
        </button>
      </div>
      <Problem of={entering.error} />
    </div>
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
