/** How assets are named by callers: by a UUID, or by a path in the legacy backend (document 000, Conventions: ref). */
import { isSafeKey } from '#platform/objects/keys.ts';

export { isUuid } from '#platform/uuid.ts';

/** Contains `/`, and is no trick: no `..`, empty or absolute segments (CONTRACT §4). */
export function isLegacyPath(ref: string): boolean {
  return ref.includes('/') && isSafeKey(ref);
}

/** The beginning of legacy paths; it may end in `/`, and is never empty, which would mean everything. */
export function isLegacyPrefix(prefix: string): boolean {
  return isSafeKey(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix);
}
