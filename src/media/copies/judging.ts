/**
 * Whether a copy may be shown (CONTRACT §4). What was screened when it came into the object store is judged by what was kept
 * then, and no byte of it is read; what was not is read and screened as at a registration.
 */
import type { ObjectHead, Objects } from '#platform/objects/objects.ts';
import { factsOf, type InspectionDeps, inspectPicture, isPicture, placeForPicture } from '../inspection.ts';
import type { SizeLimits } from '../limits.ts';
import { refusalProblem } from '../problems.ts';
import type { Match, PictureDigests, Screening } from '../screening/screening.ts';
import type { AssetFacts } from '../store.ts';
import type { CopySource } from './sources.ts';

export interface JudgingDeps extends InspectionDeps {
  /** Where copies go. */
  readonly objects: Objects;
  readonly limits: SizeLimits;
  readonly screening: Screening;
}

/** A copy whose bytes are there. */
export interface WrittenCopy {
  readonly assetId: string;
  readonly storageKey: string;
  readonly head: ObjectHead;
}

export interface Judgement {
  readonly facts: AssetFacts;
  /** `undefined`: it is no picture. */
  readonly digests: PictureDigests | undefined;
  /** `undefined`: it may be shown. */
  readonly match: Match | undefined;
}

/**
 * `undefined`: the bytes have become others. Throws 413 and 422 as a registration does, `overloaded`, `engine_unavailable`
 * and `screening_unavailable`.
 */
export async function judgeCopy(
  deps: JudgingDeps,
  source: CopySource,
  { assetId, storageKey, head }: WrittenCopy,
): Promise<Judgement | undefined> {
  const { facts: told, isScreened } = source;
  if (isScreened) return judgeByDigests(deps, told);
  const isShown = await isPicture(deps.objects, storageKey, head, source.mime);
  if (isShown === undefined) return undefined;
  if (!isShown) return { facts: told, digests: undefined, match: undefined };
  const leave = await placeForPicture(deps, storageKey);
  try {
    const picture = await inspectPicture(deps, storageKey, head);
    if (picture === undefined) return undefined;
    if (typeof picture === 'string') throw refusalProblem(picture);
    const { bytes, digests } = picture;
    const match = await deps.screening.screen({ assetId, mime: picture.facts.mime, bytes }, digests);
    return { facts: factsOf(told, picture), digests, match };
  } finally {
    leave();
  }
}

async function judgeByDigests({ screening }: JudgingDeps, facts: AssetFacts): Promise<Judgement> {
  const { sha256, md5, pdq, pdqQuality } = facts;
  // Of a picture all are kept, whatever it is called.
  if (sha256 === null || md5 === null || pdq === null || pdqQuality === null)
    return { facts, digests: undefined, match: undefined };
  const digests = { sha256, md5, pdq, pdqQuality };
  return { facts, digests, match: await screening.judgeDigests(digests) };
}
