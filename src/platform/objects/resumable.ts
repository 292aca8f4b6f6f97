/**
 * Uploads that arrive in several requests (docs/specification/media.md#resumable-uploads). Each driver keeps the bytes that
 * arrived until the upload is whole. Then the object appears under its key, as after a `put` that creates only.
 */
import type { Readable } from 'node:stream';

export interface ResumableUpload {
  /** 32 lower-case hex digits, unique. Names the place of the partial bytes. */
  readonly id: string;
  readonly key: string;
  /** Bytes of the whole object, at least 1. */
  readonly size: number;
  readonly contentType: string;
}

/** Any number of processes may serve one upload. Whatever they do, and whenever they die, stored bytes stay stored. */
export interface ResumableUploads {
  /**
   * Returns how many bytes survive a crash and a power cut. An upload that never received bytes has 0. Does not look
   * for the object. Throws UploadEnded.
   */
  offset(upload: ResumableUpload): Promise<number>;
  /**
   * Stores what `body` yields from `offset` on, and returns the new offset once its bytes are durable. When the upload is whole, the object
   * is created; an empty body at the end of an upload creates it too. If `body` fails, what arrived is stored, and the error is
   * thrown. The body must not yield more than the upload has left.
   * Throws OffsetConflict, UploadEnded, UploadTakenOver, and ObjectExists if the key is taken.
   */
  append(upload: ResumableUpload, offset: number, body: Readable): Promise<number>;
  /** Removes the partial bytes. From then on the upload has ended. */
  terminate(upload: ResumableUpload): Promise<void>;
  /** Ends the upload as `terminate` does, unless bytes arrived since `before`. Returns `false` in that case. */
  discard(upload: Pick<ResumableUpload, 'id' | 'key'>, before: Date): Promise<boolean>;
  /** After it, no upload that is in progress can replace the object under `key`. */
  seal(key: string): Promise<void>;
  /** The same for all objects whose keys begin with `prefix`. Files keep partial bytes apart from the key, until a sweep. */
  sealBelow(prefix: string): Promise<void>;
  /** Finds uploads that received nothing since `before`, one page at a time. */
  sweep(request: UploadSweep): Promise<UploadSweepPage>;
}

export interface UploadSweep {
  readonly before: Date;
  /** Whether to remove what is found. */
  readonly apply: boolean;
  /** `next` of the previous page. `undefined`: the first page. */
  readonly after?: string | undefined;
  /** The number of uploads, or of their objects, that one page reads. */
  readonly limit: number;
}

export interface UploadSweepPage {
  /** Names of uploads or of their parts. */
  readonly idle: readonly string[];
  /** `undefined`: this was the last page. */
  readonly next: string | undefined;
}

/** The bytes begin at another offset than those stored. */
export class OffsetConflict extends Error {
  readonly offset: number;

  constructor(offset: number) {
    super(`the upload has ${offset} bytes`);
    this.name = 'OffsetConflict';
    this.offset = offset;
  }
}

/** The upload was terminated or removed. */
export class UploadEnded extends Error {
  constructor() {
    super('the upload has ended');
    this.name = 'UploadEnded';
  }
}

/** Another process stores bytes of this upload. What this call stored may be stored by the other one, too. */
export class UploadTakenOver extends Error {
  constructor() {
    super('another process continues the upload');
    this.name = 'UploadTakenOver';
  }
}

export function assertUploadId(id: string): void {
  if (!/^[0-9a-f]{32}$/.test(id)) throw new Error('unsafe upload id');
}
