/**
 * Object storage: one interface with two drivers (`filesystem.ts`, `s3.ts`), which only `open.ts` chooses from. Each method
 * has a deadline of its own, and throws `engine_unavailable` if the engine does not respond. One conformance suite
 * (`conformance.ts`) tests both drivers against this description.
 */
import type { Readable } from 'node:stream';
import type { ResumableUploads } from './resumable.ts';

export interface ObjectHead {
  /** Bytes, as the store counts them. */
  readonly size: number;
  /** Strong and quoted: `"…"`. Changes with the bytes. */
  readonly etag: string;
  readonly modifiedAt: Date;
  /** As stored by the object store. Files have none. Only from `head`. */
  readonly contentType?: string;
}

export interface ObjectBody extends ObjectHead {
  /** The first and the last position of the body within the object, which are those of the object without a `range`. */
  readonly start: number;
  readonly end: number;
  readonly stream: Readable;
}

export interface ReadOptions {
  /** Fails with ObjectChanged unless the object still has this ETag. */
  readonly ifMatch?: string;
  /** Inclusive positions. An `end` beyond the object is limited to its last byte, and a `start` beyond it is a RangeError. */
  readonly range?: { readonly start: number; readonly end: number };
  /** The caller holds the whole body in memory, so a driver that can delivers it in one chunk. */
  readonly whole?: boolean;
  readonly signal?: AbortSignal;
}

export interface WriteOptions {
  readonly contentType: string;
  readonly cacheControl?: string;
  /** Fails with ObjectExists if the key exists. */
  readonly createOnly?: boolean;
  /** In bytes. S3 requires it for streams. A body of another length is rejected. */
  readonly size?: number;
  /** The object can be made again, so a power cut may lose it, but never leaves a part of it. This is cheaper for files. */
  readonly reproducible?: boolean;
}

export interface ListedObject extends ObjectHead {
  readonly key: string;
}

/** The longest validity of a URL: S3's limit, which applies to files too. */
export const longestAddressS = 604_800;

interface ReadAddressOptions {
  /** 1 to `longestAddressS`. */
  readonly expiresInS: number;
  /** The Content-Type of the response, regardless of the upload's. */
  readonly contentType?: string;
  /** The URL returns this object or none, even if the key is overwritten later. Files only: S3 cannot sign a condition. */
  readonly etag?: string;
  /** The response is an attachment with this name. `true`: with the name in the URL (`disposition.ts`). */
  readonly download?: string | true;
}

interface WriteAddressOptions {
  /** 1 to `longestAddressS`. */
  readonly expiresInS: number;
  readonly contentType: string;
  /** In bytes. If it is set, it is signed, so that no other length is accepted. */
  readonly size?: number;
  /** In bytes. The edge rejects a longer body. An S3 server cannot, so the registration checks the size again. */
  readonly maxSize: number;
}

