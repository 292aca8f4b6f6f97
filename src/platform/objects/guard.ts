/** The checks and the error handling that every method of an object store has in common. */
import { Readable } from 'node:stream';
import { assertOutsideTransaction } from '../db/db.ts';
import type { Body } from './bodies.ts';
import { assertSafeKey, assertSafePrefix } from './objects.ts';
import { assertUploadId, type ResumableUpload, type ResumableUploads } from './resumable.ts';

interface Guard {
  readonly keys?: readonly string[];
  readonly body?: Body;
  /** Turns the driver's own errors into Problems, and returns any other error unchanged. */
  readonly asProblem: (error: unknown) => unknown;
}

/**
 * Checks the keys, and runs `work`. Destroys a body that is not read to its end, so that its sender does not wait. The
 * body's own error is passed on unchanged.
 */
export async function guarded<T>({ keys = [], body, asProblem }: Guard, work: () => Promise<T>): Promise<T> {
  const stream = body instanceof Readable ? body : undefined;
  // Without a listener, an error before the first read would end the process. The reader receives it too.
  stream?.on('error', () => undefined);
  try {
    assertOutsideTransaction('the object store');
    for (const key of keys) assertSafeKey(key);
    return await work();
  } catch (error) {
    const ofBody = stream?.errored === error;
    stream?.destroy();
    throw ofBody ? error : asProblem(error);
  }
}

/** Throws for an unsafe prefix at once, not at the first step of the iteration. */
export function guardedListing<T>(
  prefix: string,
  after: string | undefined,
  list: () => AsyncIterable<T>,
  asProblem: Guard['asProblem'],
): AsyncIterable<T> {
  assertOutsideTransaction('the object store');
  assertSafePrefix(prefix);
  if (after !== undefined) assertSafeKey(after);
  return withProblems(list, asProblem);
}

async function* withProblems<T>(list: () => AsyncIterable<T>, asProblem: Guard['asProblem']): AsyncGenerator<T> {
  try {
    for await (const found of list()) {
      yield found;
      assertOutsideTransaction('the object store');
    }
  } catch (error) {
    throw asProblem(error);
  }
}

export function guardedUploads(uploads: ResumableUploads, asProblem: Guard['asProblem']): ResumableUploads {
  const guardedOf = <T>({ id, key }: ResumableUpload, work: () => Promise<T>, body?: Body) => {
    assertUploadId(id);
    return guarded({ keys: [key], asProblem, ...(body && { body }) }, work);
  };
  return {
    offset: async (upload) => guardedOf(upload, () => uploads.offset(upload)),
    append: async (upload, offset, body) => guardedOf(upload, () => uploads.append(upload, offset, body), body),
    terminate: async (upload) => guardedOf(upload, () => uploads.terminate(upload)),
    discard: async ({ id, key }, before) => {
      assertUploadId(id);
      return guarded({ keys: [key], asProblem }, () => uploads.discard({ id, key }, before));
    },
    sealBelow: (prefix) => guarded({ keys: [], asProblem }, () => uploads.sealBelow(prefix)),
    seal: (key) => guarded({ keys: [key], asProblem }, () => uploads.seal(key)),
    sweep: (request) => guarded({ asProblem }, () => uploads.sweep(request)),
  };
}
