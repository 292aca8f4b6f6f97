/** Moves the objects. Each is read back and compared before it is recorded as moved, so a repeated run continues. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import mimeTypes from 'mime';
import {
  findRelocations,
  forgetRelocation,
  noteRelocations,
  type Relocation,
} from '#media/reconciling/relocationstore.ts';
import { mapConcurrently } from '#platform/concurrency/mapconcurrently.ts';
import type { Db } from '#platform/db/db.ts';
import { StartFault } from '#platform/lifecycle.ts';
import type { ListedObject, Objects } from '#platform/objects/objects.ts';
import { Problem } from '#platform/problem.ts';
import { retry } from '#platform/resilience/retry.ts';
import type { Progress } from '../progress.ts';

export interface ObjectsMove {
  readonly source: Objects;
  readonly target: Objects;
  /** The database that records the location of each object. */
  readonly notes: Db<object>;
  readonly progress: Progress;
}

const pageLength = 200;
const objectsAtOnce = 8;
const retryOptions = {
  attempts: 5,
  baseDelayMs: 500,
  maxDelayMs: 8000,
  isRetryable: (error: unknown) => error instanceof Problem,
};

/** Returns the number of objects. Throws StartFault if the target contains an object that the source does not have. */
export async function moveObjects(move: ObjectsMove): Promise<number> {
  let count = 0;
  for await (const page of pagesOf(move.source)) {
    await moveMissing(move, page);
    count += page.length;
  }
  const found = await verifyTarget(move);
  if (found !== count)
    throw new StartFault(`S3_BUCKET: the bucket has only ${found} of ${count} objects. Run \`npm run move\` again.`);
  return count;
}

async function* pagesOf(objects: Objects): AsyncGenerator<readonly ListedObject[]> {
  let page: ListedObject[] = [];
  for await (const object of objects.list('')) {
    page.push(object);
    if (page.length < pageLength) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

async function moveMissing(move: ObjectsMove, page: readonly ListedObject[]): Promise<void> {
  const { source, target, notes, progress } = move;
  const noted = await findRelocations(
    notes,
    page.map(({ key }) => key),
  );
  await mapConcurrently(page, objectsAtOnce, async (object) => {
    const { key, etag, size } = object;
    const known = noted.get(key);
    if (known?.etag !== etag || known.newBucket !== target.bucket) {
      const moved = await retry(() => moveObject(move, object), retryOptions);
      const place = { backend: 'objects', bucket: source.bucket, newBucket: target.bucket } as const;
      await noteRelocations(notes, [{ ...place, key, etag, size, ...moved }]);
    }
    progress.add(size);
  });
}

/** Returns the object's ETag in the target and its digest. */
async function moveObject(
  { source, target }: ObjectsMove,
  { key, etag, size }: ListedObject,
): Promise<Pick<Relocation, 'newEtag' | 'sha256'>> {
  const body = await source.get(key, { ifMatch: etag });
  if (body === undefined)
    throw new StartFault(`${key} disappeared during the move: an instance is still running on the source.`);
  const sent = createHash('sha256');
  const stream = Readable.from(hashed(body.stream, sent), { objectMode: false });
  const contentType = mimeTypes.getType(key) ?? 'application/octet-stream';
  const written = await target.put(key, stream, { contentType, size });
  const back = await target.get(key, { ifMatch: written.etag });
  const received = createHash('sha256');
  for await (const chunk of back?.stream ?? []) received.update(chunk);
  const sha256 = sent.digest('hex');
  if (sha256 !== received.digest('hex'))
    throw new StartFault(`S3_ENDPOINT: ${key} has different bytes after the upload.`);
  return { newEtag: written.etag, sha256 };
}

async function* hashed(stream: Readable, digest: ReturnType<typeof createHash>) {
  for await (const chunk of stream) {
    digest.update(chunk);
    yield chunk;
  }
}

/** Counts the objects that the target contains as recorded. Removes objects that the source no longer has. */
async function verifyTarget({ source, target, notes }: ObjectsMove): Promise<number> {
  let count = 0;
  for await (const page of pagesOf(target)) {
    const noted = await findRelocations(
      notes,
      page.map(({ key }) => key),
    );
    for (const { key, etag, size } of page) {
      const note = noted.get(key);
      if (note === undefined)
        throw new StartFault(
          `S3_BUCKET: the bucket "${target.bucket}" contains ${key}, which does not belong to this installation. Remove it.`,
        );
      const original = await source.head(key);
      if (original === undefined) {
        await target.remove([key]);
        await forgetRelocation(notes, key);
      } else if (note.newEtag === etag && original.size === size) count += 1;
    }
  }
  return count;
}
