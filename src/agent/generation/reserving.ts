/**
 * The credits of an order of images, by a run or without one. They are reserved for the assets that the images become, and the media
 * service charges for each in the transaction that makes it readable. If the credits went back in the meantime, the image is removed there.
 */
import { reserveCredits } from '#accounts/ledger/credits.ts';
import type { Tx } from '#platform/db/db.ts';
import { assetIdOf } from '../services/library.ts';
import type { AgentTables } from '../tables.ts';
import type { ImageModel } from './catalogue.ts';
import { noteImage } from './generationstore.ts';

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
