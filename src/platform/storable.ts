/** What PostgreSQL cannot hold, as text or as JSON: NUL, and halves of surrogate pairs. */

const unstorable = 'must not contain NUL or lone surrogates';

export interface Unstorable {
  /** Below `path`: `body.data.list.0`. */
  readonly path: string;
  readonly message: string;
}

/** The first text or key in a parsed JSON value that cannot be stored. Its depth is the body parser's to bound. */
export function findUnstorable(value: unknown, path: string): Unstorable | undefined {
  if (typeof value === 'string') return isStorableText(value) ? undefined : { path, message: unstorable };
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    // The key itself cannot be named in an answer.
    if (!isStorableText(key)) return { path, message: `${unstorable} in its field names` };
    const found = findUnstorable(inner, `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Whether JSON with at most `maxDepth` levels can be stored: PostgreSQL refuses NUL and lone surrogates. */
export function isStorableJson(value: unknown, maxDepth: number): boolean {
  if (typeof value === 'string') return isStorableText(value);
  if (typeof value !== 'object' || value === null) return true;
  if (maxDepth === 0) return false;
  return Object.entries(value).every(([key, inner]) => isStorableText(key) && isStorableJson(inner, maxDepth - 1));
}
