/**
 * Sealed texts: compact JWE (RFC 7516; `dir`, A256GCM), a key per secret and purpose, named in the header by `kid`, so that
 * secrets can be exchanged while what the older ones sealed still opens, and nothing sealed for one purpose serves another.
 * Written on Node's own cipher: a library's promises cost more per refresh than all the rest of it (`npm run bench`).
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { StartFault } from '#platform/lifecycle.ts';

export interface Sealer {
  seal(text: string): string;
  /** `undefined`: not ours, not whole, or of a secret that is gone. */
  unseal(sealed: string): string | undefined;
}

export type SealPurpose = 'session' | 'session of a subject' | 'sign-in' | 'answer' | 'revocation';

/** Longer ones no browser keeps; what is kept elsewhere is an access token at most. */
const maxSealedLength = 64 * 1024;
const ivBytes = 12;
const tagBytes = 16;

/** `secrets`: at least one; the first seals, all unseal (COOKIE_SECRETS). */
export function createSealer(secrets: readonly string[], purpose: SealPurpose): Sealer {
  const keys = secrets.map((secret) => deriveKey(secret, purpose));
  const [current] = keys;
  if (current === undefined) throw new StartFault('COOKIE_SECRETS: there has to be one at least.');
  // No header but our own is read, to the letter: there is nothing in it to choose.
  const byHeader = new Map(keys.map(({ header, key }) => [header, key]));
  return {
    seal: (text) => {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', current.key, iv).setAAD(Buffer.from(current.header));
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return [current.header, '', ...[iv, body, cipher.getAuthTag()].map((part) => part.toString('base64url'))].join(
        '.',
      );
    },
    unseal: (sealed) => {
      if (sealed.length > maxSealedLength) return undefined;
      const [header = '', wrappedKey, ...rest] = sealed.split('.');
      const [iv, body, tag, ...more] = rest.map(decode);
      const key = byHeader.get(header);
      if (key === undefined || wrappedKey !== '' || more.length > 0) return undefined;
      if (iv?.length !== ivBytes || tag?.length !== tagBytes || body === undefined) return undefined;
      return open(key, Buffer.from(header), iv, body, tag);
    },
  };
}

function open(key: KeyObject, header: Buffer, iv: Buffer, body: Buffer, tag: Buffer): string | undefined {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
      .setAAD(header)
      .setAuthTag(tag);
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
  } catch {
    // Changed, or sealed by another key.
    return undefined;
  }
}

/** One seal, one text: bits that the encoding leaves unused may not be flipped either. */
function decode(part: string): Buffer | undefined {
  const bytes = Buffer.from(part, 'base64url');
  return bytes.toString('base64url') === part ? bytes : undefined;
}

function deriveKey(secret: string, purpose: SealPurpose): { readonly header: string; readonly key: KeyObject } {
  const bytes = Buffer.from(hkdfSync('sha256', secret, '', `atelier/${purpose}`, 32));
  const kid = createHash('sha256').update(bytes).digest('base64url').slice(0, 8);
  const header = Buffer.from(JSON.stringify({ alg: 'dir', enc: 'A256GCM', kid })).toString('base64url');
  return { header, key: createSecretKey(bytes) };
}
