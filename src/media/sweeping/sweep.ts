/**
 * Finds leftovers and removes them (docs/media.md#unused-objects-and-rows), one page at a time, so that a sweep can be bounded,
 * interrupted and resumed. Any number of sweeps can run concurrently with each other and with requests.
 */
import type { MediaStores } from '../context.ts';
import { type SweepFinding, type SweepRequest, type Swept, sweepParts } from './api.ts';
import { sweepAssets } from './assets.ts';
import { sweepEvidence } from './evidence.ts';
import { resumableOldBefore, type SweepPage, type SweepPageRequest } from './page.ts';
import { sweepRegistrations } from './registrations.ts';
import { sweepTrash } from './trash.ts';
import { sweepUploads } from './uploads.ts';
import { sweepVariants } from './variants.ts';

type Part = (typeof sweepParts)[number];

const parts: Readonly<Record<Part, (deps: MediaStores, page: SweepPageRequest) => Promise<SweepPage>>> = {
  // First, because the objects that it leaves are then found as uploads.
  registrations: sweepRegistrations,
  uploads: sweepUploads,
  resumable: sweepResumable,
  evidence: sweepEvidence,
  trash: sweepTrash,
  assets: sweepAssets,
  // Last, because the other parts remove the variants of what they remove.
  variants: sweepVariants,
};

/**
 * Sweeps one page from `cursor`, or the first. `aloneSince` as in SweepPageRequest; it excludes assets and variants,
 * because operators decide whether bytes are lost for good. Throws `engine_unavailable`. The same page can be repeated.
 */
export async function sweepPage(
  deps: MediaStores,
  { apply, acceptLostBuckets, cursor }: SweepRequest,
  aloneSince?: Date,
): Promise<Swept> {
  const wanted: readonly Part[] =
    aloneSince === undefined ? sweepParts : ['registrations', 'uploads', 'resumable', 'evidence', 'trash'];
  const { part, after } = cursor ?? { part: 'registrations', after: undefined };
  const { found, next } = await parts[part](deps, {
    apply,
    acceptLostBuckets,
    after,
    ...(aloneSince && { aloneSince }),
  });
  if (next !== undefined) return { found: [...found], cursor: `${part}:${next}` };
  const following = wanted[wanted.indexOf(part) + 1];
  return { found: [...found], cursor: following === undefined ? null : `${following}:` };
}

const uploadsPerPage = 1000;

/**
 * Sweeps the parts of uploads that were not completed, which no listing of objects shows. An upload without a byte for
 * this long has expired, and cannot be continued.
 */
async function sweepResumable(
  { objects, clock }: MediaStores,
  { apply, after }: Pick<SweepPageRequest, 'apply' | 'after'>,
): Promise<SweepPage> {
  const before = resumableOldBefore(clock);
  const { idle, next } = await objects.resumable.sweep({ before, apply, after, limit: uploadsPerPage });
  const fate = apply ? 'removed' : 'found';
  return { found: idle.map((key): SweepFinding => ({ what: 'unfinished_upload', fate, key })), next };
}
