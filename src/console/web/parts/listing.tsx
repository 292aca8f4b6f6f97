/** A list that the server returns page by page. */
import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';
import type { Key, ReactNode } from 'react';
import { callJson } from '../calls.ts';
import { Empty, Pending } from './states.tsx';

interface Page {
  readonly next_cursor: string | null;
}
type Pages<P> = UseInfiniteQueryResult<InfiniteData<P>>;

/** Empty values of `query` are omitted. The first part of the query's key is `name`. */
export function usePages<P extends Page>(
  name: string,
  path: string,
  query: Readonly<Record<string, string>> = {},
): Pages<P> {
  const filters = Object.entries(query).filter(([, value]) => value !== '');
  return useInfiniteQuery({
    queryKey: [name, filters],
    queryFn: ({ pageParam, signal }) => {
      const search = new URLSearchParams([...filters, ...(pageParam === '' ? [] : [['cursor', pageParam]])]);
      return callJson<P>(`${path}?${search}`, { signal });
    },
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: (before) => before,
  });
}

export function Listing<P extends Page, Item>({
  pages: { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage },
  label,
  itemsOf,
  keyOf,
  empty,
  children,
}: {
  readonly pages: Pages<P>;
  /** The name of the list, in the plural. */
  readonly label: string;
  readonly itemsOf: (page: P) => readonly Item[];
  readonly keyOf: (item: Item) => Key;
  readonly empty: ReactNode;
  /** Renders the content of an item. */
  readonly children: (item: Item) => ReactNode;
}) {
  if (data === undefined) return <Pending error={error} retry={refetch} what={`Reading ${label.toLowerCase()}`} />;
  const items = data.pages.flatMap(itemsOf);
  return (
    <>
      {items.length > 0 ? (
        <ul className="lines" aria-label={label}>
          {items.map((item) => (
            <li key={keyOf(item)}>{children(item)}</li>
          ))}
        </ul>
      ) : hasNextPage ? (
        <Empty title="No matches so far." />
      ) : (
        empty
      )}
      {hasNextPage && (
        <p className="desk-more">
          <button type="button" disabled={isFetchingNextPage} onClick={() => fetchNextPage()}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}
