/**
 * Finds what nobody needs any more, and removes it (docs/media.md, "What is left over"): a page at a time, so that a sweep
 * can be bounded, broken off and taken up again. Any number of sweeps may run at once, beside everything else.
 */
import { type SweepRequest, type Swept, sweepParts } from './api.ts';
import { sweepAssets } from './assets.ts';
import { sweepRegistrations } from './registrations.ts';
import type { SweepDeps, SweepPage, SweepTurn } from './turns.ts';
import { sweepUploads } from './uploads.ts';
import { sweepVariants } from './variants.ts';

type Part = (typeof sweepParts)[number];

const parts: Readonly<Record<Part, (deps: SweepDeps, turn: SweepTurn) => Promise<SweepPage>>> = {
  // First: what it leaves is found as uploads are.
  registrations: sweepRegistrations,
  uploads: sweepUploads,
  assets: sweepAssets,
  // Last: what the others remove takes its variants along.
  variants: sweepVariants,
};

/**
 * One page, from where `cursor` says, or the first; `aloneSince` as in SweepTurn, and then without assets and variants:
 * whether bytes are lost for good is for the operator to judge. Throws `engine_unavailable`; the same page may be swept again.
 */
export async function sweepPage(deps: SweepDeps, { apply, cursor }: SweepRequest, aloneSince?: Date): Promise<Swept> {
  const wanted: readonly Part[] = aloneSince === undefined ? sweepParts : ['registrations', 'uploads'];
  const { part, after } = cursor ?? { part: 'registrations', after: undefined };
  const { found, next } = await parts[part](deps, { apply, after, ...(aloneSince && { aloneSince }) });
  if (next !== undefined) return { found: [...found], cursor: `${part}:${next}` };
  const following = wanted[wanted.indexOf(part) + 1];
  return { found: [...found], cursor: following === undefined ? null : `${following}:` };
}
