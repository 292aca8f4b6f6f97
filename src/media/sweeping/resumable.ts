/** Resumable uploads that were not completed: their parts, which no listing of objects shows. */
import type { SweepFinding } from './api.ts';
import { resumableOldBefore, type SweepDeps, type SweepPageRequest } from './page.ts';

/** An upload without a byte for this long has expired, and cannot be continued. */
export async function sweepResumable(
  { objects, clock }: Pick<SweepDeps, 'objects' | 'clock'>,
  { apply }: Pick<SweepPageRequest, 'apply'>,
): Promise<readonly SweepFinding[]> {
  const names = await objects.resumable.sweep(resumableOldBefore(clock), apply);
  const fate = apply ? 'removed' : 'found';
  return names.map((key): SweepFinding => ({ what: 'unfinished_upload', fate, key }));
}
