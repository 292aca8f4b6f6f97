/** Legacy files that a call deletes, counted once however many calls delete them at once (document 000, `deletedLegacy`). */
import { randomUUID } from 'node:crypto';
import type { Objects } from '#platform/objects/objects.ts';
import type { LocatingDeps } from '../locating.ts';
import { countByHeads } from '../removal.ts';
import { claimCounting, releaseCounting } from './store.ts';

/**
 * What `work` gives, and how many of `paths` there were before it that no other call is deleting. `files` is the legacy
 * bucket.
 */
export async function countingFiles<Result>(
  { db }: Pick<LocatingDeps, 'db'>,
  files: Objects | undefined,
  paths: readonly string[],
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly count: number }> {
  if (files === undefined || paths.length === 0) return { result: await work(), count: 0 };
  const holder = randomUUID();
  const ours = await claimCounting(db, files.bucket, paths, holder);
  try {
    const count = await countByHeads(files, ours);
    return { result: await work(), count };
  } finally {
    // After a failure the claim runs out by itself.
    await releaseCounting(db, files.bucket, ours, holder);
  }
}
