/** How tests look at images. */
import sharp from 'sharp';

/** Difference hash: 64 bits, each telling whether a ninth of a row is brighter than its right neighbour. Hex. */
export async function dhash(image: Uint8Array): Promise<string> {
  const pixels = await sharp(image)
    .flatten({ background: '#808080' })
    .greyscale()
    .resize(9, 8, { fit: 'fill' })
    .raw()
    .toBuffer();
  let hash = 0n;
  for (let row = 0; row < 8; row++) {
    for (let column = 0; column < 8; column++) {
      const at = row * 9 + column;
      hash = (hash << 1n) | BigInt((pixels[at] ?? 0) > (pixels[at + 1] ?? 0));
    }
  }
  return hash.toString(16).padStart(16, '0');
}

/** How many of the 64 bits differ. */
export function distance(one: string, other: string): number {
  let bits = BigInt(`0x${one}`) ^ BigInt(`0x${other}`);
  let count = 0;
  for (; bits > 0n; bits >>= 1n) count += Number(bits & 1n);
  return count;
}

/** Red, green, blue (and alpha, where there is any) of the pixel at (x, y), each from 0 to below 1. */
export async function colourAt(image: Uint8Array, x: number, y: number): Promise<readonly number[]> {
  const { data, info } = await sharp(image).raw().toBuffer({ resolveWithObject: true });
  const at = (Math.floor(y * info.height) * info.width + Math.floor(x * info.width)) * info.channels;
  return [...data.subarray(at, at + info.channels)];
}

/** The largest difference of a channel. */
export function difference(one: readonly number[], other: readonly number[]): number {
  return Math.max(...one.map((value, channel) => Math.abs(value - (other[channel] ?? 0))));
}
