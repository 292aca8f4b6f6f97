/** Reads a body whose sender may exceed any length it announced. */

/**
 * Returns the whole body, or throws what `tooLong` returns as soon as more than `maxBytes` have arrived. Throwing
 * destroys the stream, and with it the connection.
 */
export async function readAtMost(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
  tooLong: () => Error,
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}
