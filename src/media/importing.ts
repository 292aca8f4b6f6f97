/**
 * `POST /v1/assets/legacy`: a file of the legacy backend becomes an asset, its bytes left where they are
 * (docs/specification/media.md#legacy-files). As a registration does, the row is drafted, the file looked at again, the row marked ready. A
 * file that is refused stays what it was: it belongs to others. What is prohibited too: it is recorded where it lies.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { uuidV5 } from '#platform/ids.ts';
import type { ObjectHead, Objects } from '#platform/objects/objects.ts';
import { problems } from '#platform/problem.ts';
import type { LegacyImport } from './api.ts';
import { factsOf, type InspectionDeps, type Seen, screenSeen, unseenFacts, withInspected } from './inspection.ts';
import { mimeOfFile } from './legacymime.ts';
import type { LocatingDeps } from './locating.ts';
import { mediaProblems, type Refusal, refusalProblem } from './problems.ts';
import { isSame, type Registration, toAsset } from './registration.ts';
import type { Screening } from './screening/screening.ts';
import { expelAsset } from './screening/store.ts';
import {
  type AssetIdentity,
  draftAsset,
  dropUnready,
  findAsset,
  findDeletableAt,
  markReady,
  type StoredAsset,
} from './store.ts';

export interface ImportDeps extends LocatingDeps, Pick<InspectionDeps, 'engine' | 'pictures' | 'digester' | 'limits'> {
  readonly screening: Screening;
}

/** Each try starts afresh because somebody else changed the row or the file meanwhile. */
const maxTries = 5;
const pauseMs = 50;

/**
 * Throws 404 (no such file), 409 `asset_conflict` (registered for another owner or scope), 413, 422 and 451 as
 * `registerAsset`, and 503, after which the call may be repeated.
 */
export async function importFile(deps: ImportDeps, request: LegacyImport): Promise<Registration> {
  const { ownerId, scopeKind, scopeId, legacyBucket, path } = request;
  const files = deps.legacy.bucket(legacyBucket);
  if (files === undefined) throw noFile();
  const place = { assetId: importedIdOf(legacyBucket, path), ownerId, scopeKind, scopeId };
  for (let tries = 1; tries <= maxTries; tries++) {
    const registration = await tryImporting(deps, files, place, path);
    if (registration !== undefined) return registration;
    await delay(pauseMs * tries * Math.random());
  }
  throw mediaProblems.object_changing();
}

/** `undefined`: something changed under our hands; look again. */
async function tryImporting(
  deps: ImportDeps,
  files: Objects,
  place: Omit<AssetIdentity, 'kind' | 'requestedMime'>,
  path: string,
): Promise<Registration | undefined> {
  const { db } = deps;
  const { assetId } = place;
  const known = await findAsset(db, assetId);
  if (known !== undefined && !isSame(known, { ...known, ...place })) throw registeredElse();
  const head = await files.head(path);
  if (head === undefined) {
    if (known !== undefined) await dropUnready(db, assetId, known.etag);
    throw noFile();
  }
  if (known?.readyAt) return { created: false, asset: toAsset(known) };

  const requestedMime = await mimeOfFile(files, path, head);
  if (requestedMime === undefined) return undefined;
  const identity = { ...place, kind: kindOf(requestedMime), requestedMime };
  // The draft of an earlier try, before the file was replaced.
  if (known !== undefined && !isSame(known, identity)) await dropUnready(db, assetId, known.etag);
  const uploaded = { storageKey: path, head, mime: requestedMime };
  return withInspected({ ...deps, objects: files }, uploaded, async (seen) => {
    if (seen === undefined) return undefined;
    if (typeof seen === 'string') return refuse(deps, known, seen);
    return importInspected(deps, { files, path, head, seen }, identity);
  });
}

/** The file belongs to others, and stays. */
async function refuse({ db }: ImportDeps, known: StoredAsset | undefined, refusal: Refusal): Promise<never> {
  if (known !== undefined) await dropUnready(db, known.assetId, known.etag);
  throw refusalProblem(refusal);
}

/** A file, as it was seen. */
interface SeenFile {
  readonly files: Objects;
  readonly path: string;
  readonly head: ObjectHead;
  readonly seen: Seen;
}

/** `undefined`: something changed under our hands; look again. */
async function importInspected(
  { db, screening }: ImportDeps,
  { files, path, head, seen }: SeenFile,
  identity: AssetIdentity,
): Promise<Registration | undefined> {
  const { assetId, requestedMime } = identity;
  const { etag } = head;
  const { bucket } = files;
  const registered = await findDeletableAt(db, bucket, [path]);
  if (registered.some((row) => row.assetId !== assetId)) throw registeredElse();
  const place = { backend: 'legacy', bucket, storageKey: path, etag, byteSize: head.size } as const;
  // Of anything but a picture the name alone is known.
  if (!(await draftAsset(db, identity, place, factsOf(unseenFacts(requestedMime), seen)))) return undefined;
  const match = await screenSeen(screening, assetId, seen);
  if (match) {
    const finding = { etag, digests: seen.digests, match, origin: `${bucket}/${path}` };
    if (await expelAsset(db, { assetId, etag }, finding)) throw refusalProblem('csam_blocked');
    return undefined;
  }
  if ((await files.head(path))?.etag !== etag) return undefined;
  const ready = await markReady(db, assetId, etag, seen.picture !== undefined);
  return ready && { created: true, asset: toAsset(ready) };
}

function registeredElse() {
  return mediaProblems.asset_conflict({ message: 'This file is registered already, for another owner or scope.' });
}

function noFile() {
  return problems.not_found({ message: 'There is no such file in the legacy backend.' });
}

/** `image`, `video`, `audio`, or else `file`. */
function kindOf(mime: string): string {
  const [kind = ''] = mime.split('/');
  return ['image', 'video', 'audio'].includes(kind) ? kind : 'file';
}

/** Drawn at random, once. */
const namespace = Buffer.from('fa09e2e740a3460580e1d87e20e27951', 'hex');

/** The same for the same file, in every process: a UUID of version 5 (RFC 9562 §5.5). */
export function importedIdOf(bucket: string, path: string): string {
  return uuidV5(namespace, `${bucket}/${path}`);
}
