/**
 * The cache of signed URLs (docs/specification/media.md#signed-url-cache). One entry per asset or legacy file and kind of
 * response: the JSON that is sent, and what decides who can read it, which is checked again on every request. A reference
 * that did not resolve is never cached. Legacy files can be replaced or removed by other systems, so they are looked up
 * and signed on every request; the cached response is sent while only the expiry of its URLs would differ.
 */
import { createHash } from 'node:crypto';
import type { ResizeSigner } from '#edge/api.ts';
import type { Caller } from '#platform/access/caller.ts';
import { forgetAround } from '#platform/cache/cache.ts';
import { isUuid } from '#platform/ids.ts';
import type { Objects } from '#platform/objects/objects.ts';
import type { UnresolvedRef } from '../api.ts';
import type { SeenAsset } from '../assets/assetstore.ts';
import { mayRead } from '../assets/ownership.ts';
import type { MediaContext, MediaStores } from '../context.ts';
import { dropAndPublish } from '../events.ts';
import type { ReadyAsset, ResolvedAsset } from '../lookup/assetlookup.ts';
import { noSuchAsset } from '../problems.ts';
import { isLegacyPath } from '../refs.ts';
import { findShowing } from './thumbstore.ts';

const kinds = ['image', 'video', 'watermark', 'watermark-video'] as const;
export type SignedUrlKind = (typeof kinds)[number];

/** The response for one asset. */
export interface SignedAsset {
  readonly resolved: ResolvedAsset;
  /** Serializable as JSON. */
  readonly response: object;
  /** A thumbnail of the same owner that the response shows, and the response for callers who cannot read it. */
  readonly thumb?: { readonly row: Pick<ReadyAsset, 'scopeKind'>; readonly responseWithout: object };
  /** The thumbnail is a legacy file. */
  readonly hasLegacyThumb?: boolean;
  /** Part of it did not resolve: it is not cached. */
  readonly isTransient?: boolean;
}

/** A minute less than 24 hours: URLs are valid for 7 days and must have 6 days left when they are sent. */
const cachedForMs = 24 * 3_600_000 - 60_000;

const notFound = JSON.stringify({ ready: false, error: 'not_found' } satisfies UnresolvedRef);

export interface SigningRequest {
  readonly refs: readonly string[];
  readonly legacyBucket: string;
  /** URLs of downloads carry a file name, and are not cached. */
  readonly download?: string | true | undefined;
}

/**
 * The response of each reference as JSON, from the cache or from `sign`, which is called once for all that are not cached
 * and leaves out what does not resolve for the caller.
 */
export async function signWithCache(
  deps: MediaContext,
  caller: Caller,
  kind: SignedUrlKind,
  { refs, legacyBucket, download }: SigningRequest,
  sign: (refs: readonly string[]) => Promise<ReadonlyMap<string, SignedAsset>>,
): Promise<ReadonlyMap<string, string>> {
  if (download !== undefined) {
    const signed = await sign([...new Set(refs)]);
    return new Map([...signed].map(([ref, { response }]) => [ref, JSON.stringify(response)]));
  }
  const keys = new Map<string, string>();
  for (const ref of refs) {
    if (isUuid(ref)) keys.set(ref, keyOf(kind, ref.toLowerCase()));
    else if (isLegacyPath(ref)) keys.set(ref, keyOf(kind, `${legacyBucket}/${ref}`));
  }
  const lookup = await deps.signedUrls.lookUp([...keys.values()]);
  const responses = new Map<string, string>();
  const missing: string[] = [];
  for (const [ref, key] of keys) {
    const entry = readEntry(deps, lookup.found.get(key));
    if (entry === undefined || entry.basis !== '') missing.push(ref);
    else if (mayRead(caller, entry, deps.publicScopes)) responses.set(ref, responseFor(deps, caller, entry));
  }
  if (missing.length === 0) return responses;
  const entries = new Map<string, string>();
  for (const [ref, signed] of await sign(missing)) {
    const json = JSON.stringify(signed.response);
    const basis = basisOf(signed, json);
    const key = keys.get(ref);
    const before = key === undefined || basis === '' ? undefined : readEntry(deps, lookup.found.get(key));
    const isSame = before?.basis === basis;
    responses.set(ref, isSame ? before.response : json);
    if (key !== undefined && !isSame && (basis !== '' || signed.isTransient !== true))
      entries.set(key, writeEntry(deps, signed, basis, json));
  }
  // Not awaited: if it fails, the next request is a miss.
  if (entries.size > 0) void lookup.fill(entries, cachedForMs);
  return responses;
}

/** As `signWithCache`, for one reference. Throws 404 if a cached response is not for this caller, and as `sign`. */
export async function signOneWithCache(
  deps: MediaContext,
  caller: Caller,
  kind: SignedUrlKind,
  { ref, ...request }: Omit<SigningRequest, 'refs'> & { readonly ref: string },
  sign: () => Promise<SignedAsset>,
): Promise<string> {
  const signAll = async () => new Map([[ref, await sign()]]);
  const response = (await signWithCache(deps, caller, kind, { ...request, refs: [ref] }, signAll)).get(ref);
  if (response === undefined) throw noSuchAsset();
  return response;
}

/**
 * One JSON object with all references; those without a response are `not_found`. In bytes, because a string of this size
 * would be copied and measured several times until it is sent.
 */
