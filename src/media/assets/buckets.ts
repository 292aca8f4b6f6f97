/** The buckets of assets: one for originals, and those of the legacy backend. */
import type { Objects } from '#platform/objects/objects.ts';
import type { MediaStores } from '../context.ts';

/** Concurrent HEAD requests of one call: half of the connections that an S3 client has. */
export const headsAtOnce = 32;

/** The bucket that a row names. `undefined`: it is not configured, so nothing is known about the bytes. */
export function bucketOf(
  { objects, legacy }: MediaStores,
  row: { readonly backend: 'objects' | 'legacy'; readonly bucket: string },
): Objects | undefined {
  if (row.backend === 'legacy') return legacy.bucket(row.bucket);
  return row.bucket === objects.bucket ? objects : undefined;
}