interface WriteAddress {
  readonly url: string;
  /** Headers that have to accompany the PUT. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One bucket. Every method throws for a key that is not safe (`isSafeKey`). */
export interface Objects {
  readonly bucket: string;
  /** Returns `undefined` if there is no such object. */
  head(key: string): Promise<ObjectHead | undefined>;
  /** Returns `undefined` if there is no such object. The caller must consume or destroy the stream. */
  get(key: string, options?: ReadOptions): Promise<ObjectBody | undefined>;
  /**
   * Writes everything or nothing: a reader never sees a part, even if the process dies. A stream that fails rejects
   * with its own error. A stream that is not read to its end is destroyed.
   */
  put(key: string, body: Uint8Array | Readable, options: WriteOptions): Promise<ObjectHead>;
  /** Copies inside the store. Returns `undefined` if there is no such source. Throws ObjectChanged if `ifMatch` differs. */
  copy(
    from: string,
    to: string,
    options: { readonly contentType: string; readonly ifMatch?: string },
  ): Promise<ObjectHead | undefined>;
  /** Returns the keys that are confirmed gone, including absent ones, and those that failed, each with its reason. */
  remove(
    keys: readonly string[],
  ): Promise<{ readonly removed: string[]; readonly failed: { key: string; reason: string }[] }>;
  /**
   * Yields the objects whose keys start with `prefix`, in the order of their keys. With `after`, yields only those that
   * follow this key, which need not exist any more. Reads one page at a time.
   */
  list(prefix: string, after?: string): AsyncIterable<ListedObject>;
  /**
   * Returns a bearer address for GET, which allows Range, If-None-Match and CORS. An address of the edge is valid for HEAD
   * too, but S3 signs the method. A file that a browser may not show (`mayShowInline`) is an attachment. Does not call
   * the store.
   */
  readAddress(key: string, options: ReadAddressOptions): string;
  /**
   * Returns a bearer address for one PUT, which only creates if the store can enforce that
   * (docs/specification/media.md#uploads). Does not call the store.
   */
  writeAddress(key: string, options: WriteAddressOptions): WriteAddress;
  /** Uploads that arrive in several requests. */
  readonly resumable: ResumableUploads;
  /** For /ready and doctor. Throws if the store does not respond. */
  check(): Promise<void>;
}

/** The bucket of requests that name none (docs/specification/media.md#fields). */
export const defaultLegacyBucket = 'agent_message';

/** The store of legacy objects, whose buckets are named by callers (docs/specification/media.md#fields). */
export interface LegacyObjects {
  readonly driver: 'files' | 's3' | 'off';
  /**
   * A missing bucket reads as an empty one. Returns `undefined` if there is no legacy backend, if the name belongs to
   * another store, or if it is not a valid bucket name.
   */
  bucket(name: string): Objects | undefined;
  /** Throws if the store does not respond. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Throws RangeError. */
export function assertExpiry(expiresInS: number): void {
  if (!Number.isInteger(expiresInS) || expiresInS < 1 || expiresInS > longestAddressS)
    throw new RangeError(`a URL is valid for 1 to ${longestAddressS} seconds, not ${expiresInS}`);
}

/** The object has another ETag than the caller requires. */
export class ObjectChanged extends Error {
  readonly key: string;

  constructor(key: string) {
    super('The object has changed since it was read.');
    this.name = 'ObjectChanged';
    this.key = key;
  }
}

/** A write that only creates found an object under its key. */
export class ObjectExists extends Error {
  readonly key: string;

  constructor(key: string) {
    super('The key already exists.');
    this.name = 'ObjectExists';
    this.key = key;
  }
}

// Safe keys of objects: one rule for the file system, S3 and the addresses that name a key.

/** Most keys: in ASCII, without a segment that begins with a dot. They need no further test. */
const plainKey = /^[\w~-][\w.~-]{0,254}(?:\/[\w~-][\w.~-]{0,254})*$/;

/**
 * A safe key is a relative path of at most 1024 bytes. It has no empty, `.` or `..` segment, no segment of more than 255
 * bytes, no control character and no backslash.
 */
export function isSafeKey(key: string): boolean {
  if (key.length <= 1024 && plainKey.test(key)) return true;
  if (key === '' || Buffer.byteLength(key) > 1024) return false;
  if (/[\p{Cc}\\\uFFFE\uFFFF]/u.test(key) || !key.isWellFormed()) return false;
  return key
    .split('/')
    .every((segment) => segment !== '' && segment !== '.' && segment !== '..' && Buffer.byteLength(segment) <= 255);
}

export function assertSafeKey(key: string): void {
  if (!isSafeKey(key)) throw new Error('unsafe object key');
}

/** A prefix is the beginning of a safe key: whole segments, and possibly a part of one. Empty: every key. */
export function assertSafePrefix(prefix: string): void {
  if (prefix !== '' && !isSafeKey(prefix) && !isSafeKey(`${prefix}x`)) throw new Error('unsafe object key prefix');
}

/** A caller may name a bucket by one segment of a path (docs/specification/media.md#fields). */
export function isBucketName(name: string): boolean {
  return /^[A-Za-z0-9._-]{1,255}$/.test(name) && name !== '.' && name !== '..';
}
