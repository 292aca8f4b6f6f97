/**
 * One order of an image, by a run, over MCP or by an endpoint. Its credits are reserved for the asset that it becomes, a provider
 * makes the image, and the media service charges for it in the transaction that makes it readable. If the credits went back in
 * the meantime, the image is removed there.
 */
import type { Generated, Image } from '../providers/generators.ts';
import { assetIdOf, type Deposit, keepMade, type LibraryDeps } from '../services/library.ts';

export interface ImageOrder {
  /** Of the reservation. */
  readonly reference: string;
  readonly ownerId: string;
  readonly threadId: string;
  /** Absent: the model made the image without one. */
  readonly prompt?: string;
  /** Default: `image`. */
  readonly kind?: Deposit['kind'];
  readonly generation?: Deposit['generation'];
}

/** A reservation of `amount` for the image. */
export const reservationOf = (
  { reference, ownerId }: Pick<ImageOrder, 'reference' | 'ownerId'>,
  scope: string,
  amount: number,
) => ({ reference, scope, userId: ownerId, amount, assetId: assetIdOf(reference) });

/** Rejects as `keep` does, and with the signal's reason if it is aborted before the image is made. */
export async function deliverImage(
  deps: LibraryDeps,
  order: ImageOrder,
  make: () => Promise<Image & Generated & Pick<Deposit, 'generated'>>,
  signal: AbortSignal,
): Promise<{ readonly assetId: string; readonly mime: string }> {
  const image = await make();
  signal.throwIfAborted();
  // Orders of runs, MCP and endpoints all end here. Edits name their own mark.
  return keepMade(deps, { generated: 'ai', ...order, ...image, kind: order.kind ?? 'image' });
}
