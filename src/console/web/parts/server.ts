/** What a page reads from a server, and what it changes there. */
import {
  type QueryKey,
  type UseQueryOptions,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { callJson } from '../calls.ts';
import { notify } from '../shell/notices.ts';

type Options<T> = Pick<UseQueryOptions<T>, 'enabled' | 'placeholderData' | 'refetchInterval' | 'staleTime'>;

/** Reads a response of a server, under its key in the cache. */
export function useRead<T>(queryKey: readonly unknown[], url: string, options: Options<T> = {}): UseQueryResult<T> {
  return useQuery<T>({ queryKey, queryFn: ({ signal }) => callJson<T>(url, { signal }), ...options });
}

/**
 * Something that an operator does. A sentence that `work` returns is shown as a notice. Then everything whose key begins with one of
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
