/** A page of the console, and its path. */
import type { LucideIcon } from 'lucide-react';
import type { ComponentType } from 'react';
import type { ConsoleInfo } from '../../api.ts';

export interface Page {
  /** May end with one optional parameter. */
  readonly path: string;
  readonly title: string;
  readonly Icon: LucideIcon;
  /** The shortcut that opens it. */
  readonly keys?: string;
  /** What it shows, by which the palette finds it, too. */
  readonly note?: string;
  /** Has no properties. It reads parameters of the path with `useParams`. */
  readonly View: ComponentType;
  /** Needs no session. */
  readonly isPublic?: boolean;
  /** It searches for `q` of its URL, and the palette offers that. */
  readonly isSearched?: boolean;
  /** A page is omitted if its service does not run. */
  readonly isAvailable?: (info: ConsoleInfo) => boolean;
}

/** The path without its parameter. */
export const linkOf = ({ path }: Page): string => path.replace(/\/:.*$/, '');

export function findPage(pages: readonly Page[], path: string): Page | undefined {
  const takesParameter = (page: Page) => page.path !== linkOf(page);
  return pages.find((page) => path === linkOf(page) || (takesParameter(page) && path.startsWith(`${linkOf(page)}/`)));
}

// Filters in the URL, so that a view can be bookmarked, sent, and reached by the Back button. An empty one does not filter.

/** Takes over from the URL what is allowed. */
export function fromSearch<Name extends string>(allowed: Readonly<Record<Name, RegExp>>, search: string) {
  const query = new URLSearchParams(search);
  const entries = Object.entries<RegExp>(allowed).map(([name, pattern]) => {
    const value = query.get(name) ?? '';
    return [name, pattern.test(value) ? value : ''];
  });
  return Object.fromEntries(entries) as Readonly<Record<Name, string>>;
}

/** Empty for no filters. */
export function toSearch(filters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== ''));
  return query.size === 0 ? '' : `?${query}`;
}
