/** Whether the file of a row is the one that was registered: by its ETag, else by its SHA-256. */
import { createHash } from 'node:crypto';
import { ObjectChanged, type ObjectHead, type Objects } from '#platform/objects/objects.ts';
import type { Pin, PinnedRow } from './store.ts';

export type Comparison =
  | { readonly found: 'same' }
  /** The same content under another ETag. `isAssumed`: the row has no digest, so the size alone decides. */
  | { readonly found: 'moved'; readonly newEtag: string; readonly sha256: string | null; readonly isAssumed: boolean }
  | { readonly found: 'missing' }
  /** `etag`: of the file with the other content. */
  | { readonly found: 'different'; readonly etag: string };

/** A file up to this size is read in one piece. */
const pieceBytes = 1024 * 1024;

export interface ComparedRow {
  readonly row: PinnedRow;
  /** Called only if the file has to be read. `undefined`: the row is gone. */
  readonly pinOf: () => Promise<Pin | undefined>;
  /** The ETag of a file whose content is known to be another. */
  readonly knownDifferent?: string | undefined;
}

/** Throws what reading the file throws. */
export async function compareFile(
  objects: Objects,
  { row, pinOf, knownDifferent }: ComparedRow,
  signal: AbortSignal,
): Promise<Comparison> {
  const head = await objects.head(row.storageKey);
  if (head === undefined) return { found: 'missing' };
  const { etag } = head;
  if (etag === row.etag) return { found: 'same' };
  if (head.size !== row.byteSize || etag === knownDifferent) return { found: 'different', etag };
  const pin = await pinOf();
  if (pin === undefined) return { found: 'missing' };
  // Another process has followed the file.
  if (pin.etag === etag) return { found: 'moved', newEtag: etag, sha256: pin.sha256, isAssumed: false };
  const sha256 = await digestOf(objects, row, head, signal);
  if (sha256 === undefined || (pin.sha256 ?? sha256) !== sha256) return { found: 'different', etag };
  return { found: 'moved', newEtag: etag, sha256, isAssumed: pin.sha256 === null };
}

/** `undefined`: the file was replaced meanwhile. */
async function digestOf(
  objects: Objects,
  { storageKey }: PinnedRow,
  { etag, size }: ObjectHead,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const body = await objects.get(storageKey, { ifMatch: etag, whole: size <= pieceBytes, signal });
    if (body === undefined) return undefined;
    const digest = createHash('sha256');
    for await (const chunk of body.stream as AsyncIterable<Buffer>) digest.update(chunk);
    return digest.digest('hex');
  } catch (error) {
    if (error instanceof ObjectChanged) return undefined;
    throw error;
  }
}
