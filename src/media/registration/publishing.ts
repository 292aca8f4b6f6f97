/** The last step of a registration, an import and a copy: a drafted row becomes readable, or is blocked. */
import { type AssetPlace, dropUnready, type StoredAsset } from '../assets/assetstore.ts';
import type { Bytes, MediaStores, ScreeningContext } from '../context.ts';
import { removeDerivatives, removeObject } from '../deletion/removal.ts';
import { isBlock, type Refusal, refusalProblem } from '../problems.ts';
import { settleReservations } from '../quota/reservationstore.ts';
import { type Finding, findBlockingLabel, refusalOf } from '../screening/incidentstore.ts';
import type { Match } from '../screening/screening.ts';

interface PublishingSteps {
  /** Why the bytes are blocked. `undefined`: they can be shown. */
  readonly match: Match | undefined;
  readonly finding: Omit<Finding, 'match'>;
  /** The object that a block removes. `undefined`: it stays. */
  readonly object?: Omit<Bytes, 'etag'>;
  /** Makes the row unreadable for good and records the incident. `false`: the row has changed. */
  readonly block: (finding: Finding) => Promise<boolean>;
  /** Whether the object still has the bytes that were inspected. */
  readonly isUnchanged: () => Promise<boolean>;
  /** `undefined`: the row has changed. */
  readonly markReady: () => Promise<StoredAsset | undefined>;
}

/**
 * The row was drafted before: a process that dies here leaves nothing readable. `undefined`: the row or the object has
 * changed, and everything has to be read again. Throws as the steps do.
 */
export async function publishDraft(
  deps: ScreeningContext,
  steps: PublishingSteps,
): Promise<StoredAsset | 'blocked' | undefined> {
  const { match, finding } = steps;
  if (match !== undefined) {
    const bytes = steps.object && { ...steps.object, etag: finding.etag };
    // Before the block: from then on, any call may remove the object.
    const evidenceUntil = bytes && (await deps.quarantine?.keep(bytes, finding.digests.sha256, match));
    if (!(await steps.block({ ...finding, match, evidenceUntil }))) return undefined;
    deps.countIncident?.(match);
    return 'blocked';
  }
  // A refusal that finished before the draft was written has removed the object; a later one finds the draft.
  if (!(await steps.isUnchanged())) return undefined;
  return steps.markReady();
}

// Uploads that cannot become assets. The row contains the reason until the object is removed. Then the row is deleted too.

interface RefusedUpload extends Pick<AssetPlace, 'storageKey' | 'etag'> {
  readonly assetId: string;
  readonly refusal: Refusal;
}

/**
 * Removes the refused bytes and then their row. Does not remove bytes that were uploaded since. For blocked bytes, also
 * removes the derivatives, which `/v1/ensure` makes without a row. Resolves with `false` if there are other bytes by
 * now.
 */
export async function removeRefused(
  deps: MediaStores,
  { assetId, storageKey, etag, refusal }: RefusedUpload,
): Promise<boolean> {
  const { db, objects } = deps;
  const head = await objects.head(storageKey);
  const isReplaced = head !== undefined && head.etag !== etag;
  if (head !== undefined && !isReplaced) await removeObject(objects, storageKey);
  if (isBlock(refusal)) await removeDerivatives(deps, { backend: 'objects', objects }, [storageKey]);
  await dropUnready(db, assetId, etag);
  if (!isReplaced) await settleReservations(db, storageKey);
  return !isReplaced;
}

export const blockProblem = (match: Match | undefined) => refusalProblem(refusalOf(match), match?.list);

/** As `removeRefused`, and throws the refusal. `undefined`: there are other bytes, which must be inspected. */
export async function refuse(deps: MediaStores, refused: RefusedUpload): Promise<undefined> {
  if (!(await removeRefused(deps, refused))) return;
  const { assetId, refusal } = refused;
  throw refusalProblem(refusal, refusal === 'content_blocked' ? await findBlockingLabel(deps.db, assetId) : undefined);
}
