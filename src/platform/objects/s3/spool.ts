/** Bytes between a slow sender and the S3 server: a file without a name, so that a killed process leaves nothing. */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';

export interface Spool {
  readonly size: number;
  add(bytes: Uint8Array): Promise<void>;
  /** From the first byte. End it before the next `add`. */
  read(): Readable;
  clear(): void;
  close(): Promise<void>;
}

const pieceBytes = 256 * 1024;

/** A read stream of Node would close the file with itself. */
async function* piecesOf(handle: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < size; ) {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, size - position));
    const { bytesRead } = await handle.read(piece, 0, piece.length, position);
    if (bytesRead === 0) throw new Error('the spool is shorter than what was written');
    position += bytesRead;
    yield piece.subarray(0, bytesRead);
  }
}

export async function openSpool(): Promise<Spool> {
  const path = join(tmpdir(), `atelier-spool-${randomUUID()}`);
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  let size = 0;
  return {
    get size() {
      return size;
    },
    add: async (bytes) => {
      for (let written = 0; written < bytes.length; ) {
        const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, size + written);
        written += bytesWritten;
      }
      size += bytes.length;
    },
    read: () => Readable.from(piecesOf(handle, size), { objectMode: false }),
    clear: () => {
      size = 0;
    },
    close: () => handle.close(),
  };
}
