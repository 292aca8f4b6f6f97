/** A list that the server returns page by page. */
import { keepPreviousData, type UseQueryResult } from '@tanstack/react-query';
import { type Key, type ReactNode, useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { callJson } from '../calls.ts';
import { Choice, TextField, useTyped } from './fields.tsx';
import { keyOf, type Page, urlOf, useCursor } from './server.ts';
import { Empty, Pending, Problem } from './states.tsx';

/** Empty values of `query` are omitted. A phone loads fewer at once. */
export function usePages<P extends Page>(path: string, query: Readonly<Record<string, string>> = {}) {
  const limit = matchMedia('(max-width: 599px)').matches ? '20' : '';
  return useCursor<P>(
    keyOf(`${path}/pages`, { ...query, limit }),
    (cursor, signal) => callJson(urlOf(path, { ...query, limit, cursor }), { signal }),
    { placeholderData: keepPreviousData },
  );
}

/** The path of each list → its last URL, for the way back from an entry. */
export const lastFilters = new Map<string, string>();

/** Filters in the URL, to send a view to another operator. An empty value removes one. Without `replace`, Back undoes a change. */
export function useFilters() {
  const [search, setSearch] = useSearchParams();
  useEffect(() => void lastFilters.set(location.pathname, location.pathname + location.search));
  const change = (changes: Readonly<Record<string, string>>, replace = true) =>
    setSearch(
      (now) => {
        const all = Object.entries({ ...Object.fromEntries(now), ...changes });
        return new URLSearchParams(all.filter(([, value]) => value !== ''));
      },
      { replace },
    );
  return { of: (name: string) => search.get(name) ?? '', change };
}

/**
 * The period of a list, in the URL: days in UTC, both included. Pages that show usage and runs link to each other with it.
 * `shown`: the days without a choice.
 */
export function Period({ shown = { from: '', to: '' } }) {
  const { of, change } = useFilters();
  const field = (name: 'from' | 'to', label: string) => {
    const value = of(name) || shown[name];
    return <TextField key={name} label={label} type="date" value={value} onChange={(day) => change({ [name]: day })} />;
  };
  return [field('from', 'From (UTC)'), field('to', 'To (UTC)')];
}

/** On a phone, the fields after the first are folded. */
export function Filters({ className = '', children }: { readonly className?: string; readonly children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <search className={`desk-fields desk-filters ${className}`} data-open={isOpen}>
      {children}
      <button type="button" className="desk-unfold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Fewer filters' : 'More filters'}
      </button>
    </search>
  );
}

type ChoiceFilterProps = Omit<Parameters<typeof Choice>[0], 'value' | 'onChange'> & { readonly name: string };

/** A choice that is in the URL. */
export function ChoiceFilter({ name, ...rest }: ChoiceFilterProps) {
  const { of, change } = useFilters();
  return <Choice {...rest} value={of(name)} onChange={(value) => change({ [name]: value })} />;
}

interface SearchFilterProps {
  readonly label: string;
  readonly placeholder: string;
  readonly name?: string;
  readonly maxLength?: number;
}

/** A search whose words are in the URL. It searches when the operator pauses. */
export function SearchFilter({ label, placeholder, name = 'q', maxLength = 200 }: SearchFilterProps) {
  const { of, change } = useFilters();
  const [typed, setTyped] = useTyped(of(name), (value) => change({ [name]: value }));
  const shown = { label, placeholder, maxLength };
  return <TextField {...shown} type="search" value={typed} onChange={setTyped} />;
}

interface ChoicesProps<Value extends string | number> {
  readonly label: string;
  readonly of: readonly (readonly [value: Value, text: string])[];
  readonly chosen: Value;
  readonly choose: (value: Value) => void;
}

/** Buttons of which one is chosen, such as the filters of a list. */
export function Choices<Value extends string | number>({ label, of, chosen, choose }: ChoicesProps<Value>) {
  return (
    <fieldset className="segments" aria-label={label}>
      {of.map(([value, text]) => (
        <button key={value} type="button" aria-pressed={value === chosen} onClick={() => choose(value)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}

/** Pages of a listing. `onePage` makes one of any response. */
interface Pages<P> {
  readonly data: { readonly pages: readonly P[] } | undefined;
  readonly error: Error | null;
  readonly refetch: () => unknown;
  readonly hasNextPage?: boolean;
  readonly isFetchingNextPage?: boolean;
  readonly isFetchNextPageError?: boolean;
  readonly fetchNextPage?: () => unknown;
}

export const onePage = <P,>({ data, error, refetch }: UseQueryResult<P>): Pages<P> => ({
  data: data && { pages: [data] },
  error,
  refetch,
});

interface PagedProps<P, Item> {
  readonly pages: Pages<P>;
  /** The name of the list, in the plural. */
  readonly label: string;
  readonly itemsOf: (page: P) => readonly Item[];
  readonly empty: ReactNode;
  /** Tiles take the place of the words while the first page is read. */
  readonly hasTiles?: boolean;
  /** Renders all items. */
  readonly children: (items: readonly Item[]) => ReactNode;
}

/** What has been read of a listing: the reason why it is nothing yet, or its items and a button for more. */
export function Paged<P, Item>({ pages, label, itemsOf, empty, hasTiles, children }: PagedProps<P, Item>) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = pages;
  if (data === undefined)
    return <Pending error={error} retry={refetch} what={`Reading ${label.toLowerCase()}`} hasTiles={hasTiles} />;
  const items = data.pages.flatMap(itemsOf);
  return (
    <>
      {items.length > 0 ? children(items) : hasNextPage ? <Empty title="Nothing so far." /> : empty}
      {hasNextPage && (
        <p className="more">
          <button type="button" disabled={isFetchingNextPage} onClick={() => fetchNextPage?.()}>
            Show more
          </button>
          {isFetchNextPageError && <Problem of={error} />}
        </p>
      )}
    </>
  );
}

interface ListingProps<P, Item> extends Omit<PagedProps<P, Item>, 'children'> {
  readonly keyOf: (item: Item) => Key;
  readonly className?: string;
  readonly above?: (items: readonly Item[]) => ReactNode;
  /** Renders the content of an item. */
  readonly children: (item: Item, all: readonly Item[]) => ReactNode;
}

/** A listing as a list. */
export function Listing<P, Item>({ keyOf, className = '', above, children, ...paged }: ListingProps<P, Item>) {
  return (
    <Paged {...paged}>
      {(items) => (
        <>
          {above?.(items)}
          <ul className={`lines ${className}`} aria-label={paged.label}>
            {items.map((item) => (
              <li key={keyOf(item)}>{children(item, items)}</li>
            ))}
          </ul>
        </>
      )}
    </Paged>
  );
}
