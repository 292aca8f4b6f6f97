/**
 * Sealed texts: compact JWE (`dir`, A256GCM), a key per secret and purpose, named in the header by `kid`, so that secrets
 * can be exchanged while what the older ones sealed still opens, and nothing sealed for one purpose serves another.
 */
import { createHash, hkdfSync } from 'node:crypto';
import { CompactEncrypt, type CryptoKey, compactDecrypt } from 'jose';

export interface Sealer {
  seal(text: string): Promise<string>;
  /** `undefined`: not ours, not whole, or of a secret that is gone. */
  unseal(sealed: string): Promise<string | undefined>;
}

export type SealPurpose = 'session' | 'sign-in' | 'answer' | 'revocation';

/** Longer ones no browser keeps, and none are made. */
const maxSealedLength = 16 * 1024;

/** `secrets`: at least one; the first seals, all unseal (COOKIE_SECRETS). */
export async function createSealer(secrets: readonly string[], purpose: SealPurpose): Promise<Sealer> {
  const keys = await Promise.all(secrets.map((secret) => deriveKey(secret, purpose)));
  const [current] = keys;
  if (current === undefined) throw new Error('COOKIE_SECRETS is empty');
  const header = { alg: 'dir', enc: 'A256GCM', kid: current.kid };
  return {
    seal: (text) => new CompactEncrypt(new TextEncoder().encode(text)).setProtectedHeader(header).encrypt(current.key),
    unseal: async (sealed) => {
      if (sealed.length > maxSealedLength || !isCanonical(sealed)) return undefined;
      try {
        const { plaintext } = await compactDecrypt(
          sealed,
          ({ kid }) => {
            const named = keys.find((candidate) => candidate.kid === kid);
            if (named === undefined) throw new Error('a key that is not known');
            return named.key;
          },
          { keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] },
        );
        return new TextDecoder('utf-8', { fatal: true }).decode(plaintext);
      } catch {
        // Whatever is wrong with it, it is no seal of ours.
        return undefined;
      }
    },
  };
}

/** Bits that the encoding leaves unused may not be flipped either: one seal, one text. */
function isCanonical(sealed: string): boolean {
  return sealed.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

async function deriveKey(secret: string, purpose: SealPurpose): Promise<{ kid: string; key: CryptoKey }> {
  const bytes = Buffer.from(hkdfSync('sha256', secret, '', `atelier/${purpose}`, 32));
  const key = await crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt']);
  return { kid: createHash('sha256').update(bytes).digest('base64url').slice(0, 8), key };
}
