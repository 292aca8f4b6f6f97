/**
 * `POST /v1/assets/legacy`: a file of the legacy backend becomes an asset, and its bytes stay where they are
 * (docs/specification/media.md#legacy-files). As in a registration the row is drafted, the file checked again, the row
 * marked ready. A refused file stays, prohibited content included: it belongs to another system. The incident names it.
 */

import { transaction } from '#platform/db/db.ts';
import { uuidOfName } from '#platform/ids.ts';
import type { ObjectHead, Objects } from '#platform/objects/objects.ts';
import { problems } from '#platform/problem.ts';
import { retryWhileChanging } from '#platform/resilience.ts';
import type { LegacyImport } from '../api.ts';
import { isSameAsset, kindOfMime, toAsset } from '../assets/asset.ts';
import * as store from '../assets/assetstore.ts';
import type { ScreeningContext } from '../context.ts';
import { publishRegistered } from '../events.ts';
import { mediaProblems, refusalProblem } from '../problems.ts';
import { mimeOfFile } from '../reading/legacymime.ts';
import { blockAndDrop } from '../screening/incidentstore.ts';
import { factsOf, type Inspection, screenInspected, unknownFacts, withInspected } from './inspection.ts';
import { blockProblem, blockRow } from './publishing.ts';
import type { Registration } from './registration.ts';

/** A file that will become the asset of this id, owner and scope. */
interface LegacyFile {
  readonly files: Objects;
  readonly path: string;
  readonly owner: Omit<store.AssetIdentity, 'kind' | 'requestedMime'>;
}

/** A file that exists. */
interface FoundFile extends Omit<LegacyFile, 'owner'> {
  readonly identity: store.AssetIdentity;
  readonly head: ObjectHead;
  /** Of the row that an earlier attempt drafted. */
  readonly draftEtag: string | undefined;
}

/**
 * Throws 404 (no such file), 409 `asset_conflict` (registered for another owner or scope), 413, 422 and 451 as
 * `registerAsset`, and 503, after which the call can be retried.
 */
export async function importFile(deps: ScreeningContext, request: LegacyImport): Promise<Registration> {
  const { ownerId, scopeKind, scopeId, legacyBucket, path } = request;
  const files = deps.legacy.bucket(legacyBucket);
  if (files === undefined) throw noFile();
  const owner = { assetId: importedIdOf(legacyBucket, path), ownerId, scopeKind, scopeId };
  return retryWhileChanging(async () => {
    const file = await readFile(deps, { files, path, owner });
    if (file === undefined || 'asset' in file) return file;
    const uploaded = { storageKey: path, head: file.head, mime: file.identity.requestedMime };
    return withInspected({ ...deps, objects: files }, uploaded, async (inspection) => {
      if (typeof inspection !== 'string') return inspection && writeFile(deps, file, inspection);
      if (file.draftEtag !== undefined) await store.dropUnready(deps.db, owner.assetId, file.draftEtag);
      throw refusalProblem(inspection);
    });
  }, mediaProblems.object_changing);
}

/** The asset, if the file is registered already. `undefined`: the file was replaced; read again. */
async function readFile(
  { db }: ScreeningContext,
  { files, path, owner }: LegacyFile,
): Promise<FoundFile | Registration | undefined> {
  const { assetId } = owner;
  const row = await store.findAsset(db, assetId);
  if (row !== undefined && !isSameAsset(row, { ...row, ...owner })) throw registeredElsewhere();
  const head = await files.head(path);
  if (head === undefined) {
    if (row !== undefined) await store.dropUnready(db, assetId, row.etag);
    throw noFile();
  }
  if (row?.readyAt) return { created: false, asset: toAsset(row) };

  const requestedMime = await mimeOfFile(files, path, head);
  if (requestedMime === undefined) return undefined;
  const identity = { ...owner, kind: kindOfMime(requestedMime), requestedMime };
  // The draft of an earlier attempt, before the file was replaced.
  if (row !== undefined && !isSameAsset(row, identity)) await store.dropUnready(db, assetId, row.etag);
  return { files, path, identity, head, draftEtag: row?.etag };
}

/** `undefined`: the row or the file has changed; read again. */
async function writeFile(
  deps: ScreeningContext,
  { files, path, identity, head }: FoundFile,
  inspection: Inspection,
): Promise<Registration | undefined> {
  const { db } = deps;
  const { assetId, requestedMime } = identity;
  const { etag } = head;
  const { bucket } = files;
  const registered = await store.findDeletableAt(db, bucket, [path]);
  if (registered.some((row) => row.assetId !== assetId)) throw registeredElsewhere();
  const place = { backend: 'legacy', bucket, storageKey: path, etag, byteSize: head.size } as const;
  // For files other than images, only the name is known.
  if (!(await store.draftAsset(db, identity, place, factsOf(unknownFacts(requestedMime), inspection))))
    return undefined;
  const verdict = await screenInspected(deps, assetId, inspection);
  const { match } = verdict;
  if (match !== undefined) {
    const finding = { etag, digests: inspection.digests, match, origin: `${bucket}/${path}` };
    // The file stays.
    if (await blockRow(deps, blockAndDrop, { assetId, etag }, finding, undefined)) throw blockProblem(match);
    return undefined;
  }
  if ((await files.head(path))?.etag !== etag) return undefined;
  const screened = { ...verdict, isScreened: inspection.image !== undefined };
  return transaction(db, async (tx) => {
    const row = await store.markReady(tx, assetId, etag, screened);
    if (row === undefined) return undefined;
    await publishRegistered(deps, tx, row);
    return { created: true, asset: toAsset(row) };
  });
}

function registeredElsewhere() {
  return mediaProblems.asset_conflict({ message: 'This file is already registered for another owner or scope.' });
}

function noFile() {
  return problems.not_found({ message: 'There is no such file in the legacy backend.' });
}

/** Generated at random, once. */
const namespace = 'fa09e2e740a3460580e1d87e20e27951';

/** The same for the same file, in every process. */
export function importedIdOf(bucket: string, path: string): string {
  return uuidOfName(namespace, `${bucket}/${path}`);
}
