/**
 * Uploads that cannot become assets. The row contains the reason until the object is removed. Then the row is deleted
 * too.
 */

import { type AssetPlace, dropUnready } from '../assets/assetstore.ts';
import type { MediaStores } from '../context.ts';
import { removeDerivatives, removeObject } from '../deletion/removal.ts';
import { isBlock, type Refusal, refusalProblem } from '../problems.ts';
import { settleReservations } from '../quota/reservationstore.ts';
import { findBlockingLabel, refusalOf } from '../screening/incidentstore.ts';
import type { Match } from '../screening/screening.ts';

export interface RefusedUpload extends Pick<AssetPlace, 'storageKey' | 'etag'> {
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
