/** The input of the parts of the object store suite. */
import type { Objects } from '#platform/objects/objects.ts';

export interface DriverUnderTest {
  readonly name: string;
  /** Opens a new empty bucket whose URLs are served, and the handle of a bucket that does not exist. */
  open(): Promise<{ readonly objects: Objects; readonly missing: Objects; close(): Promise<void> }>;
  /** Features of the driver beyond the interface. */
  readonly supports: { readonly streamsWithoutSize: boolean };
}

/** Passed to each part of the suite. The bucket exists when its tests run. */
export interface Rig {
  readonly objects: Objects;
  readonly missing: Objects;
  readonly supports: DriverUnderTest['supports'];
  /** Returns a unique prefix in the bucket for one test. It ends in `/`. */
  folder(): string;
  read(key: string): Promise<Buffer | undefined>;
  /** Returns every key below a prefix, as listed. */
  keys(prefix: string): Promise<string[]>;
}
