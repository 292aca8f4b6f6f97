/** Text and JSON that PostgreSQL can store, without NUL and lone surrogates, and the form in which it is searched. */

const unstorable = 'must not contain NUL or lone surrogates';

interface Unstorable {
  /** The path of the field: `body.data.list.0`. */
  readonly path: string;
  readonly message: string;
}

export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The beginning of a text of another program, as one line that can be stored. The cut may split a surrogate pair. */
export function toStorableLine(text: string, maxLength: number): string {
  return text
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, maxLength)
    .toWellFormed();
}

/** Checks keys and strings at every level. `maxDepth`: how many objects and arrays may be nested in each other. */
export function isStorableJson(value: unknown, maxDepth: number): boolean {
  if (typeof value === 'string') return isStorableText(value);
  if (typeof value !== 'object' || value === null) return true;
  if (maxDepth === 0) return false;
  return Object.entries(value).every(([key, inner]) => isStorableText(key) && isStorableJson(inner, maxDepth - 1));
}

/** Finds the first string or key in a parsed JSON value that cannot be stored. The body parser limits its depth. */
export function findUnstorable(value: unknown, path: string): Unstorable | undefined {
  if (typeof value === 'string') return isStorableText(value) ? undefined : { path, message: unstorable };
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    // The path cannot include the key, because a response cannot contain these characters.
    if (!isStorableText(key)) return { path, message: `${unstorable} in its field names` };
    const found = findUnstorable(inner, `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

// Searches for words in texts. Store a text in its searchable form and compare it with `strpos`, which has no wildcards.

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
