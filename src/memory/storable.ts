/** What PostgreSQL cannot hold: NUL, and halves of surrogate pairs (docs/specification/memory.md#memory-fields). */

export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Keys and texts within are judged likewise. At most `deepest` objects and arrays within each other. */
export function isStorableJson(value: unknown, deepest: number): boolean {
  if (typeof value === 'string') return isStorableText(value);
  if (typeof value !== 'object' || value === null) return true;
  if (deepest === 0) return false;
  if (Array.isArray(value)) return value.every((item) => isStorableJson(item, deepest - 1));
  return Object.entries(value).every(([key, item]) => isStorableText(key) && isStorableJson(item, deepest - 1));
}
