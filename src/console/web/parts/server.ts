/** What a page reads from a server, and what it changes there. */
import {
  type InfiniteData,
  type QueryKey,
  type UseInfiniteQueryOptions,
  type UseQueryOptions,
  type UseQueryResult,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { callJson } from '../calls.ts';
import { notify } from '../shell/notices.ts';

type Query = Readonly<Record<string, string | number>>;

/** Empty values are omitted. */
const givenIn = (query: Query) =>
  Object.entries(query).flatMap(([name, value]) => (value === '' ? [] : [[name, String(value)]]));

export function urlOf(path: string, query: Query = {}): string {
  const given = givenIn(query);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** The key of a response in the cache. `['incidents']` begins the keys of all below `/api/incidents`. */
export const keyOf = (path: string, query: Query = {}): QueryKey => [...path.split('/').slice(2), ...givenIn(query)];

type Options<T> = Pick<UseQueryOptions<T>, 'enabled' | 'placeholderData' | 'refetchInterval' | 'staleTime'>;

/** Reads from the console's server. Empty values of `query` are omitted. */
export const useRead = <T>(path: string, query?: Query, options: Options<T> = {}): UseQueryResult<T> =>
  useQuery<T>({
    queryKey: keyOf(path, query),
    queryFn: ({ signal }) => callJson<T>(urlOf(path, query), { signal }),
    ...options,
  });

export type Page = { readonly nextCursor: string | null } | { readonly next_cursor: string | null };
type PagesOptions<P> = UseInfiniteQueryOptions<P, Error, InfiniteData<P, string>, QueryKey, string>;

/** Reads a listing page by page. `read`: the page at a cursor, which is empty for the first one. */
export const useCursor = <P extends Page>(
  queryKey: QueryKey,
  read: (cursor: string, signal: AbortSignal) => Promise<P>,
  options: Pick<PagesOptions<P>, 'enabled' | 'placeholderData' | 'refetchInterval' | 'staleTime'> = {},
) =>
  useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: '',
    getNextPageParam: (page) => ('nextCursor' in page ? page.nextCursor : page.next_cursor),
    ...options,
  });

/**
 * Something that a person does. A sentence that `work` returns is shown as a notice. Then everything whose key begins with one of
 * `rereads` is read again, also after a failure, which can have changed a part.
 */
export function useDeed<Argument = void>(
  work: (argument: Argument) => Promise<unknown>,
  ...rereads: readonly QueryKey[]
) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (argument: Argument) => {
      const done = await work(argument);
      if (typeof done === 'string') notify(done);
    },
    onSettled: () => Promise.all(rereads.map((queryKey) => queries.invalidateQueries({ queryKey }))),
  });
}

/** Lists that are read one after the other often arrive together. */
const gatherMs = 5;

/** Reads what is needed at the same time with one call, of at most `most` ids. `null`: the response does not have it. */
export function batching<T, Context extends readonly unknown[]>(
  most: number,
  read: (ids: readonly string[], ...context: Context) => Promise<Readonly<Record<string, T>>>,
): (id: string, ...context: Context) => Promise<T | null> {
  let open: { readonly ids: Set<string>; readonly answer: ReturnType<typeof read> } | undefined;
  const begin = (...context: Context) => {
    const ids = new Set<string>();
    const waiting = new Promise((resolve) => setTimeout(resolve, gatherMs));
    const answer = waiting.then(() => {
      if (open?.ids === ids) open = undefined;
      return read([...ids], ...context);
    });
    return { ids, answer };
  };
  return async (id, ...context) => {
    if (open === undefined || open.ids.size === most) open = begin(...context);
    const { ids, answer } = open;
    ids.add(id);
    return (await answer)[id] ?? null;
  };
}
