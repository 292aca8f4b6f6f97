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
