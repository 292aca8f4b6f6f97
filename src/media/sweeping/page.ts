/** One page of a sweep: what each part gets and returns. */
import type { Clock } from '#platform/clock.ts';
import type { ListedObject } from '#platform/objects/objects.ts';
import { posterIdOf } from '../assets/asset.ts';
import type { MediaStores } from '../context.ts';
import { findUnfinishedVideos } from '../tasks/taskstore.ts';
import type { SweepFinding, SweepRequest } from './api.ts';

export interface SweepPageRequest extends Pick<SweepRequest, 'apply' | 'acceptLostBuckets'> {
  /** The end of the previous page. */
  readonly after: string | undefined;
  /**
   * Set for sweeps that no operator started: they remove only what was created after that moment, and only under keys
   * that uploads have. A new database has no rows for objects from before it.
   */
  readonly aloneSince?: Date;
}

/** A bounded piece of a sweep. */
export interface SweepPage {
  readonly found: readonly SweepFinding[];
  /** `undefined`: this was the last page. */
  readonly next: string | undefined;
}

/** The first `most` objects of a listing. */
export async function pageOf(
  listing: AsyncIterable<ListedObject> | readonly ListedObject[],
  most: number,
): Promise<readonly ListedObject[]> {
  const page: ListedObject[] = [];
  for await (const object of listing) {
    page.push(object);
    if (page.length === most) break;
  }
  return page;
}

/** The item after which the next page begins. `undefined`: this is the last page. */
export const lastOf = <Item>(page: readonly Item[], most: number): Item | undefined =>
  page.length < most ? undefined : page.at(-1);

/** Far longer than any upload, registration or copy takes. */
const oldAfterMs = 24 * 3_600_000;

export function oldBefore(clock: Clock): Date {
  return new Date(clock.now() - oldAfterMs);
}

/** A resumable upload has 24 hours, and the last request of it six more. */
const resumableOldAfterMs = 2 * oldAfterMs;

export function resumableOldBefore(clock: Clock): Date {
  return new Date(clock.now() - resumableOldAfterMs);
}

// Uploads that a media task will process count as in use, registered or not (docs/specification/media.md#video-tasks).

/** For the owners of `objects`: ids of the videos, and of the posters that their jobs will register. */
export async function unfinishedVideos(
  { db }: MediaStores,
  objects: readonly { readonly ownerId: string }[],
): Promise<ReadonlySet<string>> {
  if (objects.length === 0) return new Set();
  const videos = await findUnfinishedVideos(db, [...new Set(objects.map(({ ownerId }) => ownerId))]);
  return new Set(videos.flatMap((assetId) => [assetId, posterIdOf(assetId)]));
}
