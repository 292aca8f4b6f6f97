/** Verifies signatures of Svix, which sends the mail provider's webhooks (docs.svix.com/receiving/verifying-payloads/how-manual). */
import { createHmac, timingSafeEqual } from 'node:crypto';

export interface SignedMessage {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: string;
  /** One or more `v1,<base64>`, separated by spaces. */
  readonly signature: string;
  readonly body: Buffer;
}

/** An older message may be a replay. */
const toleranceS = 300;
const maxSignatures = 10;

/** `secret`: base64, with or without the prefix `whsec_`. */
export function keyOfSecret(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
}

/** `secret`: as for keyOfSecret. */
export function isSigned(secret: string, message: SignedMessage, nowMs = Date.now()): boolean {
  const { id, timestamp, signature, body } = message;
  if (id === '' || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > toleranceS) return false;
  const expected = createHmac('sha256', keyOfSecret(secret)).update(`${id}.${timestamp}.`).update(body).digest();
  return signature
    .split(' ')
    .slice(0, maxSignatures)
    .some((part) => {
      const [version, given = ''] = part.split(',');
      const bytes = Buffer.from(given, 'base64');
      return version === 'v1' && bytes.length === expected.length && timingSafeEqual(bytes, expected);
    });
}
