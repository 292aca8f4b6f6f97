/** Bodies of objects, as both drivers read and write them. */
import { addAbortSignal, Readable } from 'node:stream';
import type { ReadOptions } from './objects.ts';

export type Body = Uint8Array | Readable;

/** A body has another length than was announced. */
export class WrongLength extends Error {
  constructor(expected: number, actual?: number) {
    super(`the body has ${actual === undefined ? 'more than' : `${actual} bytes instead of`} ${expected}`);
    this.name = 'WrongLength';
  }
}

/** Yields the chunks of a body. Throws WrongLength unless it has `size` bytes, if that is set. */
export async function* chunksOf(body: Body, size: number | undefined): AsyncGenerator<Uint8Array> {
  let taken = 0;
  for await (const chunk of body instanceof Readable ? body : slices(body)) {
    const bytes = chunk instanceof Uint8Array ? chunk : Buffer.from(chunk);
    taken += bytes.length;
    if (size !== undefined && taken > size) throw new WrongLength(size);
    yield bytes;
  }
  if (size !== undefined && taken < size) throw new WrongLength(size, taken);
}

/** The slices are so small that the receiver has to take one after the other, which shows that it is alive. */
function* slices(bytes: Uint8Array, sliceBytes = 256 * 1024): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += sliceBytes) yield bytes.subarray(start, start + sliceBytes);
}

/** Returns a stream that may fail before anything reads it: a later reader receives the error. */
export function heldByReader(stream: Readable, signal: AbortSignal | undefined): Readable {
  stream.on('error', () => undefined);
  return signal === undefined ? stream : addAbortSignal(signal, stream);
}

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
