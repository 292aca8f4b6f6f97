/**
 * Uploads that a media task will process count as in use, registered or not (docs/specification/media.md#video-tasks).
 */
import { posterIdOf } from '../assets/asset.ts';
import type { MediaStores } from '../context.ts';
import { findUnfinishedVideos } from '../tasks/taskstore.ts';

/** For the owners of `objects`: ids of the videos, and of the posters that their jobs will register. */
export async function unfinishedVideos(
  { db }: MediaStores,
  objects: readonly { readonly ownerId: string }[],
): Promise<ReadonlySet<string>> {
  if (objects.length === 0) return new Set();
  const videos = await findUnfinishedVideos(db, [...new Set(objects.map(({ ownerId }) => ownerId))]);
  return new Set(videos.flatMap((assetId) => [assetId, posterIdOf(assetId)]));
}
