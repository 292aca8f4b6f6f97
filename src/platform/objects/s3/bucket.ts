/**
 * Objects in a bucket of an S3 server (docs/specification/system.md#engines). The credentials must allow reading, writing,
 * deleting and listing in the bucket.
 */
import { finished, PassThrough, type Readable } from 'node:stream';
import { mapConcurrently } from '../../concurrency.ts';
import { escapeXml } from '../../escaping.ts';
import { problems } from '../../problem.ts';
import { assertRange, type Body, heldByReader, WrongLength } from '../bodies.ts';
import { attachment, mayShowInline } from '../disposition.ts';
import { guarded, guardedListing, guardedUploads } from '../guard.ts';
import {
  assertExpiry,
  assertSafeKey,
  isSafeKey,
  type ListedObject,
  type ObjectBody,
  ObjectChanged,
  ObjectExists,
  type ObjectHead,
  type Objects,
  type ReadOptions,
  type WriteOptions,
} from '../objects.ts';
import {
  absentOn404,
  decodedKey,
  drop,
  encodedKeys,
  listPages,
  readDocument,
  type S3Answer,
  S3Fault,
  type S3Place,
} from './client.ts';
import { createS3Uploads } from './resumable.ts';
import { encodePath, md5Base64 } from './sigv4.ts';
import { requiredTextOf, textOf, type XmlElement } from './xml.ts';

/** What the server supports beyond the basics, as its responses show. All its buckets share this. */
export interface S3Abilities {
  /** Whether the server honors `If-None-Match: *` on a PUT. `true` until it shows otherwise. */
  createOnly: boolean;
  /** Whether the server supports DeleteObjects. */
  bulkDelete: boolean;
}

interface Bucket extends S3Place {
  readonly abilities: S3Abilities;
}

/** The limit of S3 for one request. A larger object would have to be copied in parts. */
const maxCopyBytes = 5 * 1024 ** 3;
/** The slowest copy inside a server that does not count as an outage. */
const copiedBytesPerS = 50 * 1024 ** 2;
const copyAttempts = 5;

export function openS3Bucket(store: Bucket): Objects {
  const { client, bucket, abilities } = store;
  const objects = {
    bucket,
    head: (key) => guarded({ keys: [key], asProblem }, () => head(store, key)),
    get: (key, options) => guarded({ keys: [key], asProblem }, () => get(store, key, options)),
    put: (key, body, options) => guarded({ keys: [key], body, asProblem }, () => put(store, key, body, options)),
    copy: (from, to, options) => guarded({ keys: [from, to], asProblem }, () => copy(store, from, to, options)),
    remove: (keys) => guarded({ keys, asProblem }, () => remove(store, keys)),
    list: (prefix, after) => guardedListing(prefix, after, () => list(store, prefix, after), asProblem),
    readAddress: (key, { expiresInS, contentType, download }) => {
      const isAttachment = download !== undefined || !mayShowInline(contentType);
      assertSafeKey(key);
      assertExpiry(expiresInS);
      // S3 lets a signed address set these headers of the response.
      const query = {
        'response-cache-control': `private, max-age=${expiresInS}`,
        ...(isAttachment && { 'response-content-disposition': attachment(download ?? true) }),
        ...(contentType === undefined ? {} : { 'response-content-type': contentType }),
      };
      return client.presign({ method: 'GET', bucket, key, query }, expiresInS);
    },
    writeAddress: (key, { expiresInS, contentType, size }) => {
      assertSafeKey(key);
      assertExpiry(expiresInS);
      const headers = {
        'content-type': contentType,
        ...(size === undefined ? {} : { 'content-length': String(size) }),
        ...(abilities.createOnly ? { 'if-none-match': '*' } : {}),
      };
      return {
        url: client.presign({ method: 'PUT', bucket, key, headers }, expiresInS),
        // Every HTTP client sends the length automatically, and browsers do not let pages set it.
        headers: { 'Content-Type': contentType, ...(abilities.createOnly ? { 'If-None-Match': '*' } : {}) },
      };
    },
    check: () => guarded({ asProblem }, () => client.call({ method: 'HEAD', bucket, repeat: 'always' }, drop)),
  } satisfies Omit<Objects, 'resumable'>;
  return { ...objects, resumable: guardedUploads(createS3Uploads(store, objects), asProblem) };
}

