/** What both drivers do with bodies. */
import { addAbortSignal, Readable } from 'node:stream';

export type Body = Uint8Array | Readable;

/** Thrown at the writer when a body has another length than was announced. */
export class WrongLength extends Error {
  constructor(expected: number, actual?: number) {
    super(`the body has ${actual === undefined ? 'more than' : `${actual} bytes instead of`} ${expected}`);
    this.name = 'WrongLength';
  }
}

/** The chunks of a body of exactly `size` bytes; of any length without it. */
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

/** Pieces small enough that sending one shows that the other side still takes them. */
function* slices(bytes: Uint8Array, sliceBytes = 256 * 1024): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += sliceBytes) yield bytes.subarray(start, start + sliceBytes);
}

/** A stream for a reader that may not have come yet when it fails: the error waits for that reader. */
export function heldByReader(stream: Readable, signal: AbortSignal | undefined): Readable {
  stream.on('error', () => undefined);
  return signal === undefined ? stream : addAbortSignal(signal, stream);
}
