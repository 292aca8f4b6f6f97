/**
 * One order of an image, by a run, over MCP or by an endpoint. Its credits are reserved for the asset that it becomes, a provider
 * makes the image, and the media service charges for it in the transaction that makes it readable. If the credits went back in
 * the meantime, the image is removed there.
 */
import { reserveCredits } from '#accounts/ledger/credits.ts';
import type { Tx } from '#platform/db/db.ts';
import type { ImageModel } from '../generation/catalogue.ts';
import { noteImage } from '../generation/generationstore.ts';
import type { Generated, Image } from '../providers/generators.ts';
import { assetIdOf, type Deposit, keepMade, type LibraryDeps } from '../services/library.ts';
import type { AgentTables } from '../tables.ts';

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

interface ImagesOrder {
  readonly scope: string;
  /** One for each image. */
  readonly references: readonly string[];
}

/** For operators, who see a refused order with its model, too. */
export async function noteImages(tx: Tx<AgentTables>, { scope, references }: ImagesOrder, model: ImageModel) {
  for (const reference of references) await noteImage(tx, { reference, scope }, model);
}

/** Notes and reserves all images of an order. Returns why they cannot be paid for. Some are reserved then. */
export async function reserveImages(
  tx: Tx<AgentTables>,
  userId: string,
  order: ImagesOrder,
  model: ImageModel,
): Promise<{ readonly required: number; readonly balance: number } | undefined> {
  const { scope, references } = order;
  const { credits: amount } = model;
  await noteImages(tx, order, model);
  for (const [index, reference] of references.entries()) {
    const reservation = { reference, scope, userId, amount, assetId: assetIdOf(reference) };
    const { reserved, balance } = await reserveCredits(tx, reservation);
    if (!reserved) return { required: references.length * amount, balance: balance + index * amount };
  }
  return undefined;
}

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
