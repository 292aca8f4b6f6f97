/** Presents one object that is in no store with the interface of stored objects. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { ObjectChanged, type ObjectHead, type Objects } from '#platform/objects/objects.ts';
import { clipRange } from '#platform/objects/ranges.ts';

export type ReadableObjects = Pick<Objects, 'head' | 'get'>;

/** The object has every key. */
export function inMemory(bytes: Uint8Array, modifiedAt: Date): ReadableObjects {
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  const head: ObjectHead = { size: bytes.length, etag, modifiedAt };
  return {
    head: async () => head,
    get: async (key, { ifMatch, range } = {}) => {
      if (ifMatch !== undefined && ifMatch !== etag) throw new ObjectChanged(key);
      const { start, end } = clipRange(range, bytes.length);
      return { ...head, start, end, stream: Readable.from([bytes.subarray(start, end + 1)]) };
    },
  };
}
