/** Identifiers: UUIDs, and random hex digits. */
import { createHash, randomFillSync } from 'node:crypto';

/** Random bytes are fetched a page at a time: asking the system for a few of them costs more than the rest of a request's ids. */
const page = Buffer.alloc(4096);
let used = page.length;

/** Twice as many lower-case hex digits as `bytes`, none of which is ever given out again. At most 64 bytes. */
export function randomHex(bytes: number): string {
  if (used + bytes > page.length) {
    randomFillSync(page);
    used = 0;
  }
  used += bytes;
  return page.toString('hex', used - bytes, used);
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Of any version, in any case. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}

/**
 * The UUID of a name (version 5, RFC 9562 §5.5): the same in every process and after every restart. `namespace` is a UUID,
 * with or without hyphens.
 */
export function uuidOfName(namespace: string, name: string): string {
  const bytes = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest()
    .subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
