/** A list that the server returns page by page. */
import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';
import { Tabs } from 'radix-ui';
import { type Key, type ReactNode, useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { callJson } from '../calls.ts';
import { Choice, TextField, useTyped } from './fields.tsx';
import { keyOf, urlOf } from './server.ts';
import { Empty, Pending, Problem } from './states.tsx';

interface Page {
  readonly next_cursor: string | null;
}
type Pages<P> = UseInfiniteQueryResult<InfiniteData<P>>;

/** Empty values of `query` are omitted. A phone loads fewer at once. */
export function usePages<P extends Page>(path: string, query: Readonly<Record<string, string>> = {}): Pages<P> {
  const limit = matchMedia('(max-width: 599px)').matches ? '20' : '';
  return useInfiniteQuery({
    queryKey: keyOf(`${path}/pages`, { ...query, limit }),
    queryFn: ({ pageParam: cursor, signal }) => callJson<P>(urlOf(path, { ...query, limit, cursor }), { signal }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor,
    placeholderData: (before) => before,
  });
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

type View = readonly [value: string, label: string, View: () => ReactNode];

/** The views of a page. The URL has the chosen one, so Back returns to the one before. */
export function Views({ of: views }: { readonly of: readonly View[] }) {
  const [search, setSearch] = useSearchParams();
  const chosen = (views.find(([value]) => value === search.get('tab')) ?? views[0])?.[0];
  return (
    <Tabs.Root {...(chosen && { value: chosen })} onValueChange={(tab) => setSearch({ tab })}>
      <Tabs.List className="tabs" aria-label="Views">
        {views.map(([value, label]) => (
          <Tabs.Trigger key={value} value={value}>
            {label}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      {views.map(([value, , Shown]) => (
        <Tabs.Content key={value} value={value}>
          <Shown />
        </Tabs.Content>
      ))}
    </Tabs.Root>
  );
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

interface ListingProps<P, Item> {
  readonly pages: Pages<P>;
  /** The name of the list, in the plural. */
  readonly label: string;
  readonly itemsOf: (page: P) => readonly Item[];
  readonly keyOf: (item: Item) => Key;
  readonly empty: ReactNode;
  readonly above?: (items: readonly Item[]) => ReactNode;
  /** Renders the content of an item. */
  readonly children: (item: Item) => ReactNode;
}

export function Listing<P, Item>({
  pages: { data, error, refetch, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage },
  label,
  itemsOf,
  keyOf,
  empty,
  above,
  children,
}: ListingProps<P, Item>) {
  if (data === undefined) return <Pending error={error} retry={refetch} what={`Reading ${label.toLowerCase()}`} />;
  const items = data.pages.flatMap(itemsOf);
  return (
    <>
      {above?.(items)}
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
          {isFetchNextPageError && <Problem of={error} />}
        </p>
      )}
    </>
  );
}
