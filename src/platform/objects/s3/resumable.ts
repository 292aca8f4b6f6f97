/**
 * Resumable uploads on S3. Each is a multipart upload whose parts have one size, as some servers require, and objects below
 * `.uploads/<id>/`: `multipart` names the multipart upload, and `tail-<parts>-<bytes>` holds what follows that many parts.
 * Nothing is locked: a part is only replaced by one of the same extent, and the longest of several tails counts.
 */

import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { writeAt } from '../../files.ts';
import { type ListedObject, ObjectExists, type Objects } from '../objects.ts';
import type { UploadSweep, UploadSweepPage } from '../resumable.ts';
import {
  OffsetConflict,
  type ResumableUpload,
  type ResumableUploads,
  UploadEnded,
  UploadTakenOver,
} from '../resumable.ts';
import { S3Fault, type S3Place } from './client.ts';
import {
  abortMultipart,
  completeMultipart,
  initiateMultipart,
  listMultiparts,
  listParts,
  type Multipart,
  type Part,
  uploadPart,
} from './multipart.ts';

// Leftovers of resumable uploads: multipart uploads in progress, then the objects below `.uploads/`.

const uploadsPrefix = '.uploads/';

/** The position of a sweep, in `next`: `multipart <upload id> <key>`, or `object <key>`, whose key is empty at first. */
async function sweepUploads(
  place: S3Place,
  objects: Pick<Objects, 'list' | 'remove'>,
  request: UploadSweep,
): Promise<UploadSweepPage> {
  const { after = '' } = request;
  const key = /^object (.*)$/.exec(after)?.[1];
  return key === undefined
    ? sweepMultiparts(place, request, multipartOf(after))
    : sweepObjects(objects, request, key || undefined);
}

function multipartOf(after: string): Multipart | undefined {
  const [, uploadId, key] = /^multipart (\S+) (.+)$/.exec(after) ?? [];
  return uploadId === undefined || key === undefined ? undefined : { uploadId, key };
}

async function sweepMultiparts(
  place: S3Place,
  { before, apply, limit }: UploadSweep,
  after: Multipart | undefined,
): Promise<UploadSweepPage> {
  const idle: string[] = [];
  let read = 0;
  for await (const multipart of listMultiparts(place, 'u/', after)) {
    if (multipart.initiatedAt < before) {
      if (apply) await abortMultipart(place, multipart);
      idle.push(multipart.uploadId);
    }
    if (++read === limit) return { idle, next: `multipart ${multipart.uploadId} ${multipart.key}` };
  }
  return { idle, next: 'object ' };
}

async function sweepObjects(
  objects: Pick<Objects, 'list' | 'remove'>,
  { before, apply, limit }: UploadSweep,
  after: string | undefined,
): Promise<UploadSweepPage> {
  const idle: string[] = [];
  let last: string | undefined;
  let read = 0;
  for await (const { key, modifiedAt } of objects.list(uploadsPrefix, after)) {
    if (modifiedAt < before) idle.push(key);
    if (++read === limit) {
      last = key;
      break;
    }
  }
  if (apply && idle.length > 0) await objects.remove(idle);
  return { idle, next: last && `object ${last}` };
}

const binary = 'application/octet-stream';
const smallestPartBytes = 8 * 1024 ** 2;
/** The limit of S3. */
const maxParts = 10_000;

interface Tail {
  readonly name: string;
  readonly afterParts: number;
  readonly size: number;
}

interface State {
  readonly multipart: Multipart | undefined;
  readonly parts: readonly Part[];
  readonly tail: Tail | undefined;
  /** Every tail, the outdated ones too. */
  readonly tails: readonly Tail[];
  readonly offset: number;
}

type Named = Pick<ResumableUpload, 'id' | 'key'>;
type Store = Pick<Objects, 'get' | 'head' | 'put' | 'list' | 'remove'>;

