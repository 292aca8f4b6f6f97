/**
 * The assets of an owner by time, page by page. docs/specification/media.md has no such endpoint, but a library
 * needs one (docs/media.md).
 */

import type { Caller } from '#platform/access/caller.ts';
import { readCursor, writeCursor } from '#platform/db/paging.ts';
import { invalid } from '#platform/problem.ts';
import { searchWords } from '#platform/storable.ts';
import { toAsset } from '../assets/asset.ts';
import { ownerFor } from '../assets/ownership.ts';
import type { MediaContext } from '../context.ts';
import type { AssetListing, AssetMonths, AssetPage, MonthListing } from './api.ts';
import { countByMonth, listReadyAssets } from './listingstore.ts';

/** Each word of a search is looked for in every prompt of the owner. */
const maxWords = 10;

/** Throws 400 (invalid cursor; long search; server without `ownerId`; `scopeId` without `scopeKind`) and 403 (another owner). */
export async function listAssets({ db }: MediaContext, caller: Caller, query: AssetListing): Promise<AssetPage> {
  const { limit, cursor, ownerId: named, q = '', ...filters } = query;
  const { scopeKind, scopeId } = filters;
  if (scopeId !== undefined && scopeKind === undefined)
    throw invalid('querystring.scopeKind', 'is required with scopeId');
  const words = searchWords(q);
  if (words.length > maxWords) throw invalid('querystring.q', `must have at most ${maxWords} words`);
  const after = cursor === undefined ? undefined : readCursor(cursor, 'nextCursor');
  const ownerId = ownerFor(caller, named, 'querystring.ownerId');
  // One row more than the page shows whether there is another page.
  const rows = await listReadyAssets(db, { ...filters, ownerId, words }, after, limit + 1);
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  const assets = page.map(({ createdAtUs, ...row }) => toAsset(row));
  return { assets, nextCursor: writeCursor(last && { ...last, id: last.assetId }) };
}

/** For jumps to a date. */
export async function readMonths(
  { db }: MediaContext,
  caller: Caller,
  { ownerId: named, utcOffset }: MonthListing,
): Promise<AssetMonths> {
  return { months: [...(await countByMonth(db, ownerFor(caller, named, 'querystring.ownerId'), utcOffset))] };
}
