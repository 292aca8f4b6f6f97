import { createHash, hkdfSync } from 'node:crypto';
import { CompactEncrypt, compactDecrypt } from 'jose';
import { describe, expect, it } from 'vitest';
import { createSealer } from './sealing.ts';

const sealer = createSealer(['one'], 'session');
const keyOf = (secret: string, purpose: string) =>
  new Uint8Array(hkdfSync('sha256', secret, '', `atelier/${purpose}`, 32));
const headerOf = (key: Uint8Array) => ({
  alg: 'dir',
  enc: 'A256GCM',
  kid: createHash('sha256').update(key).digest('base64url').slice(0, 8),
});

describe('a seal', () => {
  it.each(['', 'x', 'a refresh token', 'ü日本\u{1f600}', 'x'.repeat(20_000)])('opens again: %.20s', (text) => {
    expect(sealer.unseal(sealer.seal(text))).toBe(text);
  });

  it('differs each time and reveals no content', () => {
    const seals = Array.from({ length: 50 }, () => sealer.seal('a refresh token'));
    expect(new Set(seals).size).toBe(50);
    expect(Buffer.from(seals.join(''), 'base64url').toString('latin1')).not.toContain('refresh');
  });

  it('is a JWE that jose opens, and opens what jose seals', async () => {
    const key = keyOf('one', 'session');
    const { plaintext, protectedHeader } = await compactDecrypt(sealer.seal('a token'), key);
    expect([new TextDecoder().decode(plaintext), protectedHeader]).toEqual(['a token', headerOf(key)]);
    const theirs = await new CompactEncrypt(new TextEncoder().encode('theirs'))
      .setProtectedHeader(headerOf(key))
      .encrypt(key);
    expect(sealer.unseal(theirs)).toBe('theirs');
  });

  it('opens with an earlier secret, and is made with the first', () => {
    const rotated = createSealer(['two', 'one'], 'session');
    expect(rotated.unseal(sealer.seal('x'))).toBe('x');
    expect(sealer.unseal(rotated.seal('x'))).toBeUndefined();
    expect(createSealer(['two'], 'session').unseal(rotated.seal('x'))).toBe('x');
  });

  it('with another purpose or secret is invalid', () => {
    expect(createSealer(['one'], 'sign-in').unseal(sealer.seal('x'))).toBeUndefined();
    expect(createSealer(['other'], 'session').unseal(sealer.seal('x'))).toBeUndefined();
  });

  it('is invalid if any of its characters changes', () => {
    const sealed = sealer.seal('a refresh token');
    for (let at = 0; at < sealed.length; at++)
      for (const letter of ['A', 'B', '.', '=', '+', ' ', 'é']) {
        if (sealed[at] === letter) continue;
        expect(sealer.unseal(sealed.slice(0, at) + letter + sealed.slice(at + 1))).toBeUndefined();
        expect(sealer.unseal(sealed.slice(0, at) + letter + sealed.slice(at))).toBeUndefined();
      }
    for (let length = 0; length < sealed.length; length++)
      expect(sealer.unseal(sealed.slice(0, length))).toBeUndefined();
  });

  it('with another header is invalid, even with one that a JWE may have', async () => {
    const key = keyOf('one', 'session');
    for (const header of [
      { alg: 'dir', enc: 'A256GCM' },
      { ...headerOf(key), zip: 'DEF' },
      { ...headerOf(key), typ: 'JWT' },
    ]) {
      const theirs = await new CompactEncrypt(new Uint8Array(4))
        .setProtectedHeader(header)
        .encrypt(key)
        .catch(() => 'x');
      expect(sealer.unseal(theirs)).toBeUndefined();
    }
  });

  it('requires a secret', () => expect(() => createSealer([], 'session')).toThrow('COOKIE_SECRETS'));
});