export function createS3Uploads(place: S3Place, objects: Store): ResumableUploads {
  async function read(upload: ResumableUpload): Promise<State> {
    const folder = folderOf(upload);
    const names = (await objectsOf(upload)).map(({ key }) => key.slice(folder.length));
    if (names.includes('ended')) throw new UploadEnded();
    const tails = names.map(tailOf).filter((tail) => tail !== undefined);
    const multipart = names.includes('multipart') ? await readMultipart(upload) : undefined;
    // Completed, aborted by a sweep, or sealed.
    const parts = multipart && (await listParts(place, multipart));
    if (multipart !== undefined && parts === undefined) throw new UploadEnded();
    const leading = leadingParts(parts ?? []);
    const tail = tails.filter(({ afterParts }) => afterParts === leading.length).sort((a, b) => b.size - a.size)[0];
    const offset = leading.reduce((sum, { size }) => sum + size, 0) + (tail?.size ?? 0);
    return { multipart, parts: leading, tail, tails, offset };
  }

  async function readMultipart(upload: Named): Promise<Multipart | undefined> {
    const body = await objects.get(`${folderOf(upload)}multipart`);
    return body && { key: upload.key, uploadId: await text(body.stream) };
  }

  /** Of several processes, one creates the record, and the others use it. */
  async function beginMultipart(upload: ResumableUpload): Promise<Multipart> {
    const ours = await initiateMultipart(place, upload.key, upload.contentType);
    try {
      const options = { contentType: binary, createOnly: true };
      await objects.put(`${folderOf(upload)}multipart`, Buffer.from(ours.uploadId), options);
    } catch (error) {
      // After any other error the record may exist. If not, a sweep aborts ours.
      if (!(error instanceof ObjectExists)) throw error;
      await abortMultipart(place, ours);
    }
    const theirs = await readMultipart(upload);
    if (theirs === undefined) throw new UploadEnded();
    return theirs;
  }

  async function objectsOf(upload: Named): Promise<readonly ListedObject[]> {
    const found: ListedObject[] = [];
    for await (const object of objects.list(folderOf(upload))) found.push(object);
    return found;
  }

  async function removeObjects(upload: Named, isMeant = (_key: string) => true): Promise<void> {
    const keys = (await objectsOf(upload)).map(({ key }) => key).filter(isMeant);
    if (keys.length > 0) await objects.remove(keys);
  }

  /** Stores the bytes of one request. The spool begins with the tail of the request before. */
  async function receive(upload: ResumableUpload, state: State, spool: Spool, body: Readable): Promise<number> {
    const partBytes = partBytesOf(upload);
    const parts = [...state.parts];
    let { multipart, offset } = state;
    const flush = async () => {
      multipart ??= await beginMultipart(upload);
      const part = await uploadPart(place, multipart, parts.length + 1, spool.read(), spool.size);
      if (part === undefined) throw new UploadTakenOver();
      parts.push(part);
      spool.clear();
    };
    const take = async (bytes: Uint8Array) => {
      if (offset + bytes.length > upload.size) throw new RangeError('the body is longer than the upload');
      for (let taken = 0; taken < bytes.length; ) {
        if (spool.size === partBytes) await flush();
        const piece = bytes.subarray(taken, taken + partBytes - spool.size);
        await spool.add(piece);
        taken += piece.length;
        offset += piece.length;
      }
    };
    let failure: unknown;
    try {
      for await (const chunk of body) await take(chunk);
    } catch (error) {
      if (error instanceof UploadTakenOver) throw error;
      failure = error;
    }
    // The upload is complete, even if the request failed at its end: a client that reads this offset sends nothing more.
    if (offset === upload.size) {
      if (upload.size > partBytes && spool.size > 0) await flush();
      await complete(upload, multipart, parts, spool);
      return offset;
    }
    await keepTail(upload, { ...state, parts }, spool);
    if (failure !== undefined) throw failure;
    return offset;
  }

  async function keepTail(upload: ResumableUpload, { parts, tails }: State, spool: Spool): Promise<void> {
    const folder = folderOf(upload);
    const kept = `tail-${parts.length}-${spool.size}`;
    if (spool.size > 0 && !tails.some(({ name }) => name === kept))
      await objects.put(folder + kept, spool.read(), { contentType: binary, size: spool.size });
    const outdated = tails.filter(
      ({ afterParts, size }) => afterParts < parts.length || (afterParts === parts.length && size < spool.size),
    );
    if (outdated.length > 0) await objects.remove(outdated.map(({ name }) => folder + name));
  }

  async function complete(
    upload: ResumableUpload,
    multipart: Multipart | undefined,
    parts: readonly Part[],
    spool: Spool,
  ): Promise<void> {
    const { key, size, contentType } = upload;
    if (multipart === undefined) await objects.put(key, spool.read(), { contentType, size, createOnly: true });
    else {
      // Not every server knows the condition on a completion. `seal` stops what this look misses.
      if ((await objects.head(key)) !== undefined) throw new ObjectExists(key);
      if ((await completeMultipart(place, multipart, parts)) === 'gone') throw new UploadTakenOver();
    }
    await removeObjects(upload);
  }

  async function abortAll(prefix: string, isMeant: (key: string) => boolean): Promise<void> {
    try {
      for await (const multipart of listMultiparts(place, prefix))
        if (isMeant(multipart.key)) await abortMultipart(place, multipart);
    } catch (error) {
      // A key without this right, or a server without the list.
      if (!(error instanceof S3Fault) || error.status >= 500) throw error;
    }
  }

  async function terminate(upload: Named): Promise<void> {
    const ended = `${folderOf(upload)}ended`;
    await objects.put(ended, Buffer.of(0), { contentType: binary });
    const multipart = await readMultipart(upload);
    if (multipart !== undefined) await abortMultipart(place, multipart);
    await removeObjects(upload, (key) => key !== ended);
  }

  async function lastChangeMs(upload: Named): Promise<number> {
    const multipart = await readMultipart(upload);
    const parts = (multipart && (await listParts(place, multipart))) ?? [];
    const times = [
      ...(await objectsOf(upload)).map(({ modifiedAt }) => modifiedAt),
      ...parts.flatMap(({ storedAt }) => storedAt ?? []),
    ];
    return Math.max(0, ...times.map((time) => time.getTime()));
  }

  return {
    offset: async (upload) => (await read(upload)).offset,
    append: async (upload, offset, body) => {
      const state = await read(upload);
      if (state.offset !== offset) throw new OffsetConflict(state.offset);
      const spool = await openSpool();
      try {
        if (state.tail !== undefined) await load(objects, `${folderOf(upload)}${state.tail.name}`, spool);
        return await receive(upload, state, spool, body);
      } finally {
        await spool.close();
      }
    },
    terminate,
    discard: async (upload, before) => {
      if ((await lastChangeMs(upload)) >= before.getTime()) return false;
      await terminate(upload);
      return true;
    },
    seal: (key) => abortAll(key, (found) => found === key),
    sealBelow: (prefix) => abortAll(prefix, () => true),
    sweep: (request) => sweepUploads(place, objects, request),
  };
}

