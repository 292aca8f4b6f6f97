/**
 * HMAC-SHA-256 (RFC 2104) of many short texts with one key. Both rounds hash a prepared buffer in one call each, which takes
 * half of the time of `createHmac` or less.
 */
import { hash } from 'node:crypto';

const blockBytes = 64;
const digestBytes = 32;
/** Longer texts are copied into a buffer of their own. */
const preparedBytes = 2048;

/** Returns the signature of a text (UTF-8), with `prefix` before it. */
export type TextSigner = (text: string) => string;

export function createTextSigner(
  key: Uint8Array,
  encoding: 'hex' | 'base64url',
  prefix: Uint8Array = Buffer.alloc(0),
): TextSigner {
  const short = key.length > blockBytes ? hash('sha256', key, 'buffer') : key;
  const padded = (filler: number) => Buffer.alloc(blockBytes, filler).map((byte, at) => byte ^ (short[at] ?? 0));
  const head = Buffer.concat([padded(0x36), prefix]);
  const inner = Buffer.concat([head, Buffer.alloc(preparedBytes)]);
  const outer = Buffer.concat([padded(0x5c), Buffer.alloc(digestBytes)]);
  return (text) => {
    // A UTF-16 code unit takes at most three bytes.
    const isShort = text.length * 3 <= preparedBytes;
    const message = isShort
      ? inner.subarray(0, head.length + inner.write(text, head.length))
      : Buffer.concat([head, Buffer.from(text)]);
    outer.write(hash('sha256', message, 'binary'), blockBytes, 'latin1');
    return hash('sha256', outer, encoding);
  };
}
