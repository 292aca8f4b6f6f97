/** Pages of the operator, with the sign-in form for CONSOLE_TOKEN. */
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { ConsoleInfo } from '../api.ts';
import { callJson, send } from './calls.ts';
import { TextField } from './parts/fields.tsx';
import { useDeed } from './parts/server.ts';
import { Loaded } from './parts/states.tsx';

export const useConsole = () =>
  useQuery({ queryKey: ['console'], queryFn: () => callJson<ConsoleInfo>('/api/console'), staleTime: Infinity });

const beginSession = (token: string) => send('/api/session', { method: 'POST', json: { token } });

/** The printed link has the token after a `#`, which browsers never send to a server. Returns whether there was one. */
export async function takeTokenFromAddress(): Promise<boolean> {
  const token = /^#token=(.+)$/.exec(location.hash)?.[1];
  if (token === undefined) return false;
  history.replaceState(null, '', '/operator');
  // If the token is wrong, shows the form for one.
  await beginSession(decodeURIComponent(token)).catch(() => undefined);
  return true;
}

interface OperatorOnlyProps {
  /** A sign-in without the token. */
  readonly otherWay?: ReactNode;
  readonly children: ReactNode;
}

export const OperatorOnly = ({ otherWay, children }: OperatorOnlyProps) => (
  <Loaded of={useConsole()}>{({ isOperator }) => (isOperator ? children : <TokenForm otherWay={otherWay} />)}</Loaded>
);

function TokenForm({ otherWay }: { readonly otherWay: ReactNode }) {
  const [token, setToken] = useState('');
  const entering = useDeed(() => beginSession(token.trim()), ['console']);
  return (
    <form className="card narrow stack entrance" action={() => entering.mutate()}>
      <h1>Sign in as an operator</h1>
      {otherWay}
      <p className="quiet">
        Open the link that the server printed when it started, or enter its token: the value of{' '}
        <code>CONSOLE_TOKEN</code>. Outside production, <code>secrets.json</code> in the data folder contains it.
      </p>
      <TextField
        label="Token"
        type="password"
        autoComplete="off"
        value={token}
        required
        aria-describedby="token-problem"
        onChange={setToken}
      />
      <p id="token-problem" className="problem" role="alert">
        {entering.error?.message}
      </p>
      <div>
        <button type="submit" className={useConsole().data?.hasOperatorAccounts ? undefined : 'primary'}>
          Open
        </button>
      </div>
    </form>
  );
}

/** Operators who may only read see every page, without its controls. */
export const useMayChange = (): boolean => useConsole().data?.operator?.role === 'full';

/** Controls that change something. Operators who may only read see one line in their place. */
export const Changes = ({ children }: { readonly children?: ReactNode }) =>
  useMayChange() ? (
    children
  ) : (
    <p className="quiet">You can look, but not change anything here. Contact an operator with full access.</p>
  );
