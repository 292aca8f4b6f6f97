/** Searches for words in texts. Store a text in its searchable form and compare it with `strpos`, which has no wildcards. */

/** The form in which texts and the words of a search are compared. */
export const searchable = (text: string) => text.normalize('NFKC').toLowerCase();

/** The different words of a query, each in its searchable form. */
export function searchWords(query: string): readonly string[] {
  return [
    ...new Set(
      searchable(query)
        .split(/\s+/)
        .filter((word) => word !== ''),
    ),
  ];
}
