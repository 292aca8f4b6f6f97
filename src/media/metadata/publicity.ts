/** Decides whose files lose their metadata (MEDIA_STRIP_METADATA; docs/specification/media.md#metadata). */

export const strippings = ['public', 'all', 'none'] as const;
export type Stripping = (typeof strippings)[number];

/** `isOthers`: another person gets the file, in a scope that is not public. */
export function strips(
  stripMetadata: Stripping,
  publicScopes: readonly string[],
  scopeKind: string,
  isOthers = false,
): boolean {
  if (stripMetadata === 'none') return false;
  return stripMetadata === 'all' || publicScopes.includes(scopeKind) || isOthers;
}
