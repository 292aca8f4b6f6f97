/** Where a picture comes from, as far as the variant maker has to know. */
import type { Readable } from 'node:stream';
import type { ObjectBody, Objects } from '#platform/objects/objects.ts';
import { PictureFault } from './engine.ts';

/** Bytes; a source above it is refused before it is held in memory (CONTRACT §5). */
export const maxSourceBytes = 64 * 1024 * 1024;

export interface VariantSource {
  /** The same picture has the same identity in every process; the keys of its variants are made from it. */
  readonly identity: string;
  /** Throws SourceFault, and PictureFault when there are too many bytes. */
  read(): Promise<SourceBytes>;
}

export interface SourceBytes {
  readonly bytes: Uint8Array;
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

export function tooManyBytes(): PictureFault {
  return new PictureFault('too_large', 'The picture has more than 64 MiB.');
}

/** An object of a bucket. `key` is a safe key (platform/objects/keys.ts). */
export function objectSource(objects: Objects, key: string): VariantSource {
  return {
    identity: JSON.stringify(['object', objects.bucket, key]),
    read: async () => {
      const body = await fetched(objects.get(key));
      if (body === undefined) throw new SourceFault('absent', 'the object is not there');
      return {
        bytes: await readWhole(body),
        stillStands: async () => (await fetched(objects.head(key)))?.etag === body.etag,
      };
    },
  };
}

async function readWhole({ stream, size }: ObjectBody): Promise<Uint8Array> {
  if (size > maxSourceBytes) {
    stream.destroy();
    throw tooManyBytes();
  }
  const bytes = Buffer.allocUnsafe(size);
  const length = await fetched(fill(bytes, stream));
  if (length !== size) throw new SourceFault('failed', `${length} bytes came instead of ${size}`);
  return bytes;
}

/** How many bytes came; what does not fit is counted, not kept. */
async function fill(bytes: Buffer, stream: Readable): Promise<number> {
  let length = 0;
  for await (const chunk of stream) {
    bytes.set(chunk.subarray(0, Math.max(0, bytes.length - length)), length);
    length += chunk.length;
  }
  return length;
}

async function fetched<Result>(reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (error) {
    throw new SourceFault('failed', 'the source could not be read', error);
  }
}
