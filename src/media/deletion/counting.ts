/** Counts the legacy files that a call deletes, each once in all concurrent calls (docs/specification/media.md#deletion). */
import { randomUUID } from 'node:crypto';
import type { Objects } from '#platform/objects/objects.ts';
import type { LookupDeps } from '../lookup/assetlookup.ts';
import { claimFiles, markSeen, releaseFiles } from './countingstore.ts';
import { findExisting } from './removal.ts';

/**
 * Returns the result of `work`, and how many of `paths` existed before it that no other call counts. `files` is the
 * legacy bucket. Another call can remove a file before the counting call sees it, so a call first records the files
 * that it saw.
 */
export async function countDeletedFiles<Result>(
  { db }: Pick<LookupDeps, 'db'>,
  files: Objects | undefined,
  paths: readonly string[],
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly count: number }> {
  if (files === undefined || paths.length === 0) return { result: await work(), count: 0 };
  const holder = randomUUID();
  const ours = await claimFiles(db, files.bucket, paths, holder);
  const isOurs = new Set(ours);
  let there: readonly string[] = [];
  let result: Result;
  try {
    there = await findExisting(files, paths);
    const others = there.filter((path) => !isOurs.has(path));
    if (others.length > 0) await markSeen(db, files.bucket, others);
    result = await work();
  } catch (error) {
    await releaseFiles(db, files.bucket, ours, holder);
    throw error;
  }
  const seenByOthers = await releaseFiles(db, files.bucket, ours, holder);
  const counted = new Set([...there.filter((path) => isOurs.has(path)), ...seenByOthers]);
  return { result, count: counted.size };
}
