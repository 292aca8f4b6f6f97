/**
 * Objects as files (docs/specification/system.md#engines): each bucket is a folder, and each object is a file whose path is
 * its key. The file system must support hard links and renames, and must hold the staging folder too. Several processes
 * of one machine may share it.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, type FileHandle, link, lstat, mkdir, open, readdir, rm, rmdir, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import type { Clock } from '../../clock.ts';
import { asStorageFull, createSpaceCheck, reserveForObjects } from '../../diskspace.ts';
import { withFile } from '../../files.ts';
import { problems } from '../../problem.ts';
import { type AddressKey, signAddress } from '../addresses.ts';
import { type Body, chunksOf, clipRange, heldByReader, WrongLength } from '../bodies.ts';
import { guarded, guardedListing, guardedUploads } from '../guard.ts';
import {
  assertExpiry,
  assertSafeKey,
  isSafeKey,
  type ObjectBody,
  ObjectChanged,
  ObjectExists,
  type ObjectHead,
  type Objects,
  type ReadOptions,
  type WriteOptions,
} from '../objects.ts';
import { codeOf, createFolders, type Folders, headOf, ignore, place } from './folders.ts';
import { createFileUploads } from './resumable.ts';

export interface FilesystemOptions {
  /** The name of the bucket in addresses. */
  readonly bucket: string;
  /** The folder of the bucket, which the first object creates. */
  readonly root: string;
  /** It must be on the same file system as `root`, and outside every bucket. */
  readonly stagingFolder: string;
  readonly clock: Clock;
  /** Without it, no address can be signed. */
  readonly edge?: EdgeAddressing;
}

export interface EdgeAddressing {
  /** The public address of the edge, without a trailing slash. */
  readonly url: string;
  /** From `deriveAddressKey`. */
  readonly secret: AddressKey;
}

interface Store {
  /** Throws `storage_full`. */
  readonly assertSpace: () => void;
  readonly folders: Folders;
  readonly staging: ReturnType<typeof createStaging>;
}

export function openFilesystem(options: FilesystemOptions): Objects {
  const { bucket, clock } = options;
  const assertSpace = createSpaceCheck(dirname(options.stagingFolder), reserveForObjects);
  const store = {
    assertSpace,
    folders: createFolders(options.root),
    staging: createStaging(options.stagingFolder, clock),
  };
  const uploads = createFileUploads(store.folders, join(options.stagingFolder, 'resumable'), assertSpace);

  function sign(key: string, expiresInS: number) {
    assertSafeKey(key);
    assertExpiry(expiresInS);
    if (options.edge === undefined) throw new Error('URLs of files need the URL of the edge');
    return { edge: options.edge, terms: { bucket, key, expires: Math.floor(clock.now() / 1000) + expiresInS } };
  }

  return {
    bucket,
    head: (key) => guarded({ keys: [key], asProblem }, () => head(store, key)),
    get: (key, readOptions) => guarded({ keys: [key], asProblem }, () => get(store, key, readOptions)),
    put: (key, body, writeOptions) =>
      guarded({ keys: [key], body, asProblem }, () => put(store, key, body, writeOptions)),
    copy: (from, to, { ifMatch }) => guarded({ keys: [from, to], asProblem }, () => copy(store, from, to, ifMatch)),
    remove: (keys) => guarded({ keys, asProblem }, () => remove(store, keys)),
    list: (prefix, after) => guardedListing(prefix, after, () => list(store, prefix, after), asProblem),
    readAddress: (key, { expiresInS, contentType, etag, download }) => {
      const { edge, terms } = sign(key, expiresInS);
      return signAddress(edge.url, edge.secret, { method: 'GET', ...terms, contentType, etag, download });
    },
    writeAddress: (key, { expiresInS, contentType, size, maxSize }) => {
      const { edge, terms } = sign(key, expiresInS);
      return {
        url: signAddress(edge.url, edge.secret, { method: 'PUT', ...terms, contentType, size, maxSize }),
        headers: { 'Content-Type': contentType, 'If-None-Match': '*' },
      };
    },
    resumable: guardedUploads(uploads, asProblem),
    check: () => guarded({ asProblem }, () => check(store)),
  };
}

/** A failing disk is reported as an engine that does not respond. A conflict of two keys (`a` and `a/b`) is not. */
function asProblem(error: unknown): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  if (['ENOTDIR', 'EISDIR'].includes(codeOf(error) ?? ''))
    return new Error('on a file system, no object can be below another object', { cause: error });
  return asStorageFull(error) ?? problems.engine_unavailable({ cause: error });
}

async function head({ folders }: Store, key: string): Promise<ObjectHead | undefined> {
  const path = await folders.locate(key);
  const stat = path === undefined ? undefined : await lstat(path, { bigint: true }).catch(ignore('ENOENT', 'ENOTDIR'));
  return stat?.isFile() ? headOf(stat) : undefined;
}

