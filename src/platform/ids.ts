/** Identifiers: UUIDs, and random hex digits. */
import { createHash, randomBytes } from 'node:crypto';

/** The source of a regular expression that matches a UUID of any version in lower case. */
export const uuidSource = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

const uuid = new RegExp(`^${uuidSource}$`, 'i');

/** Accepts any version, in upper or lower case. */
export function isUuid(text: string): boolean {
  return uuid.test(text);
}

/** Returns the UUID of a name (version 5, RFC 9562 §5.5): the same in every process. `namespace` is a UUID, with or without hyphens. */
export function uuidOfName(namespace: string, name: string): string {
  const key = Buffer.from(namespace.replaceAll('-', ''), 'hex');
  const bytes = createHash('sha1').update(key).update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Returns twice as many lower-case hex digits as `bytes`. */
export const randomHex = (bytes: number): string => randomBytes(bytes).toString('hex');
