/** The source of an image, as the variant maker needs it. */
import { type ObjectBody, ObjectChanged, type Objects } from '#platform/objects/objects.ts';
import { type IdleDeadline, startIdleDeadline } from '#platform/resilience.ts';
import { ImageFault } from './engine.ts';

/** The largest source in bytes. A larger one is rejected before it is in memory (docs/specification/image.md#sources). */
export const maxSourceBytes = 64 * 1024 * 1024;

/** The part of the keys of variants that depends on the source (keys.ts). */
export interface NamedSource {
  /** The same image has the same identity in every process. */
  readonly identity: string;
  /** Determines one of 65,536 folders for the variants of sources that are often deleted together. */
  readonly group: string;
  /** Its store: a bucket, or the internet. */
  readonly store: string;
  /** The version of a source that can be replaced in place. Variants of a new version replace those of others. */
  readonly version?: string | undefined;
}

export interface VariantSource extends NamedSource {
  /** The owner of the image. Owners take turns at the engine. */
  readonly owner: string;
  /** Bytes, where they are known before they are read. Throws SourceFault. */
  size?(): Promise<number | undefined>;
  /** Throws SourceFault, and ImageFault if there are too many bytes. */
  read(): Promise<SourceBytes>;
}

export interface SourceBytes {
  /** The reader owns them and can free them. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether the source is still the one that was read. Called after a variant was written. */
  stillStands(): Promise<boolean>;
}

/** The source does not exist, or could not be fetched. */
export class SourceFault extends Error {
  override readonly name = 'SourceFault';
  readonly reason: 'absent' | 'failed';

  constructor(reason: SourceFault['reason'], message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

/**
 * Frees bytes that neither we nor the library need any more. The garbage collector would do so later, and often with a
 * heap that grows by megabytes per image: this saves a tenth of a variant's processor time.
 */
export function free({ buffer, byteLength }: Uint8Array): void {
  // Small buffers share their memory with others.
  if (buffer instanceof ArrayBuffer && byteLength === buffer.byteLength) buffer.transfer(0);
}

export function tooManyBytes(): ImageFault {
  return new ImageFault('too_large', 'The image has more than 64 MiB.');
}

/** A read can take long while it makes progress. */
const readIdleMs = 5000;

/** Identifies the store of a bucket's objects by the name of the bucket. */
export const bucketStore = (bucket: string) => JSON.stringify(['object', bucket]);

/** Identifies an object of a bucket in the keys of its variants. The object need not exist. */
export function namedObject(bucket: string, key: string): NamedSource {
  return {
    identity: JSON.stringify(['object', bucket, key]),
    group: JSON.stringify(['object', bucket, key.slice(0, key.lastIndexOf('/') + 1)]),
    store: bucketStore(bucket),
  };
}

/**
 * Returns the owner of the image under a key: `u/<owner>/…` for assets, `<owner>/…` for legacy files. Other images in
 * one folder have one owner.
 */
export function ownerOfKey(key: string): string {
  return /^(?:u\/)?([^/]+)\//.exec(key)?.[1] ?? '';
}

/** An object of a bucket. `key` is a safe key (platform/objects/objects.ts). If its ETag differs from `ifMatch`, it counts as absent. */
export function objectSource(objects: Objects, key: string, ifMatch?: string, version?: string): VariantSource {
  return {
    ...namedObject(objects.bucket, key),
    version,
    owner: ownerOfKey(key),
    size: async () => (await fetched(objects.head(key)))?.size,
    read: async () => {
      const { bytes, etag } = await readObject(objects, key, ifMatch);
      return { bytes, stillStands: async () => (await fetched(objects.head(key)))?.etag === etag };
    },
  };
}

/** Checks the head of a response before it reads the body. */
async function readObject(
  objects: Objects,
  key: string,
  ifMatch: string | undefined,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; etag: string }> {
  const deadline = startIdleDeadline(readIdleMs);
  try {
    const reading = objects.get(key, { ifMatch, whole: true, signal: deadline.signal });
    const body = await fetched(reading.catch(absentWhenChanged));
    if (body === undefined) throw new SourceFault('absent', 'the object does not exist');
    if (body.size > maxSourceBytes) {
      body.stream.destroy();
      throw tooManyBytes();
    }
    return { bytes: await fetched(deadline.race(readWhole(body, deadline))), etag: body.etag };
  } finally {
    deadline.stop();
  }
}

function absentWhenChanged(error: unknown): undefined {
  if (!(error instanceof ObjectChanged)) throw error;
}

async function readWhole({ stream, size }: ObjectBody, deadline: IdleDeadline): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Buffer<ArrayBuffer>[] = [];
  let length = 0;
  for await (const piece of stream as AsyncIterable<Buffer<ArrayBuffer>>) {
    deadline.touch();
    pieces.push(piece);
    length += piece.length;
    if (length > size) break;
  }
  if (length !== size) throw new Error(`${length} bytes arrived instead of ${size}`);
  const [only] = pieces;
  return pieces.length === 1 && only ? only : Buffer.concat(pieces);
}

async function fetched<Result>(reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ObjectChanged) throw new SourceFault('absent', 'the object has been replaced', error);
    throw new SourceFault('failed', 'the source could not be read', error);
  }
}
