/** Favorites and collections (docs/specification/media.md#collections). They belong to the owner alone, and change no asset. */
import { randomUUID } from 'node:crypto';
import type { Caller } from '#platform/access/caller.ts';
import { transaction } from '#platform/db/db.ts';
import { invalid, problems } from '#platform/problem.ts';
import { searchWords } from '#platform/storable.ts';
import { ownerFor } from '../assets/ownership.ts';
import type { MediaContext } from '../context.ts';
import { mediaProblems } from '../problems.ts';
import type { Handle } from '../tables.ts';
import * as api from './api.ts';
import * as store from './collectionstore.ts';

/** Throws 404 `not_found` if an id is not a readable asset of the owner. */
export async function assertOwn(db: Handle, ownerId: string, assetIds: readonly string[]) {
  const ids = [...new Set(assetIds)];
  if (ids.length > 0 && (await store.countOwn(db, ownerId, ids)) < ids.length)
    throw problems.not_found({ message: 'An asset does not exist, or belongs to another user.' });
}

export async function changeFavorites(
  { db, news }: MediaContext,
  caller: Caller,
  { ids, favorite, ownerId: named }: api.FavoritesChange,
): Promise<api.FavoritesChanged> {
  const ownerId = ownerFor(caller, named);
  await assertOwn(db, ownerId, ids);
  const changed = await store.markFavorites(db, ownerId, ids, favorite);
  if (changed > 0) news.changed(ownerId);
  return { changed };
}

export async function readCollections(
  { db }: MediaContext,
  caller: Caller,
  { ownerId: named, q = '', assetId }: api.CollectionListing,
): Promise<api.Collections> {
  const ownerId = ownerFor(caller, named, 'querystring.ownerId');
  const rows = await store.listCollections(db, { ownerId, assetId, words: searchWords(q).slice(0, 10) });
  return { collections: rows.map(toCollection) };
}

/** Throws 404. */
export async function readCollection(
  { db }: MediaContext,
  ownerId: string,
  collectionId: string,
): Promise<api.Collection> {
  const [row] = await store.listCollections(db, { ownerId, collectionId });
  if (row === undefined) throw noSuchCollection();
  return toCollection(row);
}

/** Throws 404 for an asset that is not the owner's, and 409 `too_many_collections`. */
export async function createCollection(
  deps: MediaContext,
  caller: Caller,
  { title, assetIds = [], ownerId: named }: api.CollectionRequest,
): Promise<api.Collection> {
  const ownerId = ownerFor(caller, named);
  const collectionId = randomUUID();
  await transaction(deps.db, async (tx) => {
    if ((await store.countCollections(tx, ownerId)) >= api.mostCollections) throw mediaProblems.too_many_collections();
    await assertOwn(tx, ownerId, assetIds);
    await store.insertCollection(tx, { collectionId, ownerId, title });
    await store.addToCollection(tx, ownerId, collectionId, assetIds);
  });
  deps.news.changed(ownerId);
  return readCollection(deps, ownerId, collectionId);
}

/** Throws 400 (nothing to change), 404 (the collection, or an asset that is not the owner's) and 409 `collection_full`. */
export async function changeCollection(
  deps: MediaContext,
  caller: Caller,
  collectionId: string,
  { title, add: others = [], remove = [], coverAssetId, ownerId: named }: api.CollectionChange,
): Promise<api.Collection> {
  const ownerId = ownerFor(caller, named);
  const add = coverAssetId === undefined ? others : [...others, coverAssetId];
  if (title === undefined && add.length === 0 && remove.length === 0)
    throw invalid('body', 'must have a title, a cover, assets to add or assets to remove');
  await transaction(deps.db, async (tx) => {
    if (!(await store.touchCollection(tx, ownerId, collectionId, { title, coverAssetId }))) throw noSuchCollection();
    await assertOwn(tx, ownerId, add);
    await store.removeFromCollection(tx, collectionId, remove);
    await store.addToCollection(tx, ownerId, collectionId, add);
    if (add.length > 0 && (await store.countAssetsOf(tx, collectionId)) > api.mostAssets)
      throw mediaProblems.collection_full();
  });
  deps.news.changed(ownerId);
  return readCollection(deps, ownerId, collectionId);
}

/** Throws 404. The assets stay. */
export async function deleteCollection(deps: MediaContext, ownerId: string, collectionId: string): Promise<void> {
  const isDropped = await transaction(deps.db, (tx) => store.dropCollection(tx, ownerId, collectionId));
  if (!isDropped) throw noSuchCollection();
  deps.news.changed(ownerId);
}

const noSuchCollection = () => problems.not_found({ message: 'There is no such collection.' });

const toCollection = (row: Awaited<ReturnType<typeof store.listCollections>>[number]): api.Collection => ({
  ...row,
  createdAt: row.createdAt.toISOString(),
  updatedAt: row.updatedAt.toISOString(),
});
