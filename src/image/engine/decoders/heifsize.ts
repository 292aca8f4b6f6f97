/** What a HEIC or HEIF claims about its images, before it is decoded. The decoder enforces it (heif.ts). */

const viewOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function* boxesOf(file: Buffer, type: string, length: number): Generator<number> {
  for (let at = file.indexOf(type); at !== -1 && at + length <= file.length; at = file.indexOf(type, at + 4)) yield at;
}

/** Of the largest image that a property describes. `undefined`: none does. */
export function claimedSize(bytes: Uint8Array): { readonly width: number; readonly height: number } | undefined {
  const file = viewOf(bytes);
  const sizes = [...boxesOf(file, 'ispe', 16)].map((at) => ({
    width: file.readUInt32BE(at + 8),
    height: file.readUInt32BE(at + 12),
  }));
  return sizes.sort((one, other) => other.width * other.height - one.width * one.height)[0];
}

/** For libheif itself and the tables of a file. */
const baseBytes = 32 * 1024 * 1024;
/** Of the WebAssembly memory of any file. */
const mostBytes = 352 * 1024 * 1024;
/** Of planes and their copy as RGB: with 8 bits in 4:2:0, and of others, with one more copy if the image is rotated. */
const [plainPixelBytes, pixelBytes] = [10, 24];

/** The most WebAssembly memory of a file with so many pixels. */
export function decoderBytes(bytes: Uint8Array, pixels: number): number {
  const file = viewOf(bytes);
  const isPlain = [...boxesOf(file, 'hvcC', 23)].every(
    (at) => ((file[at + 20] ?? 0) & 3) === 1 && ((file[at + 21] ?? 0) & 7) === 0,
  );
  return Math.min(mostBytes, baseBytes + bytes.length + pixels * (isPlain ? plainPixelBytes : pixelBytes));
}