/** The status and the bytes are of one open file, even if its name changes in between. */
async function get(
  { folders }: Store,
  key: string,
  { ifMatch, range, whole, signal }: ReadOptions = {},
): Promise<ObjectBody | undefined> {
  signal?.throwIfAborted();
  const path = await folders.locate(key);
  if (path === undefined) return undefined;
  // Non-blocking, because a pipe among the files would block a thread forever.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path, flags).catch(ignore('ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'));
  if (handle === undefined) return undefined;
  try {
    const stat = await handle.stat({ bigint: true });
    if (!stat.isFile()) {
      await handle.close();
      return undefined;
    }
    const seen = headOf(stat);
    if (ifMatch !== undefined && ifMatch !== seen.etag) throw new ObjectChanged(key);
    const { start, end } = clipRange(range, seen.size);
    const pieceBytes = whole ? end - start + 1 : undefined;
    const stream =
      start > end
        ? await emptyStream(handle)
        : handle.createReadStream({ start, end, ...(pieceBytes && { highWaterMark: pieceBytes }) });
    return { ...seen, start, end, stream: heldByReader(stream, signal) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function emptyStream(handle: FileHandle): Promise<Readable> {
  await handle.close();
  return Readable.from([]);
}

async function put(store: Store, key: string, body: Body, options: WriteOptions): Promise<ObjectHead> {
  if (options.createOnly && (await head(store, key)) !== undefined) throw new ObjectExists(key);
  store.assertSpace();
  const { path, handle } = await store.staging.create();
  let isStaged = true;
  try {
    const written = await write(handle, body, options.size, store.assertSpace);
    await place(store.folders, path, key, options);
    // Otherwise, the file was renamed.
    isStaged = options.createOnly === true;
    return written;
  } finally {
    if (isStaged) await store.staging.discard(path);
  }
}

async function write(
  handle: FileHandle,
  body: Body,
  size: number | undefined,
  assertSpace: () => void,
): Promise<ObjectHead> {
  try {
    if (body instanceof Uint8Array && size !== undefined && body.length !== size)
      throw new WrongLength(size, body.length);
    await handle.writeFile(body instanceof Uint8Array ? body : whileSpaceLasts(chunksOf(body, size), assertSpace));
    await handle.sync();
    return headOf(await handle.stat({ bigint: true }));
  } finally {
    await handle.close();
  }
}

async function* whileSpaceLasts(chunks: AsyncIterable<Uint8Array>, assertSpace: () => void) {
  for await (const chunk of chunks) {
    assertSpace();
    yield chunk;
  }
}

/** The link keeps the bytes that were looked up. The copy shares their blocks if the file system can do that. */
async function copy(store: Store, from: string, to: string, ifMatch?: string): Promise<ObjectHead | undefined> {
  const { folders, staging, assertSpace } = store;
  assertSpace();
  const source = await folders.locate(from);
  if (source === undefined) return undefined;
  const pinned = await staging.reserve();
  if (!(await pin(store, from, source, pinned))) return undefined;
  const draft = await staging.reserve();
  let isStaged = true;
  try {
    const stat = await lstat(pinned, { bigint: true });
    if (!stat.isFile()) return undefined;
    const seen = headOf(stat);
    if (ifMatch !== undefined && ifMatch !== seen.etag) throw new ObjectChanged(from);
    await copyFile(pinned, draft, constants.COPYFILE_FICLONE);
    const copied = await syncFile(draft);
    await place(folders, draft, to, {});
    isStaged = false;
    return copied;
  } finally {
    await Promise.all([staging.discard(pinned), isStaged && staging.discard(draft)]);
  }
}

/** Works even while other processes replace the object or remove the staging folder. */
const pinAttempts = 5;

/** Returns `false` if there is no such object. */
async function pin(store: Store, from: string, source: string, pinned: string): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      await link(source, pinned);
      return true;
    } catch (error) {
      if ((await head(store, from)) === undefined) return false;
      if (codeOf(error) !== 'ENOENT' || attempt === pinAttempts) throw error;
      await store.staging.restore();
    }
  }
}

const syncFile = (path: string): Promise<ObjectHead> =>
  withFile(path, 'r+', async (handle) => {
    await handle.sync();
    return headOf(await handle.stat({ bigint: true }));
  });

/** The removal survives a power cut: the folder of each key is synced before the call returns. */
async function remove({ folders }: Store, keys: readonly string[]) {
  const failed: { key: string; reason: string }[] = [];
  /** Folder → keys that were in it; what was not there has none. */
  const touched = new Map<string, string[]>();
  for (const key of new Set(keys)) {
    try {
      const folder = (await unlinkObject(folders, key)) ?? '';
      const itsKeys = touched.get(folder);
      if (itsKeys === undefined) touched.set(folder, [key]);
      else itsKeys.push(key);
    } catch (error) {
      failed.push({ key, reason: codeOf(error) ?? 'unknown' });
    }
  }
  const removed: string[] = [];
  for (const [folder, itsKeys] of touched) {
    try {
      if (folder !== '') await folders.sync(await folders.prune(folder));
      removed.push(...itsKeys);
    } catch (error) {
      failed.push(...itsKeys.map((key) => ({ key, reason: codeOf(error) ?? 'unknown' })));
    }
  }
  return { removed, failed };
}

