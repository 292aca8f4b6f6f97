/**
 * Blocked objects as evidence (docs/specification/media.md#quarantine): encrypted copies that are written before the incident, and
 * removed when their days are over. If the process dies, the copy has no incident, and the next block of the same bytes
 * replaces it, or a sweep removes it.
 */

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Objects } from '#platform/objects/objects.ts';
import { problems } from '#platform/problem.ts';
import type { MediaStores, Quarantine } from '../context.ts';
import { removeListed } from '../deletion/removal.ts';
import { mediaProblems } from '../problems.ts';
import { absentIfChanged, copyIdleMs, withObject } from '../reading/unchanged.ts';
import { dropEvidence, findEvidence, findExpired, findLabeled } from './evidencestore.ts';

export const quarantinePrefix = 'quarantine/';
const contentType = 'application/octet-stream';
const dayMs = 86_400_000;
const batch = 100;

/** The same bytes under the same id are one copy. */
export function evidenceKeyOf(assetId: string, sha256: string, isLabel: boolean): string {
  return `${quarantinePrefix}${assetId}/${sha256}${isLabel ? '-label' : ''}`;
}

/** Decrypts one object, for `doctor`. `none`: there is none. */
export async function probeQuarantine(
  objects: Pick<Objects, 'list' | 'get'>,
  quarantineKey: string | undefined,
): Promise<'none' | 'opened' | 'locked' | 'broken'> {
  for await (const { key } of objects.list(quarantinePrefix)) {
    if (quarantineKey === undefined) return 'locked';
    const body = await objects.get(key);
    if (body === undefined) continue;
    try {
      await unseal(Buffer.from(quarantineKey, 'base64'), key, body.stream).next();
      return 'opened';
    } catch (error) {
      if (error instanceof SealBroken) return 'broken';
      throw error;
    } finally {
      body.stream.destroy();
    }
  }
  return 'none';
}

export function createQuarantine(
  { objects, db, clock }: MediaStores,
  settings: { readonly quarantineKey: string | undefined; readonly quarantineDays: number },
): Quarantine {
  const { quarantineKey, quarantineDays } = settings;
  const secret = quarantineKey === undefined ? undefined : Buffer.from(quarantineKey, 'base64');

  async function remove(rows: Awaited<ReturnType<typeof findExpired>>): Promise<void> {
    await removeListed(objects, rows);
    await dropEvidence(db, rows);
  }

  return {
    keep: async ({ assetId, storageKey, etag }, sha256, match) => {
      if (secret === undefined) return undefined;
      const key = evidenceKeyOf(assetId, sha256, match.check === 'label');
      const sealing = withObject(objects, storageKey, { ifMatch: etag }, copyIdleMs, ({ size }, chunks) => {
        const sealed = Readable.from(seal(secret, key, chunks), { objectMode: false });
        return objects.put(key, sealed, { contentType, size: sealedSize(size) });
      });
      return (await sealing.catch(absentIfChanged)) && new Date(clock.now() + quarantineDays * dayMs);
    },
    open: async (incidentId) => {
      const found = await findEvidence(db, incidentId);
      if (found === undefined) throw problems.not_found({ message: 'There is no such incident.' });
      const body = found.key === null ? undefined : await objects.get(found.key);
      if (found.key === null || body === undefined) throw mediaProblems.no_evidence();
      if (secret === undefined) {
        body.stream.destroy();
        throw mediaProblems.evidence_locked();
      }
      const chunks = unseal(secret, found.key, body.stream);
      // The first chunk shows whether the key is right, while there can be another response.
      const first = await chunks.next().catch((error: unknown) => {
        throw error instanceof SealBroken ? mediaProblems.evidence_locked({ cause: error }) : error;
      });
      return (async function* () {
        if (!first.done) yield first.value;
        yield* chunks;
      })();
    },
    expire: async () => {
      for (;;) {
        const rows = await findExpired(db, new Date(clock.now()), batch);
        await remove(rows);
        if (rows.length < batch) return;
      }
    },
    forget: async (ownerId) => {
      for (;;) {
        const rows = await findLabeled(db, ownerId, batch);
        await remove(rows);
        if (rows.length < batch) return;
      }
    },
  };
}

// Encrypts a stream of any size in bounded memory, so that no chunk is returned before it is authenticated: AES-256-GCM for each
// chunk, with a key of its own for each object (HKDF of a random salt). The nonce is the number of the chunk and whether
// it is the last one, so chunks cannot be moved, left out or cut off.

const magic = Buffer.from('ATQ1');
const saltBytes = 16;
const headerBytes = magic.length + saltBytes;
const chunkBytes = 256 * 1024;
const tagBytes = 16;

/** The content was encrypted with another key or for another name, or it was changed. */
export class SealBroken extends Error {}

/** The size of `bytes` bytes once encrypted. */
export function sealedSize(bytes: number): number {
  return headerBytes + bytes + Math.max(1, Math.ceil(bytes / chunkBytes)) * tagBytes;
}

/** `name` is authenticated with the content. */
export async function* seal(key: Buffer, name: string, content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const salt = randomBytes(saltBytes);
  yield Buffer.concat([magic, salt]);
  const objectKey = deriveKey(key, salt, name);
  let number = 0;
  for await (const { chunk, isLast } of inChunks(content, chunkBytes)) {
    const cipher = createCipheriv('aes-256-gcm', objectKey, nonceOf(number++, isLast));
    yield Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
  }
}

/** Throws SealBroken, before it yields anything of a chunk that is not authentic. */
export async function* unseal(key: Buffer, name: string, sealed: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let objectKey: Buffer | undefined;
  let number = 0;
  for await (const { chunk, isLast } of inChunks(sealed, chunkBytes + tagBytes, headerBytes)) {
    if (objectKey === undefined) {
      if (chunk.length < headerBytes || !chunk.subarray(0, magic.length).equals(magic)) throw new SealBroken();
      objectKey = deriveKey(key, chunk.subarray(magic.length), name);
      continue;
    }
    const end = chunk.length - tagBytes;
    if (end < 0) throw new SealBroken();
    const decipher = createDecipheriv('aes-256-gcm', objectKey, nonceOf(number++, isLast));
    decipher.setAuthTag(chunk.subarray(end));
    const opened = decipher.update(chunk.subarray(0, end));
    try {
      decipher.final();
    } catch (error) {
      throw new SealBroken('', { cause: error });
    }
    yield opened;
  }
  if (number === 0) throw new SealBroken();
}

function deriveKey(key: Buffer, salt: Uint8Array, name: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, `atelier quarantine ${name}`, 32));
}

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt8(isLast ? 1 : 0, 0);
  nonce.writeUInt32BE(number, 8);
  return nonce;
}

/** Chunks of `size` bytes, the first of `first` bytes if it is set, and the last of any size. Without content, one empty chunk. */
async function* inChunks(
  content: AsyncIterable<Uint8Array>,
  size: number,
  first = size,
): AsyncGenerator<{ readonly chunk: Buffer; readonly isLast: boolean }> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let wanted = first;
  for await (const part of content) {
    parts.push(part);
    length += part.length;
    // One byte more shows that the chunk is not the last one.
    if (length <= wanted) continue;
    let joined = Buffer.concat(parts, length);
    while (joined.length > wanted) {
      yield { chunk: joined.subarray(0, wanted), isLast: false };
      joined = joined.subarray(wanted);
      wanted = size;
    }
    parts = [joined];
    length = joined.length;
  }
  yield { chunk: Buffer.concat(parts, length), isLast: true };
}
