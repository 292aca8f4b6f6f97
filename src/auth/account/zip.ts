/**
 * Writes a ZIP archive while it is read (PKWARE's APPNOTE.TXT, 6.3.10). Sizes follow each file, and files are compressed,
 * possibly at level 0, so that a reader that does not seek finds their ends too.
 */
import { crc32 } from 'node:zlib';

export interface ZipFile {
  readonly name: string;
  readonly modifiedAt: Date;
  /** The file may have 4 GiB or more. */
  readonly isLarge: boolean;
  /** The compressed bytes (raw DEFLATE). */
  readonly compressed: AsyncIterable<Uint8Array>;
  /** Read after `compressed` has ended. */
  readonly facts: () => { readonly crc32: number; readonly bytes: number };
}

interface Written {
  readonly name: Buffer;
  readonly time: number;
  readonly isLarge: boolean;
  readonly crc32: number;
  readonly bytes: number;
  readonly compressedBytes: number;
  readonly offset: number;
}

const limit32 = 0xffffffff;
const limit16 = 0xffff;
/** Sizes follow the file, and names are UTF-8. */
const flags = 0x0808;
const deflated = 8;
const [plainVersion, largeVersion] = [20, 45];

export async function* zip(files: AsyncIterable<ZipFile>): AsyncGenerator<Buffer> {
  const written: Written[] = [];
  let offset = 0;
  const count = (bytes: Buffer) => {
    offset += bytes.length;
    return bytes;
  };
  for await (const { name, modifiedAt, isLarge, compressed, facts } of files) {
    const file = { name: Buffer.from(name), time: dosTimeOf(modifiedAt), isLarge, offset };
    yield count(localHeader(file));
    let compressedBytes = 0;
    for await (const piece of compressed) {
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
      compressedBytes += bytes.length;
      yield count(bytes);
    }
    const entry = { ...file, compressedBytes, ...facts() };
    if (!isLarge && Math.max(entry.bytes, compressedBytes) >= limit32) throw new Error(`${name} is too large`);
    yield count(descriptor(entry));
    written.push(entry);
  }
  const start = offset;
  for (const entry of written) yield count(centralHeader(entry));
  yield end(written.length, start, offset - start);
}

/** In UTC, two seconds exact. */
function dosTimeOf(at: Date): number {
  const year = Math.min(Math.max(at.getUTCFullYear(), 1980), 2107);
  const date = ((year - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  return date * 0x10000 + time;
}

/** A little-endian record. Each field is its width in bytes and its value. */
function record(...fields: readonly (readonly [width: 2 | 4 | 8, value: number])[]): Buffer {
  const bytes = Buffer.alloc(fields.reduce((sum, [width]) => sum + width, 0));
  let at = 0;
  for (const [width, value] of fields) {
    if (width === 8) bytes.writeBigUInt64LE(BigInt(value), at);
    else bytes.writeUIntLE(value, at, width);
    at += width;
  }
  return bytes;
}

function localHeader({ name, time, isLarge }: Pick<Written, 'name' | 'time' | 'isLarge'>): Buffer {
  // Its presence shows that the sizes that follow the file have 8 bytes.
  const extra = isLarge ? record([2, 1], [2, 16], [8, 0], [8, 0]) : Buffer.alloc(0);
  const size = isLarge ? limit32 : 0;
  const version = isLarge ? largeVersion : plainVersion;
  return Buffer.concat([
    record([4, 0x04034b50], [2, version], [2, flags], [2, deflated], [4, time], [4, 0], [4, size], [4, size]),
    record([2, name.length], [2, extra.length]),
    name,
    extra,
  ]);
}

function descriptor({ isLarge, compressedBytes, bytes, ...entry }: Written): Buffer {
  const width = isLarge ? 8 : 4;
  return record([4, 0x08074b50], [4, entry.crc32], [width, compressedBytes], [width, bytes]);
}

function centralHeader({ name, time, compressedBytes, bytes, offset, ...entry }: Written): Buffer {
  const large = [bytes, compressedBytes, offset].filter((value) => value >= limit32);
  const extra =
    large.length === 0
      ? Buffer.alloc(0)
      : record([2, 1], [2, large.length * 8], ...large.map((value) => [8, value] as const));
  const version = large.length > 0 || entry.isLarge ? largeVersion : plainVersion;
  const [sizeC, size, at] = [compressedBytes, bytes, offset].map((value) => Math.min(value, limit32));
  return Buffer.concat([
    record([4, 0x02014b50], [2, 0x0300 + version], [2, version], [2, flags], [2, deflated], [4, time]),
    record(
      [4, entry.crc32],
      [4, sizeC ?? 0],
      [4, size ?? 0],
      [2, name.length],
      [2, extra.length],
      [2, 0],
      [2, 0],
      [2, 0],
    ),
    // A regular file that its owner may read and write.
    record([4, 0o100600 * 0x10000], [4, at ?? 0]),
    name,
    extra,
  ]);
}

function end(files: number, start: number, length: number): Buffer {
  const plain = record(
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, Math.min(files, limit16)],
    [2, Math.min(files, limit16)],
    [4, Math.min(length, limit32)],
    [4, Math.min(start, limit32)],
    [2, 0],
  );
  if (files < limit16 && length < limit32 && start < limit32) return plain;
  const large = record(
    [4, 0x06064b50],
    [8, 44],
    [2, 0x0300 + largeVersion],
    [2, largeVersion],
    [4, 0],
    [4, 0],
    [8, files],
    [8, files],
    [8, length],
    [8, start],
  );
  return Buffer.concat([large, record([4, 0x07064b50], [4, 0], [8, start + length], [4, 1]), plain]);
}

/** Adds up the checksum and the length of what passes. */
export function createTally() {
  let crc = 0;
  let bytes = 0;
  return {
    pass: async function* (pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const piece of pieces) {
        crc = crc32(piece, crc);
        bytes += piece.length;
        yield piece;
      }
    },
    facts: () => ({ crc32: crc, bytes }),
  };
}
