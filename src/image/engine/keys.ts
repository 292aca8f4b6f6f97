/** The key of a variant: `img/<2 hex>/<2 hex>/<64 hex>.<ext>` in the public bucket, or `….shelved.<ext>` (docs/specification/image.md#ensure). */
import { createHmac, createSecretKey } from 'node:crypto';
import { describeEdits } from './edits.ts';
import type { Transform } from './engine.ts';
import { extensionOfFormat } from './formats.ts';
import type { NamedSource } from './sources.ts';

/** Raise this when the same source and spec produce another image, after a change of the pipeline or the encoders. */
const recipe = 1;

export type VariantNames = ReturnType<typeof createVariantNames>;

/**
 * Digits of a variant's name for its source's group, its source's store, its source, and the source's version if it has
 * versions. The rest is the spec's.
 */
const [groupDigits, markDigits, sourceDigits, versionDigits] = [4, 8, 20, 8];
const prefixDigits = groupDigits + markDigits + sourceDigits;
/** Without a version. */
const specDigits = 32;
const variantForm = /^img\/([0-9a-f]{2})\/([0-9a-f]{2})\/(\1\2[0-9a-f]{60})(?:\.shelved)?\.[a-z]+$/;

export const isShelved = (key: string) => key.includes('.shelved.');

/** Returns the parts of the key of a stored variant, or `undefined` for another key. */
export function partsOfVariantKey(key: string): { readonly prefix: string; readonly mark: string } | undefined {
  const name = variantForm.exec(key)?.[3];
  if (name === undefined) return undefined;
  const prefix = key.slice(0, key.indexOf(name) + prefixDigits);
  return { prefix, mark: name.slice(groupDigits, groupDigits + markDigits) };
}

/** `keySecret`: SVC_IMAGE_KEY_SECRET. `brandId`: of `brandIdOf`. */
export function createVariantNames(keySecret: string, brandId = '') {
  const secret = createSecretKey(keySecret, 'utf8');
  /** 128 bits, as 32 hex digits. */
  const keyedHash = (identity: string) => createHmac('sha256', secret).update(identity).digest('hex').slice(0, 32);
  /** The mark of all variants of a store's sources. A sweep judges only variants of stores that it has read completely. */
  const mark = (store: string) => keyedHash(store).slice(0, markDigits);
  /** The prefix of all variants of a source, by which they are found without a record. */
  const prefix = ({ identity, group, store }: NamedSource) => {
    const hash = keyedHash(group).slice(0, groupDigits) + mark(store) + keyedHash(identity).slice(0, sourceDigits);
    return `img/${hash.slice(0, 2)}/${hash.slice(2, 4)}/${hash}`;
  };
  /** The prefix of all variants of this version of a source, or of the source if it has no versions. */
  const versionPrefix = (source: NamedSource) =>
    prefix(source) + (source.version === undefined ? '' : keyedHash(source.version).slice(0, versionDigits));
  const key = (source: NamedSource, transform: Transform) => {
    const brand = transform.edits?.watermark === undefined ? '' : ` brand=${brandId}`;
    const meaning = `${meaningOf(transform)}${brand} ${source.identity}`;
    const start = versionPrefix(source);
    const spec = keyedHash(meaning).slice(0, prefix(source).length + specDigits - start.length);
    return `${start}${spec}.${extensionOfFormat[transform.format]}`;
  };
  /** The key of a variant that is removed when others of its source are used more. */
  const shelvedKey = (source: NamedSource, transform: Transform) =>
    key(source, transform).replace(/\.([a-z]+)$/, '.shelved.$1');
  return { prefix, mark, versionPrefix, key, shelvedKey };
}

/** The properties that distinguish the variants of a source. No part contains a space. */
function meaningOf(transform: Transform): string {
  const { width, height, quality, format, resizingType, enlarge, blur, resampling } = transform;
  // A budget does not change a PNG that keeps its size.
  const maxBytes = format === 'png' && !transform.shrinks ? 0 : transform.maxBytes;
  const spec = `${recipe} ${format} ${width}x${height} ${resizingType} ${enlarge} ${resampling} ${blur} ${quality} ${maxBytes}${transform.shrinks ? ' shrinks' : ''}`;
  return transform.edits === undefined ? spec : `${spec} ${describeEdits(transform.edits)}`;
}
