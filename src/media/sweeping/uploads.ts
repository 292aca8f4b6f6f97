/**
 * Objects under `u/` without a row: uploads that were never registered, and derivatives whose source is gone. Each is
 * claimed by a row that can never become ready, checked again, and removed with its derivatives; then the claim goes. A
 * registration either comes first, and its row protects the object, or it finds the claim and is refused. If the process
 * dies, the claim is an unfinished registration like any other.
 */

import { mapConcurrently } from '#platform/concurrency.ts';
import type { ListedObject, ObjectHead } from '#platform/objects/objects.ts';
import { dropAssets, findDeletable, type SeenAsset } from '../assets/assetstore.ts';
import * as keys from '../assets/storagekey.ts';
import type { MediaStores } from '../context.ts';
import { removeObjects } from '../deletion/removal.ts';
import { headsAtOnce } from '../lookup/assetlookup.ts';
import type { SweepFinding } from './api.ts';
import {
  lastOf,
  oldBefore,
  pageOf,
  resumableOldBefore,
  type SweepPage,
  type SweepPageRequest,
  unfinishedVideos,
} from './page.ts';
import { claimUnregistered, type Unregistered } from './sweepstore.ts';

const uploads = 'u/';
const keysPerPage = 1000;
const claimsAtOnce = 100;

interface GroupState {
  readonly source: ObjectHead | undefined;
  /** The object is beside it, or included. */
  readonly listed: readonly ObjectHead[];
}

/** An object with its derivatives, or only these files. */
interface OrphanGroup extends GroupState {
  readonly sourceKey: string;
  /** `undefined`: no asset can have this key, so no row can be added for it. */
  readonly parts: Omit<keys.StorageKeyParts, 'mime'> | undefined;
  readonly listed: readonly ListedObject[];
}

export async function sweepUploads(deps: MediaStores, page: SweepPageRequest): Promise<SweepPage> {
  const listed = await pageOf(deps.objects.list(uploads, page.after), keysPerPage);
  const uploadedBefore = new Date(deps.clock.now() - deps.limits.uploadTtlS * 1000);
  const derivedBefore = oldBefore(deps.clock);
  const joinedBefore = resumableOldBefore(deps.clock);
  const isOld = ({ modifiedAt, etag }: ObjectHead, isSource: boolean) =>
    modifiedAt < (isJoined(etag) ? joinedBefore : isSource ? uploadedBefore : derivedBefore) &&
    (page.aloneSince === undefined || modifiedAt > page.aloneSince);
  const groups = await findUnregistered(deps, await groupBySource(deps, listed));
  const orphans = groups.filter((group) => isAbandoned(group, isOld) && (group.parts ?? !page.aloneSince));
  const removed = page.apply ? await removeGroups(deps, orphans, isOld) : undefined;
  const found = orphans.flatMap((group) => group.listed.map((object) => describe(group, object, removed)));
  return { found, next: lastOf(listed, keysPerPage)?.key };
}

/**
 * Removes one upload with its derivatives. Returns `false` if it is registered, is being processed, or was replaced.
 * Throws `engine_unavailable`.
 */
export async function removeUpload(deps: MediaStores, sourceKey: string, before: Date): Promise<boolean> {
  const source = await deps.objects.head(sourceKey);
  if (source === undefined) return true;
  const listed = [{ key: sourceKey, ...source }];
  const groups = await findUnregistered(deps, [{ sourceKey, parts: keys.partsOfKey(sourceKey), source, listed }]);
  return (await removeGroups(deps, groups, ({ modifiedAt }) => modifiedAt < before)).size > 0;
}

/** S3's ETag of a multipart upload. Some servers date such an object by its beginning. */
export const isJoined = (etag: string): boolean => /^"[0-9a-f]{32}-\d+"$/.test(etag);

/** A source that is on another page is looked up. */
async function groupBySource(
  { objects }: MediaStores,
  listed: readonly ListedObject[],
): Promise<readonly OrphanGroup[]> {
  const byKey = new Map(listed.map((object) => [object.key, object]));
  const bySource = Map.groupBy(listed, ({ key }) => keys.sourceKeyOf('objects', key));
  return mapConcurrently([...bySource], headsAtOnce, async ([sourceKey, some]) => ({
    sourceKey,
    parts: keys.partsOfKey(sourceKey),
    source: byKey.get(sourceKey) ?? (await objects.head(sourceKey)),
    listed: some,
  }));
}

/** The age of the source decides. Without a source, the youngest remaining file does. */
function isAbandoned({ source, listed }: GroupState, isOld: IsOld): boolean {
  return source === undefined ? listed.every((head) => isOld(head, false)) : isOld(source, true);
}

