/**
 * Sealed text: compact JWE (RFC 7516; `dir`, A256GCM) with a key per secret and purpose, named in the header by `kid`. Secrets can
 * therefore be rotated while text sealed with older ones stays readable, and text sealed for one purpose is invalid for another.
 * It uses Node's cipher, because a library's promises cost more per refresh than all other work (`npm run bench`).
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
import { StartFault } from '../lifecycle.ts';

export interface Sealer {
  seal(text: string): string;
  /** Returns `undefined` if the text was not sealed here, is damaged, or belongs to a removed secret. */
  unseal(sealed: string): string | undefined;
}

export type SealPurpose = 'session' | 'dated session' | 'sign-in' | 'state' | 'answer' | 'revocation' | 'identity key';

/** Browsers reject longer cookies, and other sealed values are at most an access token. */
const maxSealedLength = 64 * 1024;
const ivBytes = 12;
const tagBytes = 16;

/** `secrets`: at least one. The first seals, and all unseal. */
export function createSealer(secrets: readonly string[], purpose: SealPurpose): Sealer {
  const keys = secrets.map((secret) => deriveKey(secret, purpose));
  const [current] = keys;
  if (current === undefined) throw new StartFault('COOKIE_SECRETS must contain at least one secret.');
  // The header must equal one of the known ones exactly, so a token cannot select an algorithm.
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
    // The text was changed, or was sealed with another key.
    return undefined;
  }
}

/** Accepts exactly one encoding per seal: even bits that the encoding leaves unused must not be changed. */
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
