/** The digests of stored objects of any size; concurrent calls share one read (docs/screening.md). */
import { LRUCache } from 'lru-cache';
import { EngineBusy } from '#image/engine/engine.ts';
import { createPermits } from '#image/engine/permits.ts';
import type { ObjectHead, Objects } from '#platform/objects/objects.ts';
import { problems } from '#platform/problem.ts';
import { DeadlineExceeded, withDeadline } from '#platform/resilience.ts';
import { mediaProblems } from '../problems.ts';
import type { ExactDigests } from '../screening/messages.ts';
import { type ReadableObjects, startHashes, streamUnchanged } from './unchanged.ts';

export interface Digester {
  /**
   * Returns the digests of exactly the object that `head` describes, or `undefined` if it was removed or replaced.
   * Throws `engine_unavailable`, `overloaded`, and `digest_pending` if it takes longer than a request can wait: the
   * read continues, and a retry joins it.
   */
  digestsOf(objects: ReadableObjects, storageKey: string, head: ObjectHead): Promise<ExactDigests | undefined>;
  /** Adds the digests of bytes that passed through this process on their way into the store. */
  add(objects: Pick<Objects, 'bucket'>, storageKey: string, etag: string, digests: ExactDigests): void;
}

/** Below the 60 s that proxies wait for a response. */
const longestWaitMs = 50_000;
/** Smaller objects do not queue behind large ones. */
const largeBytes = 16 * 1024 * 1024;
/** Each keeps a connection to the store. */
const largeAtOnce = 8;

export function createDigester({ waitMs = longestWaitMs }: { readonly waitMs?: number } = {}): Digester {
  const permits = createPermits({ count: largeAtOnce, waitMs });
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
    }
  }

  return {
    digestsOf: async (objects, storageKey, head) => {
      const name = nameOf(objects, storageKey, head.etag);
      const found = known.get(name);
      if (found !== undefined) return found;
      const reading = running.get(name) ?? read(objects, storageKey, head, name).finally(() => running.delete(name));
      running.set(name, reading);
      // It can fail after all callers have left.
      reading.catch(() => undefined);
      try {
        return await withDeadline(waitMs, () => reading);
      } catch (error) {
        throw error instanceof DeadlineExceeded ? mediaProblems.digest_pending({ cause: error }) : error;
      }
    },
    add: (objects, storageKey, etag, digests) => {
      known.set(nameOf(objects, storageKey, etag), digests);
    },
  };
}

function busy(error: unknown): never {
  throw error instanceof EngineBusy ? problems.overloaded({ cause: error }) : error;
}
