/**
 * Object storage: one interface, two drivers (`filesystem.ts`, `s3.ts`), chosen in `open.ts` only. Each method has a
 * deadline of its own; an engine that does not respond is `engine_unavailable`. The promises written here are held by one
 * conformance suite (`conformance.ts`), run on both.
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
  /** Where the body starts and ends (inclusive) within the object; the whole of it without a `range`. */
  readonly start: number;
  readonly end: number;
  readonly stream: Readable;
}

export interface ReadOptions {
  /** Fails with ObjectChanged unless the object still has this etag: what is read is what was seen. */
  readonly ifMatch?: string;
  /** Inclusive positions; `end` beyond the object is cut, `start` beyond it is a RangeError. */
  readonly range?: { readonly start: number; readonly end: number };
  /** The caller will hold the whole body in memory: where the driver can, it comes in one piece. */
  readonly whole?: boolean;
  readonly signal?: AbortSignal;
}

export interface WriteOptions {
  readonly contentType: string;
  readonly cacheControl?: string;
  /** Fails with ObjectExists when the key is taken. */
  readonly createOnly?: boolean;
  /** Bytes. S3 needs it for streams and refuses them without; a body of another length is refused. */
  readonly size?: number;
  /** It can be made again: after a power cut it may be missing, though never be there in part. Spares files some work. */
  readonly reproducible?: boolean;
}

export interface ListedObject extends ObjectHead {
  readonly key: string;
}

/** The longest validity of a URL: S3's limit, which applies to files too. */
export const longestAddressS = 604_800;

export interface ReadAddressOptions {
  /** 1 to `longestAddressS`. */
  readonly expiresInS: number;
  /** The Content-Type of the response, regardless of the upload's. */
  readonly contentType?: string;
  /** The URL returns this object or none, even if the key is overwritten later. Files only: S3 cannot sign a condition. */
  readonly etag?: string;
  /** Sent as an attachment, with this file name or with that of the URL (`disposition.ts`). */
  readonly download?: string | true;
}

export interface WriteAddressOptions {
  /** 1 to `longestAddressS`. */
  readonly expiresInS: number;
  readonly contentType: string;
  /** Bytes; signed when given, so that no other length is accepted. */
  readonly size?: number;
  /** Bytes; the edge cuts off at it. An S3 server cannot, so registration looks again. */
  readonly maxSize: number;
}

export interface WriteAddress {
  readonly url: string;
  /** Headers that have to accompany the PUT. */
  readonly headers: Readonly<Record<string, string>>;
}

/** One bucket. Keys are relative paths without empty, `.` or `..` segments (see keys.ts); others throw. */
export interface Objects {
  readonly bucket: string;
  /** `undefined`: no such object. */
  head(key: string): Promise<ObjectHead | undefined>;
  /** `undefined`: no such object. The caller consumes or destroys the stream. */
  get(key: string, options?: ReadOptions): Promise<ObjectBody | undefined>;
  /**
   * Writes everything or nothing: a reader never sees a part, also if the process dies. A stream that fails rejects
   * with its own error. A stream that is not read to its end is destroyed.
   */
  put(key: string, body: Uint8Array | Readable, options: WriteOptions): Promise<ObjectHead>;
  /** Inside the store. `undefined`: no such source. Throws ObjectChanged when `ifMatch` is given and differs. */
  copy(
    from: string,
    to: string,
    options: { readonly contentType: string; readonly ifMatch?: string },
  ): Promise<ObjectHead | undefined>;
  /** Keys confirmed gone (absent ones included) and keys that failed, each with its reason. */
  remove(
    keys: readonly string[],
  ): Promise<{ readonly removed: string[]; readonly failed: { key: string; reason: string }[] }>;
  /**
   * Objects whose keys start with `prefix`, in key order, page by page behind the iterator; those beyond `after` alone, a
   * key that was listed before, there or not.
   */
  list(prefix: string, after?: string): AsyncIterable<ListedObject>;
  /**
   * A bearer address for GET (of the edge for HEAD too, S3 signs the method); honours Range, If-None-Match and CORS. What a
   * browser may not show (`mayShowInline`) is an attachment. No call to the store.
   */
  readAddress(key: string, options: ReadAddressOptions): string;
  /** A bearer address for one PUT, create only where the store can (docs/specification/media.md#uploads). No call to the store. */
  writeAddress(key: string, options: WriteAddressOptions): WriteAddress;
  /** Uploads that arrive in several requests. */
  readonly resumable: ResumableUploads;
  /** For /ready and doctor. Throws if the store does not respond. */
  check(): Promise<void>;
}

/** When a request names none (docs/specification/media.md#fields). */
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

export function assertExpiry(expiresInS: number): void {
  if (!Number.isInteger(expiresInS) || expiresInS < 1 || expiresInS > longestAddressS)
    throw new RangeError(`a URL is valid for 1 to ${longestAddressS} seconds, not ${expiresInS}`);
}

export class ObjectChanged extends Error {
  readonly key: string;

  constructor(key: string) {
    super('The object has changed since it was read.');
    this.name = 'ObjectChanged';
    this.key = key;
  }
}

export class ObjectExists extends Error {
  readonly key: string;

  constructor(key: string) {
    super('The key already exists.');
    this.name = 'ObjectExists';
    this.key = key;
  }
}