const folderOf = ({ id }: Named) => `${uploadsPrefix}${id}/`;

/** One size for all parts of an upload, and at most 10,000 parts. */
function partBytesOf({ size }: ResumableUpload): number {
  const MiB = 1024 ** 2;
  return Math.max(smallestPartBytes, Math.ceil(size / maxParts / MiB) * MiB);
}

function tailOf(name: string): Tail | undefined {
  const [, afterParts, size] = /^tail-(\d{1,5})-(\d{1,15})$/.exec(name) ?? [];
  return afterParts === undefined ? undefined : { name, afterParts: Number(afterParts), size: Number(size) };
}

/** Without the parts behind a gap, which no process leaves on purpose. */
function leadingParts(parts: readonly Part[]): readonly Part[] {
  const gap = parts.findIndex(({ number }, at) => number !== at + 1);
  return gap === -1 ? parts : parts.slice(0, gap);
}

async function load(objects: Store, key: string, spool: Spool): Promise<void> {
  const body = await objects.get(key);
  // Another process has stored a longer tail since.
  if (body === undefined) throw new UploadTakenOver();
  for await (const chunk of body.stream) await spool.add(chunk);
}

// Bytes between a slow sender and the S3 server: a file without a name, so that a killed process leaves nothing.

interface Spool {
  readonly size: number;
  add(bytes: Uint8Array): Promise<void>;
  /** From the first byte. End it before the next `add`. */
  read(): Readable;
  clear(): void;
  close(): Promise<void>;
}

const pieceBytes = 256 * 1024;

/** A read stream of Node would close the file with itself. */
async function* piecesOf(handle: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < size; ) {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, size - position));
    const { bytesRead } = await handle.read(piece, 0, piece.length, position);
    if (bytesRead === 0) throw new Error('the spool is shorter than what was written');
    position += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}

async function openSpool(): Promise<Spool> {
  const path = join(tmpdir(), `atelier-spool-${randomUUID()}`);
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  let size = 0;
  return {
    get size() {
      return size;
    },
    add: async (bytes) => {
      await writeAt(handle, bytes, size);
      size += bytes.length;
    },
    read: () => Readable.from(piecesOf(handle, size), { objectMode: false }),
    clear: () => {
      size = 0;
    },
    close: () => handle.close(),
  };
}
