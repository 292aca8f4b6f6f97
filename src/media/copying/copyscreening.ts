/**
 * Decides whether a copy can be shown (docs/specification/media.md#copies). A screened source in the object store is
 * matched by its stored digests, without reading its bytes. Other sources are read and screened as in a registration.
 */
import type { Db } from '#platform/db/db.ts';
import type { Objects } from '#platform/objects/objects.ts';
import type { AssetFacts, MediaTables } from '../assets/assetstore.ts';
import { isImage } from '../assets/sizelimits.ts';
import { refusalProblem } from '../problems.ts';
import { factsOf, type InspectionDeps, screenInspected, withInspected } from '../registration/inspection.ts';
import type { ExactDigests } from '../screening/messages.ts';
import type { Digests, Screening } from '../screening/screening.ts';
import { decideBy, type Verdict } from '../screening/verdicts.ts';
import type { CopySource } from './copysource.ts';
import type { CopiedObject } from './transfer.ts';

export interface CopyScreeningDeps extends InspectionDeps {
  /** The store of copies. */
  readonly objects: Objects;
  readonly screening: Screening;
  readonly db: Db<MediaTables>;
}

/** A copy whose bytes exist. */
export interface WrittenCopy {
  readonly assetId: string;
  readonly storageKey: string;
  readonly head: CopiedObject;
}

export interface CopyScreening {
  readonly facts: AssetFacts;
  readonly digests: Digests;
  readonly isImage: boolean;
  readonly verdict: Verdict;
}

/**
 * `undefined`: the bytes have changed. Throws 413 and 422 as a registration does, `overloaded`, `engine_unavailable`,
 * `digest_pending` and `screening_unavailable`.
 */
export async function screenCopy(
  deps: CopyScreeningDeps,
  source: CopySource,
  { assetId, storageKey, head }: WrittenCopy,
): Promise<CopyScreening | undefined> {
  const { facts: known, isScreened, mime } = source;
  if (isScreened) {
    const screened = await judgeStored(deps, source);
    // The copy's own bytes: the lists were asked for those of its source.
    return head.digests === undefined ? screened : withDigests(screened, head.digests);
  }
  if (head.digests === undefined && source.backend === 'objects' && source.etag !== undefined && !isImage(mime)) {
    // The same bytes, under a key that another attempt of the call reads too.
    const digests = await deps.digester.digestsOf(source.objects, source.storageKey, { ...head, etag: source.etag });
    if (digests === undefined) return undefined;
    deps.digester.add(deps.objects, storageKey, head.etag, digests);
  }
  return withInspected(deps, { storageKey, head, mime }, async (inspection) => {
    if (inspection === undefined) return undefined;
    if (typeof inspection === 'string') throw refusalProblem(inspection);
    const verdict = await screenInspected(deps, assetId, inspection);
    return {
      facts: factsOf(known, inspection),
      digests: inspection.digests,
      isImage: inspection.image !== undefined,
      verdict,
    };
  });
}

function withDigests(screened: CopyScreening, own: ExactDigests): CopyScreening {
  return { ...screened, facts: { ...screened.facts, ...own }, digests: { ...screened.digests, ...own } };
}

async function judgeStored(
  { db, screening }: CopyScreeningDeps,
  { facts, labels }: CopySource,
): Promise<CopyScreening> {
  const { sha256, md5, pdq, pdqQuality } = facts;
  if (sha256 === null || md5 === null) throw new Error('a screened asset has no digests');
  const digests = { sha256, md5, pdq, pdqQuality };
  const verdict = await decideBy(db, sha256, await screening.judgeKnown(digests, labels));
  return { facts, digests, isImage: pdq !== null, verdict };
}
