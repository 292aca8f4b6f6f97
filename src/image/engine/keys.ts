/** Where a variant lies: `img/<2 hex>/<2 hex>/<64 hex>.<ext>` in the public bucket (document 000, `POST /v1/ensure`). */
import { createHmac, type KeyObject } from 'node:crypto';
import type { Transform } from './engine.ts';

/** To be raised when the same source and spec no longer give the same picture (pipeline, defaults of the encoders). */
const recipe = 1;

const extensions = { webp: 'webp', jpeg: 'jpg', png: 'png' } as const;

/** Every variant of a source begins with this, so that all are found without a record of them. */
export function sourcePrefix(secret: KeyObject, identity: string): string {
  const hash = keyedHash(secret, identity);
  return `img/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`;
}

export function variantKey(secret: KeyObject, identity: string, transform: Transform): string {
  const { width, height, quality, format, resizingType, enlarge, blur, resampling } = transform;
  // The budget of a PNG changes nothing in it.
  const maxBytes = format === 'png' ? 0 : transform.maxBytes;
  const meaning = [recipe, width, height, quality, format, resizingType, enlarge, blur, maxBytes, resampling];
  const hash = keyedHash(secret, JSON.stringify(['variant', identity, ...meaning]));
  return `${sourcePrefix(secret, identity)}${hash}.${extensions[format]}`;
}

/** 128 bits, as 32 hex digits. */
function keyedHash(secret: KeyObject, said: string): string {
  return createHmac('sha256', secret).update(said).digest('hex').slice(0, 32);
}