function asProblem(error: unknown): unknown {
  return error instanceof S3Fault ? problems.engine_unavailable({ cause: error }) : error;
}

/** Readers see a missing bucket as an empty one, as with files. */
function head({ client, bucket }: Bucket, key: string): Promise<ObjectHead | undefined> {
  return client
    .call({ method: 'HEAD', bucket, key, repeat: 'always' }, async (answer) => {
      await drop(answer);
      const contentType = textOfHeader(answer.headers['content-type']);
      return {
        ...headOf(answer, Number(answer.headers['content-length'])),
        ...(contentType === undefined ? {} : { contentType }),
      };
    })
    .catch(absentOn404);
}

async function get(
  { client, bucket }: Bucket,
  key: string,
  { ifMatch, range, signal }: ReadOptions = {},
): Promise<ObjectBody | undefined> {
  signal?.throwIfAborted();
  if (range !== undefined) assertRange(range);
  const headers = {
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    ...(range === undefined ? {} : { range: `bytes=${range.start}-${range.end}` }),
  };
  const bodyOf = (answer: S3Answer): ObjectBody => {
    const { start, end, size } = extentOf(answer, range);
    return { ...headOf(answer, size), start, end, stream: problemStream(answer.body, signal) };
  };
  return client
    .call({ method: 'GET', bucket, key, headers, repeat: 'always', signal }, bodyOf)
    .catch((error: unknown) => {
      if (!(error instanceof S3Fault)) throw error;
      if (error.status === 412) throw new ObjectChanged(key);
      if (error.status === 416)
        throw new RangeError(`the range starts at ${range?.start}, after the end of the object`);
      return absentOn404(error);
    });
}

async function put(store: Bucket, key: string, body: Body, options: WriteOptions): Promise<ObjectHead> {
  const { client, bucket, abilities } = store;
  const size = options.size ?? (body instanceof Uint8Array ? body.length : undefined);
  if (size === undefined) throw new Error('writing a stream to S3 requires its size');
  if (body instanceof Uint8Array && body.length !== size) throw new WrongLength(size, body.length);
  const { createOnly = false, contentType, cacheControl } = options;
  // Without the condition, another process can still write between this check and the PUT.
  if (createOnly && !abilities.createOnly && (await head(store, key)) !== undefined) throw new ObjectExists(key);
  const headers = {
    'content-type': contentType,
    ...(cacheControl === undefined ? {} : { 'cache-control': cacheControl }),
    ...(createOnly && abilities.createOnly ? { 'if-none-match': '*' } : {}),
  };
  // A repeat of a create-only write whose response was lost would fail because of its own object.
  const repeat = !(body instanceof Uint8Array) ? 'never' : createOnly ? 'refused' : 'always';
  return client
    .call({ method: 'PUT', bucket, key, headers, body, size, repeat }, async (answer) => {
      await drop(answer);
      return headOf(answer, size);
    })
    .catch((error: unknown) => {
      throw error instanceof S3Fault && error.status === 412 ? new ObjectExists(key) : error;
    });
}

interface CopyOptions {
  readonly contentType: string;
  readonly ifMatch?: string;
}

/** A source that is overwritten between the lookup and the copy is looked up again, unless `ifMatch` is set. */
async function copy(store: Bucket, from: string, to: string, options: CopyOptions): Promise<ObjectHead | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await copyOnce(store, from, to, options);
    } catch (error) {
      if (!(error instanceof S3Fault) || error.status !== 412) throw error;
      if (options.ifMatch !== undefined) throw new ObjectChanged(from);
      // Such a server does not recognize its own ETags.
      if (attempt === copyAttempts) throw error;
    }
  }
}

