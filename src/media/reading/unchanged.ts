/** Reads stored objects: exactly the bytes of an ETag, or nothing. */
import { createHash } from 'node:crypto';
import { ObjectChanged, type Objects, type ReadOptions } from '#platform/objects/objects.ts';
import { Problem, problems } from '#platform/problem.ts';
import { startIdleDeadline } from '#platform/resilience.ts';
import type { ExactDigests } from '../screening/messages.ts';

export type ReadableObjects = Pick<Objects, 'bucket' | 'get'>;

/** A read can take any time as long as bytes arrive. */
const readIdleMs = 5000;

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
  const deadline = startIdleDeadline(readIdleMs);
  const take = async () => {
    const body = await objects.get(storageKey, { ...options, signal: deadline.signal });
    if (body === undefined) return false;
    const size = body.end - body.start + 1;
    const onChunk = begin(size);
    let length = 0;
    for await (const chunk of body.stream as AsyncIterable<Buffer>) {
      deadline.touch();
      length += chunk.length;
      if (length > size) break;
      onChunk(chunk);
    }
    if (length !== size) throw new Error(`the object has ${length} bytes instead of ${size}`);
    return true;
  };
  try {
    return await deadline.race(take());
  } catch (error) {
    if (error instanceof ObjectChanged) return false;
    throw error instanceof Problem ? error : problems.engine_unavailable({ cause: error });
  } finally {
    deadline.stop();
  }
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
