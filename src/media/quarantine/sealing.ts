/**
 * Encrypts a stream of any size in bounded memory, so that no chunk is returned before it is authenticated: AES-256-GCM for each
 * chunk, with a key of its own for each object (HKDF of a random salt). The nonce is the number of the chunk and whether
 * it is the last one, so chunks cannot be moved, left out or cut off.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

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
