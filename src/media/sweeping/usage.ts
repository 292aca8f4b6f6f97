/**
 * Uploads that a media task will process count as in use, registered or not (docs/specification/media.md#video-tasks).
 */
import { posterIdOf } from '../assets/asset.ts';
import { findUnfinishedVideos } from '../tasks/taskstore.ts';
import type { SweepDeps } from './page.ts';

/** For the owners of `objects`: ids of the videos, and of the posters that their jobs will register. */
export async function unfinishedVideos(
  { taskDb }: SweepDeps,
  objects: readonly { readonly ownerId: string }[],
): Promise<ReadonlySet<string>> {
  if (objects.length === 0) return new Set();
  const videos = await findUnfinishedVideos(taskDb, [...new Set(objects.map(({ ownerId }) => ownerId))]);
  return new Set(videos.flatMap((assetId) => [assetId, posterIdOf(assetId)]));
}