/** Returns the folder that the object was in, or `undefined` if there was no such object, only a folder or a pipe perhaps. */
async function unlinkObject(folders: Folders, key: string): Promise<string | undefined> {
  const path = await folders.locate(key);
  const stat = path === undefined ? undefined : await lstat(path).catch(ignore('ENOENT', 'ENOTDIR'));
  if (path === undefined || !stat?.isFile()) return undefined;
  await unlink(path).catch(ignore('ENOENT', 'ENOTDIR'));
  return dirname(path);
}

async function* list({ folders }: Store, prefix: string, after?: string) {
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  const path = await folders.locate(folder.slice(0, -1));
  if (path === undefined) return;
  const top = folder === '' ? path : path.slice(0, -folder.length);
  const beyond = after === undefined ? undefined : Buffer.from(after);
  for await (const { key, stat } of walk(top, folder, prefix.slice(folder.length), beyond))
    yield { key, ...headOf(stat) };
}

/** Writes a file to prove that the folder is writable. */
async function check({ staging, assertSpace }: Store): Promise<void> {
  assertSpace();
  const { path, handle } = await staging.create();
  await handle.close();
  await staging.discard(path);
}

// Walks the files of a bucket in the order of their keys, which is that of their UTF-8 bytes, as in S3. Holds the names of
// one folder per level in memory.

/**
 * `top` is the folder of the bucket. `folder` is relative to it, and is empty or ends in `/`. The walk covers the names in it
 * that begin with `start`, and the keys that follow `after`. Removes empty folders: a process that died before it placed a file leaves
 * them, and their names can contain the id of an owner.
 */
async function* walk(
  top: string,
  folder: string,
  start: string,
  after?: Buffer,
): AsyncGenerator<{ readonly key: string; readonly stat: Awaited<ReturnType<typeof statFile>> }> {
  const entries = await readdir(join(top, folder), { withFileTypes: true }).catch(ignore('ENOENT', 'ENOTDIR'));
  const wanted = (entries ?? [])
    .filter((entry) => entry.name.startsWith(start) && (entry.isFile() || entry.isDirectory()))
    // `a.jpg` comes before `a/b`, as `.` comes before `/`.
    .map((entry) => (entry.isDirectory() ? `${folder}${entry.name}/` : `${folder}${entry.name}`))
    .map((path) => ({ path, bytes: Buffer.from(path) }))
    .filter(({ path, bytes }) => after === undefined || isBeyond(path, bytes, after))
    .sort((left, right) => Buffer.compare(left.bytes, right.bytes));
  for (const { path } of wanted) {
    if (path.endsWith('/')) {
      yield* walk(top, path, '', after);
    } else if (isSafeKey(path)) {
      const stat = await statFile(join(top, path)).catch(ignore('ENOENT', 'ENOTDIR'));
      if (stat?.isFile()) yield { key: path, stat };
    }
  }
  const isMaybeEmpty = entries?.every((entry) => entry.isDirectory()) === true;
  // The kernel refuses a folder that is not empty.
  if (folder !== '' && isMaybeEmpty) await rmdir(join(top, folder)).catch(() => undefined);
}

/** Of a folder: whether any key in it can be. */
function isBeyond(path: string, bytes: Buffer, after: Buffer): boolean {
  if (Buffer.compare(bytes, after) > 0) return true;
  return path.endsWith('/') && bytes.equals(after.subarray(0, bytes.length));
}

function statFile(path: string) {
  return lstat(path, { bigint: true });
}

// The folder where files are written before they get their names. It is on the file system of the objects, but outside
// every bucket, so that no listing shows an incomplete file. A later writer removes the files of a killed one.

/** Each chunk, and each link, updates the time of its file, so a file that is idle for this long has no owner. */
const abandonedAfterMs = 60 * 60 * 1000;

function createStaging(folder: string, clock: Clock) {
  let sweptAt = Number.NEGATIVE_INFINITY;

  /** Creates the folder again if it is gone. */
  async function restore(): Promise<void> {
    await mkdir(folder, { recursive: true });
  }

  /** Returns an unused path in the folder. If the folder is gone, `restore` it. */
  async function reserve(): Promise<string> {
    if (clock.now() - sweptAt > abandonedAfterMs) {
      sweptAt = clock.now();
      await restore();
      await removeAbandoned(folder, clock.now() - abandonedAfterMs);
    }
    return join(folder, randomUUID());
  }

  return {
    reserve,
    restore,
    /** Opens a new, empty file for writing. The caller closes the handle, and renames or discards the file. */
    create: async () => {
      const path = await reserve();
      const handle = await open(path, 'wx').catch(ignore('ENOENT'));
      if (handle !== undefined) return { path, handle };
      await restore();
      return { path, handle: await open(path, 'wx') };
    },
    discard: async (path: string) => {
      await unlink(path).catch(ignore('ENOENT'));
    },
  };
}

/** The age counts from the last change of any kind (ctime), so a new link to an old object is young. */
async function removeAbandoned(folder: string, beforeMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const stat = await lstat(path).catch(() => undefined); // Gone: its writer is done.
    if (stat?.isFile() && stat.ctimeMs < beforeMs) await rm(path, { force: true });
  }
}
