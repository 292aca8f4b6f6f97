/**
 * Objects under `u/` that no row stands for: uploads that nobody registered, and watermark files whose source is gone. Each
 * is claimed by a row that can never become ready, then looked at again, then removed with all that was made of it, then the
 * claim goes. So a registration either comes before, and its row spares the object, or finds the claim, and the object
 * refused. A process that dies leaves a claim, which is an unfinished registration like any other.
 */

import { mapConcurrently } from '#platform/concurrency/mapconcurrently.ts';
import type { ListedObject, ObjectHead } from '#platform/objects/objects.ts';
import { headsAtOnce } from '../locating.ts';
import { keysAt, removeObjects } from '../removal.ts';
import { partsOfKey, type StorageKeyParts, sourceKeyOf } from '../storagekey.ts';
import { dropAssets, type SeenAsset } from '../store.ts';
import type { SweepFinding } from './api.ts';
import { claimUnregistered, findKeys, type Unregistered } from './store.ts';
import { oldBefore, type SweepDeps, type SweepPage, type SweepTurn } from './turns.ts';
import { unfinishedVideos } from './usage.ts';

const uploads = 'u/';
const keysPerPage = 1000;
const claimsAtOnce = 100;

interface Remains {
  readonly source: ObjectHead | undefined;
  /** Beside it, or itself too. */
  readonly listed: readonly ObjectHead[];
}

/** An object with the watermark files beside it, or these alone. */
interface Heap extends Remains {
  readonly sourceKey: string;
  /** `undefined`: no asset's key can be such, so no row can come to stand for it. */
  readonly parts: Omit<StorageKeyParts, 'mime'> | undefined;
  readonly listed: readonly ListedObject[];
}

export async function sweepUploads(deps: SweepDeps, turn: SweepTurn): Promise<SweepPage> {
  const listed = await listPage(deps, turn.after);
  const next = listed.length < keysPerPage ? undefined : listed.at(-1)?.key;
  const before = oldBefore(deps.clock);
  const isOld = ({ modifiedAt }: ObjectHead) =>
    modifiedAt < before && (turn.aloneSince === undefined || modifiedAt > turn.aloneSince);
  const heaps = await findLoose(deps, await gatherHeaps(deps, listed));
  const orphans = heaps.filter((heap) => isAbandoned(heap, isOld) && (heap.parts ?? !turn.aloneSince));
  const removed = turn.apply ? await removeHeaps(deps, orphans, isOld) : undefined;
  const found = orphans.flatMap((heap) => heap.listed.map((object) => describe(heap, object, removed)));
  return { found, next };
}

async function listPage({ objects }: SweepDeps, after: string | undefined): Promise<readonly ListedObject[]> {
  const page: ListedObject[] = [];
  for await (const object of objects.list(uploads, after)) {
    page.push(object);
    if (page.length === keysPerPage) break;
  }
  return page;
}

/** A source that lies beyond the page, or on the one before, is looked for. */
async function gatherHeaps({ objects }: SweepDeps, listed: readonly ListedObject[]): Promise<readonly Heap[]> {
  const byKey = new Map(listed.map((object) => [object.key, object]));
  const bySource = Map.groupBy(listed, ({ key }) => sourceKeyOf(key));
  return mapConcurrently([...bySource], headsAtOnce, async ([sourceKey, some]) => ({
    sourceKey,
    parts: partsOfKey(sourceKey),
    source: byKey.get(sourceKey) ?? (await objects.head(sourceKey)),
    listed: some,
  }));
}

/** The age of the source decides; without one, that of the youngest of what is left of it. */
function isAbandoned({ source, listed }: Remains, isOld: IsOld): boolean {
  return source === undefined ? listed.every(isOld) : isOld(source);
}

