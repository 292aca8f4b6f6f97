/** Who owns an asset, and who can read it (docs/specification/media.md#ownership). */
import type { Caller } from '#platform/access/caller.ts';
import { invalid, problems } from '#platform/problem.ts';

/**
 * Returns the owner that a request acts for. A user is always the owner and can name itself; a server must name one.
 * Throws 400 (server without `ownerId`) and 403 (user naming another owner).
 */
export function ownerFor(caller: Caller, named: string | undefined, field = 'body.ownerId'): string {
  if (caller.kind === 'internal') {
    if (named === undefined) throw invalid(field, 'is required with X-Internal-Key');
    return named;
  }
  if (named !== undefined && named !== caller.userId) {
    throw problems.forbidden({ message: 'ownerId must be the user of the token.' });
  }
  return caller.userId;
}

/**
 * Throws 400 for an id that the product derives from other names: of an imported legacy file (registration/importing.ts),
 * or of a poster. They are UUIDs of version 5 and can be computed, so users must not take them before the product does.
 */
export function assertOwnId(caller: Caller, assetId: string | undefined): void {
  if (caller.kind !== 'internal' && assetId !== undefined && assetId[14] === '5')
    throw invalid('body.assetId', 'must not be a UUID of version 5, which is reserved for imported files');
}

/** Users read their own assets and those in public scopes; servers read all. */
export function mayRead(
  caller: Caller,
  asset: {
    readonly ownerId: string;
    readonly scopeKind: string;
    readonly restrictedAt?: Date | null;
    readonly trashedAt?: Date | null;
  },
  publicScopes: readonly string[],
): boolean {
  if (caller.kind === 'internal' || asset.ownerId === caller.userId) return true;
  return (asset.restrictedAt ?? asset.trashedAt ?? null) === null && publicScopes.includes(asset.scopeKind);
}

/** Users read legacy paths below their own id and below the name of a public scope; servers read all. */
export function mayReadPath(caller: Caller, path: string, publicScopes: readonly string[]): boolean {
  if (caller.kind === 'internal') return true;
  const first = path.slice(0, path.indexOf('/'));
  return first === caller.userId || publicScopes.includes(first);
}

/** Users can delete and copy only their own legacy files (docs/specification/media.md#deletion). Throws 403. */
export function assertOwnLegacyPaths(caller: Caller, paths: readonly string[]): void {
  if (caller.kind === 'internal') return;
  const own = [`${caller.userId}/`, `feed/${caller.userId}/`, `avatars/${caller.userId}/`];
  if (!paths.every((path) => own.some((start) => path.startsWith(start))))
    throw problems.forbidden({ message: 'Legacy paths must be your own.' });
}
