import type { ReadOptions } from './objects.ts';

/**
 * Returns the inclusive positions to read of an object of `size` bytes. `end` is limited to the last byte, and is before
 * `start` if the object is empty. Throws RangeError if the range is malformed or starts beyond the object.
 */
export function clipRange(range: ReadOptions['range'], size: number): { readonly start: number; readonly end: number } {
  if (range === undefined) return { start: 0, end: size - 1 };
  assertRange(range);
  if (range.start >= size) throw new RangeError(`the range starts at ${range.start}, after the end of the object`);
  return { start: range.start, end: Math.min(range.end, size - 1) };
}

/** Throws RangeError if the range is malformed. */
export function assertRange({ start, end }: NonNullable<ReadOptions['range']>): void {
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start)
    throw new RangeError(`${start} to ${end} is not a range`);
}
