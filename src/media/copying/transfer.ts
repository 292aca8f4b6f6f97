/** Transfers the bytes of a copy to the object store (docs/specification/media.md#copies). */
import { Readable } from 'node:stream';
import { type ObjectBody, ObjectChanged, type ObjectHead, type Objects } from '#platform/objects/objects.ts';
import { Problem } from '#platform/problem.ts';
import { startIdleDeadline } from '#platform/resilience/deadline.ts';
import { renditionKeyOf, renditionMime } from '../assets/storagekey.ts';
import { planRewriting } from '../metadata/rewriting.ts';
import { mediaProblems } from '../problems.ts';
import type { Digester } from '../reading/digests.ts';
import { startHashes } from '../reading/unchanged.ts';
import type { ExactDigests } from '../screening/messages.ts';
import type { Playback } from '../tables.ts';
import type { CopySource } from './copysource.ts';

/** `digests`: its bytes differ from the source's. */
export interface CopiedObject extends ObjectHead {
  readonly digests?: ExactDigests;
}

/** A stream can take any time as long as bytes arrive. */
const idleMs = 8000;

/**
 * `gone`: there are no bytes; `changed`: the ETag of the source differs; `too_large`: there are more bytes than the
 * lookup found.
 */
export type Transferred = CopiedObject | 'gone' | 'changed' | 'too_large';

export interface TransferOptions {
  readonly maxBytes: number;
  /** Gets the digests of bytes that pass through this process. */
  readonly digester: Pick<Digester, 'add'>;
}

/** Copies inside the store if the source is in it, else through this process. Throws `copy_failed`. */
export async function transfer(
  source: CopySource,
  target: Objects,
  targetKey: string,
  { maxBytes, digester }: TransferOptions,
): Promise<Transferred> {
  const { backend, storageKey, etag, mime } = source;
  try {
    if (backend === 'legacy') return await stream(source, target, targetKey, { maxBytes, digester });
    return (await target.copy(storageKey, targetKey, { contentType: mime, ifMatch: etag })) ?? 'gone';
  } catch (error) {
    if (error instanceof ObjectChanged) return 'changed';
    throw mediaProblems.copy_failed({ cause: error });
  }
}

/** As `transfer`, without the metadata of the file. A file that has none is copied inside the store. */
export async function transferStripped(
  source: CopySource,
  target: Objects,
  targetKey: string,
  options: TransferOptions,
): Promise<Transferred> {
  const { objects, storageKey, mime } = source;
  try {
    const head = await objects.head(storageKey);
    if (head === undefined) return 'gone';
    if (source.etag !== undefined && head.etag !== source.etag) return 'changed';
    if (head.size > options.maxBytes) return 'too_large';
    const plan = await planRewriting(objects, storageKey, head, { strips: true });
    if (plan === undefined) return 'changed';
    if (plan.write === undefined) return await transfer(source, target, targetKey, options);
    const written = await plan.write(target, targetKey, mime);
    options.digester.add(target, targetKey, written.head.etag, written.digests);
    return { ...written.head, digests: written.digests };
  } catch (error) {
    if (error instanceof ObjectChanged) return 'changed';
    throw error instanceof Problem ? error : mediaProblems.copy_failed({ cause: error });
  }
}

/** Resolves with the playback of the copy, which gets a rendition of its own. Throws `copy_failed`. */
export async function copyRendition(
  { storageKey, playback }: Pick<CopySource, 'storageKey' | 'playback'>,
  target: Objects,
  targetKey: string,
): Promise<Playback | null> {
  if (playback !== 'rendition') return playback;
  try {
    const options = { contentType: renditionMime };
    const copied = await target.copy(renditionKeyOf(storageKey), renditionKeyOf(targetKey), options);
    return copied === undefined ? null : playback;
  } catch (error) {
    throw mediaProblems.copy_failed({ cause: error });
  }
}

async function stream(
  { objects, storageKey, etag, mime }: CopySource,
  target: Objects,
  targetKey: string,
  { maxBytes, digester }: TransferOptions,
): Promise<Transferred> {
  const hashes = startHashes();
  const deadline = startIdleDeadline(idleMs);
  let body: ObjectBody | undefined;
  try {
    body = await objects.get(storageKey, { ifMatch: etag, signal: deadline.signal });
    if (body === undefined) return 'gone';
    if (body.size > maxBytes) return 'too_large';
    const onChunk = (chunk: Buffer) => {
      deadline.touch();
      hashes.update(chunk);
    };
    const moving = Readable.from(watching(body.stream, onChunk), { objectMode: false });
    const head = await deadline.race(target.put(targetKey, moving, { contentType: mime, size: body.size }));
    digester.add(target, targetKey, head.etag, hashes.digests());
    return head;
  } finally {
    deadline.stop();
    // A generator that has not started closes nothing.
    body?.stream.destroy();
  }
}

async function* watching(body: Readable, onChunk: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  for await (const chunk of body as AsyncIterable<Buffer>) {
    onChunk(chunk);
    yield chunk;
  }
}
