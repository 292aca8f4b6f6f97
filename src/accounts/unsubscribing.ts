/**
 * Unsubscribe links. The holder of a link can turn off an account's notifications, and nothing else. Links are signed,
 * so they need no row. They never expire, because users read old mails (RFC 8058).
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** 128 bits, which cannot be guessed. */
const signatureBytes = 16;

/** Safe in URLs: `A-Za-z0-9_-` only. */
export function signUnsubscribe(secret: string, userId: string): string {
  const id = Buffer.from(userId.replaceAll('-', ''), 'hex');
  return Buffer.concat([id, signature(secret, id)]).toString('base64url');
}

/** Returns the user of a token, or `undefined` if the token is invalid. */
export function readUnsubscribe(secret: string, token: string): string | undefined {
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.length !== 16 + signatureBytes || bytes.toString('base64url') !== token) return undefined;
  const id = bytes.subarray(0, 16);
  if (!timingSafeEqual(signature(secret, id), bytes.subarray(16))) return undefined;
  const hex = id.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

function signature(secret: string, id: Uint8Array): Buffer {
  return createHmac('sha256', secret).update('unsubscribe').update(id).digest().subarray(0, signatureBytes);
}
