import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import type { Caller } from '#platform/access/caller.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { ownerId, uuid } from '../api.ts';
import { ownerFor } from '../assets/ownership.ts';
import { assertOwn } from '../collections/collections.ts';
import type { MediaContext } from '../context.ts';
import { withInvalidation } from '../signing/signedurlcache.ts';
import { markTrashed } from './trashstore.ts';

// The trash of an owner's assets (docs/specification/media.md#trash).

export const trashChange = z.strictObject({
  ids: z.array(uuid).min(1).max(1000),
  trashed: z.boolean().describe('`true`: into the trash. `false`: back out of it.'),
  ownerId,
});
type TrashChange = z.output<typeof trashChange>;

export const trashChanged = z.object({
  changed: z.int().describe('The number of assets that changed, without the thumbnails of videos.'),
});
export type TrashChanged = z.output<typeof trashChanged>;

export function addTrashRoutes(app: HttpServer, access: Access, deps: MediaContext): void {
  routesOf(app, 'media').post('/v1/trash', access.userOrInternal, {
    id: 'changeTrash',
    summary: 'Move assets to the trash, or restore them',
    description:
      'Moves up to 1000 assets of the owner to the trash, or restores them. Assets in the trash are deleted after 30 days. You can repeat the request.',
    problems: ['forbidden', 'not_found'],
    example: { ids: ['0d9f5a34-6f0e-4c7a-9d0b-2f6b8f1c7e11'], trashed: true },
    client: { repeatable: true },
    body: trashChange,
    response: { 200: trashChanged },
    handler: async ({ caller, body }) => changeTrash(deps, caller, body),
  });
}

// Moves assets into the trash and out of it. The bytes stay where they are, so nothing can be lost half-way.

/** Throws 404 if an id is not a readable asset of the owner. */
async function changeTrash(
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
