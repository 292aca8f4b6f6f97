/** Content that is blocked, and uploads that cannot become assets. */
import { type AssetPlace, dropUnready } from '../assets/assetstore.ts';
import type { MediaStores, ScreeningContext } from '../context.ts';
import { removeDerivatives, removeObject } from '../deletion/removal.ts';
import { blockAndPublish } from '../events.ts';
import { isBlock, type Refusal, refusalProblem } from '../problems.ts';
import { settleReservations } from '../quota/reservationstore.ts';
import {
  type blockAsset,
  type Finding,
  findBlockingLabel,
  refusalOf,
  type Suspect,
} from '../screening/incidentstore.ts';
import type { Match } from '../screening/screening.ts';
import { withInvalidation } from '../signing/signedurlcache.ts';

/**
 * Makes a row unreadable for good (`change`) and records the incident. `storageKey`: of the object that is removed after
 * it, of which evidence is retained. The same bytes may have been registered, and their URLs cached, a moment before a list was
 * changed. `false`: the row has changed.
 */
export async function blockRow(
  deps: ScreeningContext,
  change: typeof blockAsset,
  suspect: Suspect,
  finding: Omit<Finding, 'evidenceUntil'>,
  storageKey: string | undefined,
): Promise<boolean> {
  const { assetId } = suspect;
  const { etag, digests, match } = finding;
  // Before the block: from then on, any call may remove the object.
  const evidenceUntil =
    storageKey === undefined
      ? undefined
      : await deps.quarantine?.keep({ assetId, storageKey, etag }, digests.sha256, match);
  const found = { ...finding, evidenceUntil };
  const isBlocked = await withInvalidation(deps, [assetId], () =>
    blockAndPublish(deps, found, (tx) => change(tx, suspect, found)),
  );
  if (isBlocked) deps.countIncident?.(match);
  return isBlocked;
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

export const blockProblem = (match: Match) => refusalProblem(refusalOf(match), match.list);

/** As `removeRefused`, and throws the refusal. `undefined`: there are other bytes, which must be inspected. */
export async function refuse(deps: MediaStores, refused: RefusedUpload): Promise<undefined> {
  if (!(await removeRefused(deps, refused))) return;
  const { assetId, refusal } = refused;
  throw refusalProblem(refusal, refusal === 'content_blocked' ? await findBlockingLabel(deps.db, assetId) : undefined);
}
