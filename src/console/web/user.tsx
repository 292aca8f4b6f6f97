/** Pages of a user, who signs in as in any application, through the authentication service. Scripts cannot read its cookie. */
import { type QueryKey, type UseQueryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext } from 'react';
import type { Access } from '../../client/calling.ts';
import { createSession } from '../../client/session.ts';
import type { ConsoleInfo } from '../api.ts';
import { type Call, isSignedOut, send } from './calls.ts';
import { useConsole } from './operator.tsx';
import { type Page, useCursor } from './parts/server.ts';
import { Failure } from './parts/states.tsx';
import { notifyFailure } from './shell/notices.ts';
import { toSearch } from './shell/page.ts';
import { Skeleton } from './shell/skeleton.tsx';

export interface User {
  readonly id: string;
  readonly email: string;
  /** Calls a service with the user's access token. Throws CallFailed. */
  send(service: Service, path: string, call?: Call): Promise<Response>;
  json<T>(service: Service, path: string, call?: Call): Promise<T>;
  /** For the client that applications use. */
  readonly agent: Access;
  readonly media: Access;
}

type Service = 'agent' | 'auth' | 'media' | 'memory';

const UserContext = createContext<User | undefined>(undefined);

export function useUser(): User {
  const user = useContext(UserContext);
  if (user === undefined) throw new Error('A user exists only below UserOnly.');
  return user;
}

/** For a cookie that the server of the console does not receive. If no user has signed in here, this avoids a failing call. */
const signedInKey = 'atelier.signed-in';

async function signInQuietly({ addresses, hasUserSession }: ConsoleInfo): Promise<User | null> {
  if (!hasUserSession && !hasSignedIn()) return null;
  const { accessToken: getToken } = createSession({ url: addresses.auth ?? '' });
  const first = await getToken().catch((error: unknown) => {
    if (isSignedOut(error)) return undefined;
    throw error;
  });
  if (first === undefined) {
    localStorage.removeItem(signedInKey);
    return null;
  }
  const claims = claimsOf(first);
  const sendAs: User['send'] = async (service, path, call = {}) =>
    send(`${addresses[service]}${path}`, {
      ...call,
      headers: { ...call.headers, authorization: `Bearer ${await getToken()}` },
    });
  return {
    id: claims.sub ?? '',
    email: claims.email ?? '',
    send: sendAs,
    async json(service, path, call) {
      const response = await sendAs(service, path, call);
      return response.status === 204 ? undefined : response.json();
    },
    agent: { url: addresses.agent ?? '', credential: { accessToken: getToken } },
    media: { url: addresses.media ?? '', credential: { accessToken: getToken } },
  };
}

/** Read for display only. Every service verifies the token itself. */
function claimsOf(token: string): { readonly sub?: string; readonly email?: string } {
  const payload = (token.split('.')[1] ?? '').replace(/-/g, '+').replace(/_/g, '/');
  const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

export const rememberSignIn = (): void => localStorage.setItem(signedInKey, 'yes');
export const hasSignedIn = (): boolean => localStorage.getItem(signedInKey) !== null;

/** `signedOut`: shown to visitors. */
export function UserOnly({ signedOut, children }: { readonly signedOut: ReactNode; readonly children: ReactNode }) {
  const { data: info } = useConsole();
  const {
    data: user,
    error,
    refetch,
  } = useQuery({
    queryKey: ['user'],
    queryFn: () => info && signInQuietly(info),
    enabled: info !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (user) return <UserContext value={user}>{children}</UserContext>;
  if (user === null) return signedOut;
  return (
    <main id="main" className="alone">
      {error ? <Failure error={error} retry={refetch} /> : <Skeleton label="Signing in" />}
    </main>
  );
}

/** What the cache calls a response to the user: a name, and what it is about. The id of the user is between them. */
type Key = readonly [name: string, ...about: unknown[]];
const keyOf = ({ id }: User, [name, ...about]: Key): QueryKey => [name, id, ...about];

interface OwnOptions<T, Data> extends Omit<UseQueryOptions<T, Error, Data>, 'queryKey' | 'queryFn'> {
  /** It is posted. Otherwise, the call has no body. */
  readonly question?: object;
}

/** Reads a response of a service as the user. */
export function useOwn<T, Data = T>(
  key: Key,
  service: Service,
  path: string,
  { question, ...options }: OwnOptions<T, Data> = {},
) {
  const user = useUser();
  return useQuery({
    queryKey: keyOf(user, key),
    queryFn: ({ signal }) =>
      user.json<T>(service, path, { signal, ...(question && { method: 'POST', json: question }) }),
    ...options,
  });
}

/** Reads a listing of a service page by page. Empty values of `query` are omitted. */
export function useOwnPages<P extends Page>(
  key: Key,
  service: Service,
  path: string,
  query: Readonly<Record<string, string>>,
  options?: Parameters<typeof useCursor<P>>[2],
) {
  const user = useUser();
  const read = (cursor: string, signal: AbortSignal) =>
    user.json<P>(service, path + toSearch({ ...query, cursor }), { signal });
  return useCursor(keyOf(user, key), read, options);
}

/** Reads everything again whose key begins so. */
export function useReread(): (...key: Key) => Promise<void> {
  const user = useUser();
  const queries = useQueryClient();
  return (...key) => queries.invalidateQueries({ queryKey: keyOf(user, key) });
}

export function useSignOut() {
  const queries = useQueryClient();
  const { data: info } = useConsole();
  return useMutation({
    mutationFn: async () => {
      await send(`${info?.addresses.auth}/logout`, { method: 'POST', withCookies: true });
      localStorage.removeItem(signedInKey);
      queries.setQueryData(['user'], null);
    },
    onError: notifyFailure,
  });
}
