/** Utilities of the object store's tests. */
import type { Readable } from 'node:stream';
import type { ListedObject, Objects } from '#platform/objects/objects.ts';

export async function listed(objects: Objects, prefix: string): Promise<ListedObject[]> {
  const found: ListedObject[] = [];
  for await (const object of objects.list(prefix)) found.push(object);
  return found;
}

/** Returns some megabytes in which no two positions are alike. */
export function pattern(bytes: number, seed: number): Buffer {
  const made = Buffer.alloc(bytes);
  for (let at = 0; at + 4 <= bytes; at += 4) made.writeUInt32LE((at * 2654435761 + seed) >>> 0, at);
  return made;
}

export async function firstChunk(stream: Readable): Promise<Buffer> {
  for (;;) {
    const chunk: Buffer | null = stream.read();
    if (chunk !== null) return chunk;
    await new Promise((resolve, reject) => {
      stream.once('readable', resolve);
      stream.once('error', reject);
    });
  }
}