/** Those for which no row stands, and with which no media task has to do. */
async function findLoose(deps: SweepDeps, heaps: readonly Heap[]): Promise<readonly Heap[]> {
  const named = heaps.flatMap(({ parts }) => parts ?? []);
  if (named.length === 0) return heaps;
  const keys = await findKeys(
    deps.db,
    named.map(({ assetId }) => assetId),
  );
  const videos = await unfinishedVideos(deps, named);
  return heaps.filter(
    ({ parts, sourceKey }) =>
      parts === undefined || (keys.get(parts.assetId) !== sourceKey && !videos.has(parts.assetId)),
  );
}

function describe(heap: Heap, { key, size }: ListedObject, removed: ReadonlySet<Heap> | undefined): SweepFinding {
  const what = key === heap.sourceKey ? 'unregistered_upload' : 'watermark_without_source';
  const finding = { what, key, byteSize: size } as const;
  if (removed === undefined) return { ...finding, fate: 'found' };
  return removed.has(heap) ? { ...finding, fate: 'removed' } : { ...finding, fate: 'left', why: 'it has changed' };
}

type IsOld = (head: ObjectHead) => boolean;

/** Throws `engine_unavailable`: what is not confirmed gone keeps its claim. */
async function removeHeaps(deps: SweepDeps, orphans: readonly Heap[], isOld: IsOld): Promise<ReadonlySet<Heap>> {
  const { bucket } = deps.objects;
  const removed = new Set<Heap>();
  for (let start = 0; start < orphans.length; start += claimsAtOnce) {
    const batch = orphans.slice(start, start + claimsAtOnce);
    const claims = await claim(deps, batch);
    const ours = await findOurs(deps, batch, claims);
    // Looked at again: some may have been uploaded anew by now.
    const looked = await mapConcurrently(ours, headsAtOnce, async (heap) => ({
      heap,
      now: await lookAgain(deps, heap),
    }));
    const standing = looked.filter(({ now }) => isAbandoned(now, isOld)).map(({ heap }) => heap);
    await removeObjects(
      deps,
      standing.map(({ sourceKey }) => ({ backend: 'objects', bucket, storageKey: sourceKey })),
    );
    await dropAssets(deps.db, [...claims.values()]);
    for (const heap of standing) removed.add(heap);
  }
  return removed;
}

/** By asset id. */
async function claim(deps: SweepDeps, heaps: readonly Heap[]): Promise<ReadonlyMap<string, SeenAsset>> {
  const unregistered = heaps.flatMap(({ parts, sourceKey: storageKey, source }): Unregistered[] =>
    parts === undefined ? [] : [{ ...parts, storageKey, etag: source?.etag ?? '', byteSize: source?.size ?? 0 }],
  );
  if (unregistered.length === 0) return new Map();
  const claims = await claimUnregistered(deps.db, deps.objects.bucket, unregistered);
  return new Map(claims.map((claimed) => [claimed.assetId, claimed]));
}

/**
 * Those that are claimed, and not being processed by now; and those that no registration can mean, as they have the key of
 * no asset, or another one than the row of their id.
 */
async function findOurs(
  deps: SweepDeps,
  heaps: readonly Heap[],
  claims: ReadonlyMap<string, SeenAsset>,
): Promise<readonly Heap[]> {
  const named = heaps.flatMap(({ parts }) => parts ?? []);
  const videos = await unfinishedVideos(deps, named);
  const keys = await findKeys(
    deps.db,
    named.flatMap(({ assetId }) => (claims.has(assetId) ? [] : [assetId])),
  );
  return heaps.filter(({ parts, sourceKey }) => {
    if (parts === undefined) return true;
    if (videos.has(parts.assetId)) return false;
    return claims.has(parts.assetId) || (keys.get(parts.assetId) ?? sourceKey) !== sourceKey;
  });
}

async function lookAgain({ objects }: SweepDeps, { sourceKey }: Heap): Promise<Remains> {
  const [source, ...beside] = await Promise.all(keysAt(sourceKey).map((key) => objects.head(key)));
  return { source, listed: beside.filter((head) => head !== undefined) };
}
