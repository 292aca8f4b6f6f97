import { type UseQueryOptions, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { callJson } from '../calls.ts';

type Options<T> = Pick<UseQueryOptions<T>, 'enabled' | 'placeholderData' | 'refetchInterval' | 'staleTime'>;

/** Reads a response of a server, under its key in the cache. */
export function useRead<T>(queryKey: readonly unknown[], url: string, options: Options<T> = {}): UseQueryResult<T> {
  return useQuery<T>({ queryKey, queryFn: ({ signal }) => callJson<T>(url, { signal }), ...options });
}
