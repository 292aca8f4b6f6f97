import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createTextSigner } from './hmac.ts';

describe('a text signer', () => {
  // RFC 4231, test cases 1, 2 and 6.
  it.each([
    ['0b'.repeat(20), 'Hi There', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
    ['4a656665', 'what do ya want for nothing?', '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'],
    [
      'aa'.repeat(131),
      'Test Using Larger Than Block-Size Key - Hash Key First',
      '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    ],
  ])('signs the vector of the key %s', (key, text, expected) => {
    expect(createTextSigner(Buffer.from(key, 'hex'), 'hex')(text)).toBe(expected);
  });

  it.each([0, 1, 31, 32, 63, 64, 65, 200])('equals createHmac for a key of %i bytes', (length) => {
    const [key, prefix] = [randomBytes(length), randomBytes(length)];
    const sign = createTextSigner(key, 'base64url', prefix);
    // The lengths decrease and increase, so that a longer text leaves nothing behind for a shorter one.
    for (const count of [5000, 0, 1, 700, 682, 683, 55, 56, 64, 2048, 3]) {
      for (const letter of ['a', 'ü', '日', '\u{1f642}', '\ud800']) {
        const text = letter.repeat(count);
        expect(sign(text)).toBe(createHmac('sha256', key).update(prefix).update(text).digest('base64url'));
      }
    }
  });
});
