/**
 * Writes an object with its mark, or without its metadata, and with the same pixels, frames and sound
 * (docs/specification/media.md#made-by-ai). A repetition finds nothing left to change.
 */
import { Readable } from 'node:stream';
import { sniff } from '#image/engine/formats.ts';
import { readMark, withMark, withoutMetadata } from '#platform/metadata/metadata.ts';
import { isMovie, movieMark, type Patch, patched, readMovie } from '#platform/metadata/movie.ts';
import type { Generated } from '#platform/metadata/xmp.ts';
import type { ObjectHead, Objects } from '#platform/objects/objects.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { Claim } from '../credentials/signing.ts';
import { readBeginning, readUnchanged, startHashes } from '../reading/unchanged.ts';
import type { ExactDigests } from '../screening/messages.ts';

export interface Wanted {
  /** Only the mark, the orientation and the color profile stay. */
  readonly strips: boolean;
  /** `undefined`: the mark stays as it is. */
  readonly mark?: Generated | undefined;
  /** Images are signed with it. */
  readonly claim?: Claim | undefined;
}

/** An object as it would be written. */
export interface Rewritten {
  /** The mark that it then has. */
  readonly generated: Generated | null;
  /** `undefined`: nothing changes. */
  readonly write: ((target: Objects, key: string, contentType: string) => Promise<Written>) | undefined;
}

export interface Written {
  readonly head: ObjectHead;
  readonly digests: ExactDigests;
}

/** Larger files are no images that the product shows. */
const mostImageBytes = 64 * 1024 * 1024;

/** `undefined`: the object was removed or replaced. Throws MovieTooComplex, `engine_unavailable`. */
export async function planRewriting(
  objects: Objects,
  storageKey: string,
  head: Pick<ObjectHead, 'size' | 'etag'>,
  wanted: Wanted,
): Promise<Rewritten | undefined> {
  if (head.size === 0) return { generated: null, write: undefined };
  const beginning = await readBeginning(objects, storageKey, head.etag);
  if (beginning === undefined) return undefined;
  const isImage = (await sniff(beginning)) !== undefined;
  if (!isImage && isMovie(Buffer.from(beginning))) return planMovie(objects, storageKey, head, wanted);
  if (!isImage || head.size > mostImageBytes) return { generated: null, write: undefined };
  const read = await readUnchanged(objects, storageKey, { ifMatch: head.etag });
  return read && planImage(read.bytes, wanted);
}

/** For an image in memory. */
export async function planImage(bytes: Uint8Array, wanted: Wanted, credentials?: Credentials): Promise<Rewritten> {
  const { generated, made } = await rewriteImage(bytes, wanted, credentials);
  if (made === bytes) return { generated, write: undefined };
  const write = async (target: Objects, key: string, contentType: string) => {
    const hashes = startHashes();
    hashes.update(made);
    const head = await target.put(key, made, { contentType, size: made.length });
    return { head, digests: hashes.digests() };
  };
  return { generated, write };
}

/** Returns the same bytes if nothing changes. */
export async function rewriteImage(
  bytes: Uint8Array,
  { strips, mark, claim }: Wanted,
  credentials?: Credentials,
): Promise<{ readonly generated: Generated | null; readonly made: Uint8Array }> {
  const kept = strips ? withoutMetadata(bytes) : bytes;
  const marked = mark === undefined ? kept : withMark(kept, mark);
  const made = claim && credentials ? await credentials.sign(marked, claim) : marked;
  const generated = mark ?? readMark(bytes) ?? null;
  return { generated, made: claim && Buffer.compare(made, bytes) === 0 ? bytes : made };
}

async function planMovie(
  objects: Objects,
  storageKey: string,
  { size, etag }: Pick<ObjectHead, 'size' | 'etag'>,
  wanted: Wanted,
): Promise<Rewritten | undefined> {
  let isGone = false;
  const read = async (start: number, end: number) => {
    const part = await readUnchanged(objects, storageKey, { ifMatch: etag, range: { start, end: end - 1 } });
    isGone ||= part === undefined;
    return Buffer.from(part?.bytes ?? []);
  };
  const found = await readMovie(read, size, wanted.strips ? 'all' : 'mark');
  if (isGone) return undefined;
  const { mark, isMarked, endless } = found;
  const generated = wanted.mark ?? mark ?? null;
  const isAdded =
    generated !== null && !(isMarked && generated === mark) && (wanted.strips || wanted.mark !== undefined);
  const removals = wanted.strips ? found.removals : isAdded ? found.xmpRemovals : [];
  if (removals.length === 0 && !isAdded) return { generated, write: undefined };
  const patches: readonly Patch[] = isAdded && endless !== undefined ? [endless, ...removals] : removals;
  const added = isAdded && generated !== null ? movieMark(generated) : Buffer.alloc(0);
  const write = async (target: Objects, key: string, contentType: string) => {
    const hashes = startHashes();
    const body = await objects.get(storageKey, { ifMatch: etag });
    if (body === undefined) throw new Error('the object was removed while it was copied');
    async function* pieces(source: AsyncIterable<Buffer>) {
      for await (const piece of patched(source, patches)) {
        hashes.update(piece);
        yield piece;
      }
      if (added.length > 0) hashes.update(added);
      if (added.length > 0) yield added;
    }
    try {
      const moving = Readable.from(pieces(body.stream as AsyncIterable<Buffer>), { objectMode: false });
      const head = await target.put(key, moving, { contentType, size: size + added.length });
      return { head, digests: hashes.digests() };
    } finally {
      body.stream.destroy();
    }
  };
  return { generated, write };
}
