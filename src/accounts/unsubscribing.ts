/**
 * Unsubscribe links. The holder of a link can turn off product mails to an account and to the address that the link was sent to, and
 * nothing else. Links are signed, so they need no row. They never expire, because users read old mails (RFC 8058).
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** 128 bits, which cannot be guessed. */
const signatureBytes = 16;
const idBytes = 16;

export interface Unsubscription {
  readonly userId: string;
  /** As `digestAddress` returns it. Links of version 1.0 have none. */
  readonly addressDigest: string | undefined;
}

/** Identifies an address without naming it. `address`: bare, normalized. */
export function digestAddress(secret: string, address: string): string {
  return digestOf(secret, address).toString('base64url');
}

/** Safe in URLs: `A-Za-z0-9_-` only. `address`: bare, normalized. */
export function signUnsubscribe(secret: string, userId: string, address: string): string {
  const content = Buffer.concat([Buffer.from(userId.replaceAll('-', ''), 'hex'), digestOf(secret, address)]);
  return Buffer.concat([content, signature(secret, content)]).toString('base64url');
}

/** Returns `undefined` if the token is invalid. */
export function readUnsubscribe(secret: string, token: string): Unsubscription | undefined {
  const bytes = Buffer.from(token, 'base64url');
  const content = bytes.subarray(0, Math.max(bytes.length - signatureBytes, 0));
  const isWhole = content.length === idBytes || content.length === idBytes + signatureBytes;
  if (!isWhole || bytes.toString('base64url') !== token) return undefined;
  if (!timingSafeEqual(signature(secret, content), bytes.subarray(content.length))) return undefined;
  const hex = content.toString('hex', 0, idBytes);
  return {
    userId: [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-'),
    addressDigest: content.length === idBytes ? undefined : content.toString('base64url', idBytes),
  };
}

function digestOf(secret: string, address: string): Buffer {
  return createHmac('sha256', secret).update('address').update(address).digest().subarray(0, signatureBytes);
}

function signature(secret: string, content: Uint8Array): Buffer {
  return createHmac('sha256', secret).update('unsubscribe').update(content).digest().subarray(0, signatureBytes);
}
