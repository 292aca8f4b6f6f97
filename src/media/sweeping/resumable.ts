/** Resumable uploads that were not completed: their parts, which no listing of objects shows. */
import type { SweepFinding } from './api.ts';
import { resumableOldBefore, type SweepDeps, type SweepPage, type SweepPageRequest } from './page.ts';

const uploadsPerPage = 1000;

/** An upload without a byte for this long has expired, and cannot be continued. */
export async function sweepResumable(
  { objects, clock }: Pick<SweepDeps, 'objects' | 'clock'>,
  { apply, after }: Pick<SweepPageRequest, 'apply' | 'after'>,
): Promise<SweepPage> {
  const before = resumableOldBefore(clock);
  const { idle, next } = await objects.resumable.sweep({ before, apply, after, limit: uploadsPerPage });
  const fate = apply ? 'removed' : 'found';
  return { found: idle.map((key): SweepFinding => ({ what: 'unfinished_upload', fate, key })), next };
}
