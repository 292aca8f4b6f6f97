/** Reads stored objects: exactly the bytes of an ETag, or nothing. */
import { createHash } from 'node:crypto';
import { beginningBytes } from '#image/engine/formats.ts';
import { type ObjectBody, ObjectChanged, type Objects, type ReadOptions } from '#platform/objects/objects.ts';
import { Problem, problems } from '#platform/problem.ts';
import { startIdleDeadline } from '#platform/resilience.ts';
import type { ExactDigests } from '../screening/messages.ts';

export type ReadableObjects = Pick<Objects, 'bucket' | 'get'>;

/** A read can take any time as long as bytes arrive. */
const readIdleMs = 5000;
/** Of a copy, whose target can be slower. A store that does not respond takes 8 s of the 10 s in which every request gets a response. */
export const copyIdleMs = 8000;

/** Calls `onChunk` for each chunk before it is passed on. */
export async function* watching(chunks: AsyncIterable<Buffer>, onChunk: (chunk: Buffer) => void) {
  for await (const chunk of chunks) {
    onChunk(chunk);
    yield chunk;
  }
}

/** Opens an object for `work`. `undefined`: it does not exist. Throws as `Objects.get` and `work`, and DeadlineExceeded. */
export async function withObject<Result>(
  objects: ReadableObjects,
  storageKey: string,
  options: ReadOptions,
  idleMs: number,
  work: (body: ObjectBody, chunks: AsyncIterable<Buffer>) => Promise<Result>,
): Promise<Result | undefined> {
  const deadline = startIdleDeadline(idleMs);
  let body: ObjectBody | undefined;
  const open = async () => {
    body = await objects.get(storageKey, { ...options, signal: deadline.signal });
    return body && work(body, watching(body.stream as AsyncIterable<Buffer>, deadline.touch));
  };
  try {
    return await deadline.race(open());
  } finally {
    deadline.stop();
    // A generator that has not started closes nothing.
    body?.stream.destroy();
  }
}

/** Computed chunk by chunk, so that a large file does not block the event loop. */
export interface Hashes {
  update(chunk: Uint8Array): void;
  digests(): ExactDigests;
}

export function startHashes(): Hashes {
  const [sha256, md5] = [createHash('sha256'), createHash('md5')];
  return {
    update: (chunk) => {
      sha256.update(chunk);
      md5.update(chunk);
    },
    digests: () => ({ sha256: sha256.digest('hex'), md5: md5.digest('hex') }),
  };
}

/**
 * Passes every chunk of an object to the function that `begin` returns for its size. `false`: the object was removed,
 * or its ETag is not `ifMatch`. Throws `engine_unavailable`.
 */
export async function streamUnchanged(
  objects: ReadableObjects,
  storageKey: string,
  options: ReadOptions,
  begin: (bytes: number) => (chunk: Buffer) => void,
): Promise<boolean> {
  const take = async ({ start, end }: ObjectBody, chunks: AsyncIterable<Buffer>) => {
    const size = end - start + 1;
    const onChunk = begin(size);
    let length = 0;
    for await (const chunk of chunks) {
      length += chunk.length;
      if (length > size) break;
      onChunk(chunk);
    }
    if (length !== size) throw new Error(`the object has ${length} bytes instead of ${size}`);
    return true;
  };
  return (await withObject(objects, storageKey, options, readIdleMs, take).catch(absentIfChanged)) ?? false;
}

/** Throws other errors as `engine_unavailable`. */
export function absentIfChanged(error: unknown): undefined {
  if (error instanceof ObjectChanged) return undefined;
  throw error instanceof Problem ? error : problems.engine_unavailable({ cause: error });
}

export interface ReadObject {
  readonly bytes: Uint8Array;
  readonly digests: ExactDigests;
}

/** `undefined`: the object was removed, or its ETag is not `ifMatch`. Throws `engine_unavailable`. */
export async function readUnchanged(
  objects: ReadableObjects,
  storageKey: string,
  options: ReadOptions,
): Promise<ReadObject | undefined> {
  const hashes = startHashes();
  let bytes: Buffer = Buffer.alloc(0);
  let length = 0;
  const isRead = await streamUnchanged(objects, storageKey, options, (size) => {
    return (chunk) => {
      hashes.update(chunk);
      if (chunk.length === size) bytes = chunk;
      if (bytes === chunk) return;
      if (length === 0) bytes = Buffer.allocUnsafe(size);
      length += chunk.copy(bytes, length);
    };
  });
  return isRead ? { bytes, digests: hashes.digests() } : undefined;
}

/** The bytes that show the type of an object. As `readUnchanged`. */
export async function readBeginning(
  objects: ReadableObjects,
  storageKey: string,
  ifMatch: string,
): Promise<Uint8Array | undefined> {
  const range = { start: 0, end: beginningBytes - 1 };
  return (await readUnchanged(objects, storageKey, { ifMatch, range }))?.bytes;
}
