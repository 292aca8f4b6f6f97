/** What the parts of the object stores' suite are handed. */
import type { Objects } from '#platform/objects/objects.ts';

export interface DriverUnderTest {
  readonly name: string;
  /** Opens an empty bucket of its own, whose addresses are served, and the handle of a bucket that does not exist. */
  open(): Promise<{ readonly objects: Objects; readonly missing: Objects; close(): Promise<void> }>;
  /** Where the driver takes more than the interface asks for. */
  readonly supports: { readonly streamsWithoutSize: boolean };
}

/** Handed to each part of the suite; the bucket is there when its tests run. */
export interface Rig {
  readonly objects: Objects;
  readonly missing: Objects;
  readonly supports: DriverUnderTest['supports'];
  /** A place of its own in the bucket for one test: ends in `/`. */
  folder(): string;
  read(key: string): Promise<Buffer | undefined>;
  /** Every key below a prefix, as listed. */
  keys(prefix: string): Promise<string[]>;
}
