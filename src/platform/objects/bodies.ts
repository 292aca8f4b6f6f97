/** Bodies of objects, as both drivers read and write them. */
import { addAbortSignal, Readable } from 'node:stream';

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