/** The source is pinned by its ETag, so that the copied bytes are those of the lookup. */
async function copyOnce(
  store: Bucket,
  from: string,
  to: string,
  { contentType, ifMatch }: CopyOptions,
): Promise<ObjectHead | undefined> {
  const { client, bucket } = store;
  const seen = await head(store, from);
  if (seen === undefined) return undefined;
  if (ifMatch !== undefined && ifMatch !== seen.etag) throw new ObjectChanged(from);
  if (seen.size > maxCopyBytes) throw new Error('a copy inside S3 is limited to 5 GiB');
  const headers = {
    'content-type': contentType,
    'x-amz-metadata-directive': 'REPLACE',
    'x-amz-copy-source': `/${bucket}/${encodePath(from)}`,
    'x-amz-copy-source-if-match': seen.etag,
  };
  const moreTimeMs = (seen.size / copiedBytesPerS) * 1000;
  return client
    .call({ method: 'PUT', bucket, key: to, headers, repeat: 'always', moreTimeMs }, async (answer) => {
      const result = await readDocument(answer);
      // A copy that fails late does so after the status has been sent.
      if (result.name !== 'CopyObjectResult') throw new S3Fault(500, textOf(result, 'Code'));
      return {
        size: seen.size,
        etag: quoted(textOf(result, 'ETag')),
        modifiedAt: new Date(textOf(result, 'LastModified') ?? Number.NaN),
      };
    })
    .catch(absentOn404);
}

function headOf({ headers }: S3Answer, size: number): ObjectHead {
  return {
    size,
    etag: quoted(textOfHeader(headers.etag)),
    // The response to a write has only its own date.
    modifiedAt: new Date(textOfHeader(headers['last-modified'] ?? headers.date) ?? Number.NaN),
  };
}

/** Some servers omit the quotes. */
function quoted(etag: string | undefined): string {
  if (etag === undefined || etag === '') throw new Error('the S3 server responded without an ETag');
  return etag.startsWith('"') ? etag : `"${etag}"`;
}

function textOfHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** Returns the part of the object that a response holds. Throws if it is not the requested one. */
function extentOf({ statusCode, headers }: S3Answer, range: ReadOptions['range']) {
  if (range === undefined) {
    const size = Number(headers['content-length']);
    return { start: 0, end: size - 1, size };
  }
  const contentRange = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(textOfHeader(headers['content-range']) ?? '');
  const [start, end, size] = (contentRange ?? []).slice(1).map(Number);
  if (statusCode !== 206 || start !== range.start || end === undefined || size === undefined)
    throw new Error('the S3 server did not honor the range');
  return { start, end, size };
}

/** A connection that breaks during a body is reported as an engine that does not respond. */
function problemStream(body: Readable, signal: AbortSignal | undefined): Readable {
  const stream = new PassThrough();
  finished(body, (error) => {
    if (error) stream.destroy(problems.engine_unavailable({ cause: error }));
  });
  stream.once('close', () => body.destroy());
  body.pipe(stream);
  return heldByReader(stream, signal);
}

async function* list(store: Bucket, prefix: string, after?: string): AsyncGenerator<ListedObject> {
  const pages = listPages(store, {
    query: { 'list-type': '2', ...encodedKeys, prefix },
    start: after === undefined ? {} : { 'start-after': after },
    itemsOf: listedObjects,
    next: (page) => ({ 'continuation-token': requiredTextOf(page, 'NextContinuationToken') }),
  });
  for await (const objects of pages) yield* objects;
}

/** Skips keys that are not safe (`isSafeKey`). */
function listedObjects(page: XmlElement): readonly ListedObject[] {
  if (page.name !== 'ListBucketResult') throw new Error(`the S3 server responded to a list request with ${page.name}`);
  return page.children
    .filter(({ name }) => name === 'Contents')
    .map((entry) => ({
      key: decodedKey(page, requiredTextOf(entry, 'Key')),
      size: Number(requiredTextOf(entry, 'Size')),
      etag: quoted(requiredTextOf(entry, 'ETag')),
      modifiedAt: new Date(requiredTextOf(entry, 'LastModified')),
    }))
    .filter(({ key }) => isSafeKey(key));
}

