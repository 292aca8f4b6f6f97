/** Filters in the URL, so that a view can be bookmarked, sent, and reached by the Back button. An empty one does not filter. */

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
