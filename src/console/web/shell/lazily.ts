/** Pages that are loaded when they are first shown. */
import { type ComponentType, lazy } from 'react';

/** The code of a page could not be loaded: the server is away, or has another version of the pages. */
export class PageNotLoaded extends Error {
  constructor(cause: unknown) {
    super('This page could not be loaded.', { cause });
    this.name = 'PageNotLoaded';
  }
}

export function lazily(load: () => Promise<ComponentType | undefined>): ComponentType {
  return lazy(async () => {
    try {
      const View = await load();
      if (View === undefined) throw new Error('A different version of the page was loaded.');
      return { default: View };
    } catch (cause) {
      if (await canReload()) {
        location.reload();
        // The page ends here.
        await new Promise(() => undefined);
      }
      throw new PageNotLoaded(cause);
    }
  });
}

const reloadedKey = 'atelier.reloaded';
const betweenReloadsMs = 60_000;

/** After an update of the server, a reload helps. It is made once, and only if the server responds. */
async function canReload(): Promise<boolean> {
  if (Date.now() - Number(sessionStorage.getItem(reloadedKey) ?? 0) < betweenReloadsMs) return false;
  const isThere = await fetch('/favicon.svg', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (isThere) sessionStorage.setItem(reloadedKey, String(Date.now()));
  return isThere;
}