// Deletes objects, in bulk if the server supports DeleteObjects.

interface Removal {
  readonly removed: string[];
  readonly failed: { key: string; reason: string }[];
}

/** The limit of S3 for one DeleteObjects request. */
const keysPerCall = 1000;
/** For servers without DeleteObjects. */
const callsAtOnce = 16;

async function remove(store: Bucket, keys: readonly string[]): Promise<Removal> {
  const removed: string[] = [];
  const failed: Removal['failed'] = [];
  const wanted = [...new Set(keys)];
  for (let start = 0; start < wanted.length; start += keysPerCall) {
    const outcome = await removeSome(store, wanted.slice(start, start + keysPerCall));
    removed.push(...outcome.removed);
    failed.push(...outcome.failed);
  }
  return { removed, failed };
}

async function removeSome(store: Bucket, keys: readonly string[]): Promise<Removal> {
  if (keys.length === 1 || !store.abilities.bulkDelete) return removeOneByOne(store, keys);
  try {
    return await removeTogether(store, keys);
  } catch (error) {
    if (!(error instanceof S3Fault)) throw error;
    // A missing bucket has nothing to remove.
    if (error.code === 'NoSuchBucket') return { removed: [...keys], failed: [] };
    if (error.status !== 501 && error.status !== 405) throw error;
    store.abilities.bulkDelete = false;
    return removeOneByOne(store, keys);
  }
}

/** Some servers require Content-MD5 here, as S3 once did. */
async function removeTogether({ client, bucket }: Bucket, keys: readonly string[]): Promise<Removal> {
  const objects = keys.map((key) => `<Object><Key>${escapeXml(key)}</Key></Object>`).join('');
  const body = Buffer.from(`<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${objects}</Delete>`);
  const headers = { 'content-type': 'application/xml', 'content-md5': md5Base64(body) };
  const request = { method: 'POST', bucket, query: { delete: '' }, headers, body, repeat: 'always' } as const;
  return client.call(request, async (answer) => outcomeOf(await readDocument(answer), keys));
}

/** A 200 proves nothing: a key is gone only if the response names it as deleted. */
function outcomeOf(result: XmlElement, keys: readonly string[]): Removal {
  if (result.name !== 'DeleteResult') throw new Error(`the S3 server responded to a deletion with ${result.name}`);
  const gone = new Set<string>();
  const reasons = new Map<string, string>();
  for (const child of result.children) {
    const key = textOf(child, 'Key');
    const code = textOf(child, 'Code') ?? 'unknown';
    if (key === undefined) continue;
    if (child.name === 'Deleted' || code === 'NoSuchKey') gone.add(key);
    else if (child.name === 'Error') reasons.set(key, code);
  }
  const removed = keys.filter((key) => gone.has(key) && !reasons.has(key));
  const failed = keys
    .filter((key) => !gone.has(key) || reasons.has(key))
    .map((key) => ({ key, reason: reasons.get(key) ?? 'not confirmed' }));
  return { removed, failed };
}

async function removeOneByOne(store: Bucket, keys: readonly string[]): Promise<Removal> {
  const removed: string[] = [];
  const failed: Removal['failed'] = [];
  await mapConcurrently(keys, callsAtOnce, async (key) => {
    const reason = await removeOne(store, key);
    if (reason === undefined) removed.push(key);
    else failed.push({ key, reason });
  });
  return { removed, failed };
}

/** Returns the reason of a failure, or `undefined`. */
async function removeOne({ client, bucket }: Bucket, key: string): Promise<string | undefined> {
  try {
    await client.call({ method: 'DELETE', bucket, key, repeat: 'always' }, drop);
    return undefined;
  } catch (error) {
    if (!(error instanceof S3Fault) || error.status >= 500) throw error;
    return error.status === 404 ? undefined : (error.code ?? String(error.status));
  }
}
