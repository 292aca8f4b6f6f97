/** The digests of stored objects of any size, read once as a stream however many ask (docs/screening.md). */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { EngineBusy } from '#image/engine/engine.ts';
import { createPermits } from '#image/engine/permits.ts';
import { ObjectChanged, type ObjectHead, type Objects, type ReadOptions } from '#platform/objects/objects.ts';
import { Problem, problems } from '#platform/problem.ts';
import { DeadlineExceeded, startIdleDeadline, withDeadline } from '#platform/resilience/deadline.ts';
import { mediaProblems } from '../problems.ts';
import type { ExactDigests } from '../screening/messages.ts';

/** The store of the object, as far as reading it takes. */
export type ReadableObjects = Pick<Objects, 'bucket' | 'get'>;

export interface Digester {
  /**
   * Of exactly the object that `head` describes; `undefined`: it is gone or has become another one. Throws
   * `engine_unavailable`, `overloaded`, and `digest_pending` when it takes longer than a request may: it goes on, and a
   * repeat joins it.
   */
  digestsOf(objects: ReadableObjects, storageKey: string, head: ObjectHead): Promise<ExactDigests | undefined>;
  /** Of bytes that were seen on their way into the store. */
  note(objects: Pick<Objects, 'bucket'>, storageKey: string, etag: string, digests: ExactDigests): void;
}

/** A read may take long as long as it moves. */
const readIdleMs = 5000;
/** Below the minute that proxies wait for an answer. */
const longestWaitMs = 50_000;
/** Smaller objects do not queue behind large ones. */
const largeBytes = 16 * 1024 * 1024;
/** Each keeps a connection to the store. */
const largeAtOnce = 8;

export function createDigester({ waitMs = longestWaitMs }: { readonly waitMs?: number } = {}): Digester {
  const permits = createPermits({ count: largeAtOnce, waitMs: longestWaitMs });
  const known = new LRUCache<string, ExactDigests>({ max: 1000 });
  const running = new Map<string, Promise<ExactDigests | undefined>>();
  const nameOf = (objects: Pick<Objects, 'bucket'>, storageKey: string, etag: string) =>
    JSON.stringify([objects.bucket, storageKey, etag]);

  async function read(objects: ReadableObjects, storageKey: string, head: ObjectHead, name: string) {
    const release = head.size < largeBytes ? undefined : await permits.acquire().catch(busy);
    try {
      const hashes = startHashes();
      const isRead = await streamUnchanged(objects, storageKey, { ifMatch: head.etag }, () => hashes.update);
      if (!isRead) return undefined;
      const digests = hashes.digests();
      known.set(name, digests);
      return digests;
    } finally {
      release?.();
      running.delete(name);
    }
  }

  return {
    digestsOf: async (objects, storageKey, head) => {
      const name = nameOf(objects, storageKey, head.etag);
      const found = known.get(name);
      if (found !== undefined) return found;
      const reading = running.get(name) ?? read(objects, storageKey, head, name);
      running.set(name, reading);
      // It may fail when nobody waits for it any more.
      reading.catch(() => undefined);
      try {
        return await withDeadline(waitMs, () => reading);
      } catch (error) {
        throw error instanceof DeadlineExceeded ? mediaProblems.digest_pending({ cause: error }) : error;
      }
    },
    note: (objects, storageKey, etag, digests) => {
      known.set(nameOf(objects, storageKey, etag), digests);
    },
  };
}

function busy(error: unknown): never {
  throw error instanceof EngineBusy ? problems.overloaded({ cause: error }) : error;
}

/** Taken a chunk at a time, so that no file holds the event loop. */
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
 * Hands every chunk of an object to what `begin` answers with when it knows how many bytes come. `false`: the object is
 * gone, or another one than `ifMatch` means. Throws `engine_unavailable`.
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
