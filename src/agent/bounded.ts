/** Bodies of strangers, of which nobody knows how long they are. */

/** Throws when the body is longer than `maxBytes`. */
export async function readBounded(answer: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body ?? []) {
    length += chunk.length;
    if (length > maxBytes) throw new Error(`an answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
