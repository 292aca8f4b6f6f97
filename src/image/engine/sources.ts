/** Where a picture comes from, as far as the variant maker has to know. */
import { type ObjectBody, ObjectChanged, type Objects } from '#platform/objects/objects.ts';
import { type IdleDeadline, startIdleDeadline } from '#platform/resilience/deadline.ts';
import { PictureFault } from './engine.ts';

/** Bytes; a source above it is refused before it is held in memory (docs/specification/image.md#sources). */
export const maxSourceBytes = 64 * 1024 * 1024;

/** What the keys of variants are made from, besides the spec (keys.ts). */
export interface NamedSource {
  /** The same picture has the same identity in every process; the keys of its variants are made from it. */
  readonly identity: string;
  /** Variants of sources that are often deleted together share one of 65 536 folders, by this. */
  readonly group: string;
  /** Its store: a bucket, or the internet. */
  readonly store: string;
  /** Of a source that may be replaced in place: its variants are of one version, and new ones replace those of others. */
  readonly version?: string | undefined;
}

export interface VariantSource extends NamedSource {
  /** Whose picture it is: owners take turns at the engine. */
  readonly owner: string;
  /** Throws SourceFault, and PictureFault when there are too many bytes. */
  read(): Promise<SourceBytes>;
}

export interface SourceBytes {
  /** The reader owns them and can free them. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether the source is still the one that was read. Asked after a variant was written. */
  stillStands(): Promise<boolean>;
}

/** The source is not there, or could not be fetched. */
export class SourceFault extends Error {
  override readonly name = 'SourceFault';
  readonly reason: 'absent' | 'failed';

  constructor(reason: SourceFault['reason'], message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}

/**
 * Frees bytes that neither we nor the library need any more. The collector would come later, and to a heap that grows
 * by megabytes a picture it comes often: a tenth of a variant's processor time.
 */
export function free(bytes: Uint8Array<ArrayBuffer>): void {
  // Small buffers share their memory with others.
  if (bytes.byteLength === bytes.buffer.byteLength) bytes.buffer.transfer(0);
}

export function tooManyBytes(): PictureFault {
  return new PictureFault('too_large', 'The picture has more than 64 MiB.');
}

/** A read may take long as long as it moves. */
const readIdleMs = 5000;

/** The store of a bucket's objects; stores are distinguished by the name of the bucket. */
export const bucketStore = (bucket: string) => JSON.stringify(['object', bucket]);

/** An object of a bucket, as the keys of its variants mean it; it need not be there. */
export function namedObject(bucket: string, key: string): NamedSource {
  return {
    identity: JSON.stringify(['object', bucket, key]),
    group: JSON.stringify(['object', bucket, key.slice(0, key.lastIndexOf('/') + 1)]),
    store: bucketStore(bucket),
  };
}

/**
 * The owner of the image under a key: `u/<owner>/…` of assets, `<owner>/…` of legacy files. Other pictures of one folder count
 * as one owner's.
 */
export function ownerOfKey(key: string): string {
  return /^(?:u\/)?([^/]+)\//.exec(key)?.[1] ?? '';
}

/** An object of a bucket. `key` is a safe key (platform/objects/keys.ts). With another etag than `ifMatch` it is absent. */
export function objectSource(objects: Objects, key: string, ifMatch?: string, version?: string): VariantSource {
  return {
    ...namedObject(objects.bucket, key),
    version,
    owner: ownerOfKey(key),
    read: async () => {
      const { bytes, etag } = await readObject(objects, key, ifMatch);
      return { bytes, stillStands: async () => (await fetched(objects.head(key)))?.etag === etag };
    },
  };
}

/** One request: what its head says is judged before its body is taken. */
async function readObject(
  objects: Objects,
  key: string,
  ifMatch: string | undefined,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; etag: string }> {
  const deadline = startIdleDeadline(readIdleMs);
  try {
    const reading = objects.get(key, { ifMatch, whole: true, signal: deadline.signal });
    const body = await fetched(reading.catch(absentWhenChanged));
    if (body === undefined) throw new SourceFault('absent', 'the object is not there');
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
  if (length !== size) throw new Error(`${length} bytes came instead of ${size}`);
  const [only] = pieces;
  return pieces.length === 1 && only ? only : Buffer.concat(pieces);
}

async function fetched<Result>(reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ObjectChanged) throw new SourceFault('absent', 'the object is another one now', error);
    throw new SourceFault('failed', 'the source could not be read', error);
  }
}