/** Those without a row that no media task is processing. */
async function findUnregistered(deps: MediaStores, groups: readonly OrphanGroup[]): Promise<readonly OrphanGroup[]> {
  const named = groups.flatMap(({ parts }) => parts ?? []);
  if (named.length === 0) return groups;
  const keys = await keysInRows(
    deps,
    named.map(({ assetId }) => assetId),
  );
  const videos = await unfinishedVideos(deps, named);
  return groups.filter(
    ({ parts, sourceKey }) =>
      parts === undefined || (keys.get(parts.assetId) !== sourceKey && !videos.has(parts.assetId)),
  );
}

function describe(
  group: OrphanGroup,
  { key, size }: ListedObject,
  removed: ReadonlySet<OrphanGroup> | undefined,
): SweepFinding {
  const finding = { what: kindOf(group, key), key, byteSize: size } as const;
  if (removed === undefined) return { ...finding, fate: 'found' };
  return removed.has(group) ? { ...finding, fate: 'removed' } : { ...finding, fate: 'left', why: 'it has changed' };
}

function kindOf({ sourceKey }: OrphanGroup, key: string): SweepFinding['what'] {
  if (key === sourceKey) return 'unregistered_upload';
  return keys.isRenditionKey(key) ? 'rendition_without_source' : 'watermark_without_source';
}

/** `isSource`: it is the upload, not a file derived from it. */
type IsOld = (head: ObjectHead, isSource: boolean) => boolean;

/** Throws `engine_unavailable`: what is not confirmed gone keeps its claim. */
async function removeGroups(
  deps: MediaStores,
  orphans: readonly OrphanGroup[],
  isOld: IsOld,
): Promise<ReadonlySet<OrphanGroup>> {
  const { bucket } = deps.objects;
  const removed = new Set<OrphanGroup>();
  for (let start = 0; start < orphans.length; start += claimsAtOnce) {
    const batch = orphans.slice(start, start + claimsAtOnce);
    const claims = await claim(deps, batch);
    const ours = await findOurs(deps, batch, claims);
    // Checked again: some may have been uploaded again by now.
    const looked = await mapConcurrently(ours, headsAtOnce, async (group) => ({
      group,
      now: await lookAgain(deps, group),
    }));
    const abandoned = looked.filter(({ now }) => isAbandoned(now, isOld)).map(({ group }) => group);
    await removeObjects(
      deps,
      abandoned.map(({ sourceKey }) => ({ backend: 'objects', bucket, storageKey: sourceKey })),
    );
    await dropAssets(deps.db, [...claims.values()]);
    for (const group of abandoned) removed.add(group);
  }
  return removed;
}

/** By asset id. */
async function claim(deps: MediaStores, groups: readonly OrphanGroup[]): Promise<ReadonlyMap<string, SeenAsset>> {
  const unregistered = groups.flatMap(({ parts, sourceKey: storageKey, source }): Unregistered[] =>
    parts === undefined ? [] : [{ ...parts, storageKey, etag: source?.etag ?? '', byteSize: source?.size ?? 0 }],
  );
  if (unregistered.length === 0) return new Map();
  const claims = await claimUnregistered(deps.db, deps.objects.bucket, unregistered);
  return new Map(claims.map((claimed) => [claimed.assetId, claimed]));
}

/**
 * Returns claimed objects that are not being processed by now, and objects that no registration can use, because their
 * key is no asset's, or differs from the key in the row of their id.
 */
async function findOurs(
  deps: MediaStores,
  groups: readonly OrphanGroup[],
  claims: ReadonlyMap<string, SeenAsset>,
): Promise<readonly OrphanGroup[]> {
  const named = groups.flatMap(({ parts }) => parts ?? []);
  const videos = await unfinishedVideos(deps, named);
  const keys = await keysInRows(
    deps,
    named.flatMap(({ assetId }) => (claims.has(assetId) ? [] : [assetId])),
  );
  return groups.filter(({ parts, sourceKey }) => {
    if (parts === undefined) return true;
    if (videos.has(parts.assetId)) return false;
    return claims.has(parts.assetId) || (keys.get(parts.assetId) ?? sourceKey) !== sourceKey;
  });
}

async function keysInRows({ db }: MediaStores, assetIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  return new Map((await findDeletable(db, assetIds)).map(({ assetId, storageKey }) => [assetId, storageKey]));
}

async function lookAgain({ objects }: MediaStores, { sourceKey }: OrphanGroup): Promise<GroupState> {
  const source = await objects.head(sourceKey);
  const beside: ObjectHead[] = [];
  for await (const object of objects.list(keys.derivativeStartOf('objects', sourceKey)))
    if (keys.sourceKeyOf('objects', object.key) === sourceKey) beside.push(object);
  return { source, listed: beside };
}