export function joinSigned(refs: readonly string[], responses: ReadonlyMap<string, string>): Buffer {
  const pieces: string[] = [];
  for (const ref of new Set(refs))
    pieces.push(pieces.length === 0 ? '{' : ',', JSON.stringify(ref), ':', responses.get(ref) ?? notFound);
  pieces.push(pieces.length === 0 ? '{}' : '}');
  const bytes = Buffer.allocUnsafeSlow(pieces.reduce((total, piece) => total + Buffer.byteLength(piece), 0));
  let written = 0;
  for (const piece of pieces) written += bytes.write(piece, written);
  return bytes;
}

/**
 * Drops the rows that have not changed since they were read, with their cached responses and those of videos that show
 * one of them. Resolves with their ids. Every deletion of rows that were ready goes through here.
 */
export async function dropAndInvalidate(deps: MediaStores, rows: readonly SeenAsset[]): Promise<readonly string[]> {
  const assetIds = rows.map(({ assetId }) => assetId);
  const dropped = await withInvalidation(deps, assetIds, () => dropAndPublish(deps, rows));
  return dropped.map(({ assetId }) => assetId);
}

/** Runs a change of assets. No response from before the change is sent after it. */
export async function withInvalidation<Result>(
  { db, signedUrls }: MediaStores,
  assetIds: readonly string[],
  change: () => Promise<Result>,
): Promise<Result> {
  const own = assetIds.flatMap((assetId) => kinds.map((kind) => keyOf(kind, assetId)));
  const ofVideos = async () => (await findShowing(db, assetIds)).map((assetId) => keyOf('video', assetId));
  // Searched again after the change: a video that was registered during it may show a deleted asset.
  return forgetAround(signedUrls, [...own, ...(await ofVideos())], change, ofVideos);
}

function keyOf(kind: SignedUrlKind, assetId: string): string {
  return `${kind}:${assetId}`;
}

/** Of legacy files: the same for responses that differ only in the expiry of their URLs. */
function basisOf({ resolved, hasLegacyThumb }: SignedAsset, json: string): string {
  if (resolved.backend === 'objects' && hasLegacyThumb !== true) return '';
  const lasting = json.replaceAll(/\?[^"]*/g, '');
  return createHash('sha256').update(`${resolved.version} ${lasting}`).digest('base64url').slice(0, 22);
}

interface Entry {
  /** `''`: it can be sent without a request to the store. */
  readonly basis: string;
  readonly ownerId: string;
  readonly scopeKind: string;
  readonly thumbScopeKind: string;
  readonly response: string;
  readonly responseWithout: string;
}

/** Lines, so that an entry is read without parsing JSON, in which JSON.stringify writes no line end. */
function writeEntry(
  { addressing }: MediaContext,
  { resolved, thumb }: SignedAsset,
  basis: string,
  response: string,
): string {
  const { ownerId, scopeKind } = resolved.row ?? { ownerId: '', scopeKind: '' };
  const entry = `${basis === '' ? addressing : `${addressing} ${basis}`}\n${ownerId}\n${scopeKind}\n${response}`;
  // Every caller who can read the asset can read the thumbnail.
  if (thumb === undefined || thumb.row.scopeKind === scopeKind) return entry;
  return `${entry}\n${thumb.row.scopeKind}\n${JSON.stringify(thumb.responseWithout)}`;
}

function readEntry(deps: MediaContext, text: string | undefined): Entry | undefined {
  const [made, ownerId, scopeKind, response, thumbScopeKind = scopeKind, responseWithout = response] =
    text?.split('\n') ?? [];
  const [addressing, basis = ''] = made?.split(' ') ?? [];
  if (addressing !== deps.addressing || ownerId === undefined || scopeKind === undefined) return undefined;
  if (response === undefined || thumbScopeKind === undefined || responseWithout === undefined) return undefined;
  return { basis, ownerId, scopeKind, thumbScopeKind, response, responseWithout };
}

function responseFor(deps: MediaContext, caller: Caller, entry: Entry): string {
  const { ownerId, thumbScopeKind: scopeKind } = entry;
  return mayRead(caller, { ownerId, scopeKind }, deps.publicScopes) ? entry.response : entry.responseWithout;
}

// The origins and signing keys of URLs. A process sends cached URLs only if its own would be equal.

const sample = 'sample';
/** Raise this when responses get another field. */
const form = '3';

/** Equal for equal settings in every process. Reveals nothing about the keys. */
export function addressingOf(
  originals: Pick<Objects, 'bucket' | 'readAddress'>,
  resizeAddress: ResizeSigner,
  brandId: string,
): string {
  // A type that is served as an attachment, so that URLs from before that rule are misses too.
  const original = new URL(originals.readAddress(sample, { expiresInS: 60, contentType: 'text/html' }));
  // S3: the access key, without the day. The edge's key is derived from the one that signs the resize URL.
  const signer = original.searchParams.get('X-Amz-Credential')?.split('/', 1)[0] ?? '';
  const resized = resizeAddress({ bucket: originals.bucket, key: sample }, { width: 1, height: 1 }, 'webp');
  const disposition = original.searchParams.get('response-content-disposition') ?? '';
  const parts = [original.origin + original.pathname, signer, originals.bucket, disposition, resized, brandId, form];
  return createHash('sha256').update(parts.join('\n')).digest('base64url').slice(0, 16);
}
