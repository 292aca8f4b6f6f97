/** Moves assets into the trash and out of it. The bytes stay where they are, so nothing can be lost half-way. */
import type { Caller } from '#platform/access/caller.ts';
import { ownerFor } from '../assets/ownership.ts';
import { assertOwn } from '../collections/collections.ts';
import type { MediaContext } from '../context.ts';
import { withInvalidation } from '../signing/signedurlcache.ts';
import type { TrashChange, TrashChanged } from './api.ts';
import { markTrashed } from './trashstore.ts';

/** Throws 404 if an id is not a readable asset of the owner. */
export async function changeTrash(
  deps: MediaContext,
  caller: Caller,
  { ids, trashed, ownerId: named }: TrashChange,
): Promise<TrashChanged> {
  const ownerId = ownerFor(caller, named);
  await assertOwn(deps.db, ownerId, ids);
  // Cached responses decide by the scope who can read an asset. In the trash, only its owner can.
  const moved = await withInvalidation(deps, ids, () => markTrashed(deps.db, ownerId, ids, trashed));
  if (moved.length > 0) deps.news.changed(ownerId);
  const wanted = new Set(ids);
  return { changed: moved.filter((assetId) => wanted.has(assetId)).length };
}
