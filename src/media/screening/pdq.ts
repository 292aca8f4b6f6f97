/**
 * PDQ, the perceptual hash of images (after "The TMK+PDQF Video-Hashing Algorithm and the PDQ Image-Hashing
 * Algorithm", 2019): luminance, a tent filter down to 64 × 64, the low frequencies of its cosine transform, each
 * compared with their median. The hashes of images that look alike differ in few of 256 bits.
 */

import type { Raster } from '#image/engine/engine.ts';

export interface PdqHash {
  /** 64 digits, the last row of frequencies first, as in published lists. */
  readonly hex: string;
  /** 0–100: the amount of detail. Below 50 a hash is not significant. */
  readonly quality: number;
}

/** Pixels. */
const side = 64;
const frequencies = 16;
const smallestSide = 5;

/** For an image with fewer than 5 pixels on a side: all zeros, of quality 0. Channels after the first three (alpha) are ignored. */
export function pdqOf(raster: Raster): PdqHash {
  if (Math.min(raster.width, raster.height) < smallestSide) return { hex: '0'.repeat(64), quality: 0 };
  const small = shrink(luminanceOf(raster), raster.width, raster.height);
  return { hex: toHex(transform(small)), quality: qualityOf(small) };
}

/** Rec. 601. */
function luminanceOf({ data, width, height, channels }: Raster): Float32Array {
  const luminance = new Float32Array(width * height);
  const [green, blue] = channels < 3 ? [0, 0] : [1, 2];
  for (let at = 0, from = 0; at < luminance.length; at++, from += channels)
    luminance[at] = 0.299 * (data[from] ?? 0) + 0.587 * (data[from + green] ?? 0) + 0.114 * (data[from + blue] ?? 0);
  return luminance;
}

/** Two passes of a box are a tent; then the middle of each of the 64 × 64 cells is taken. Writes over `pixels`. */
function shrink(pixels: Float32Array, width: number, height: number): Float32Array {
  const between = new Float32Array(pixels.length);
  for (let pass = 0; pass < 2; pass++) {
    for (let row = 0; row < height; row++) averageLine(pixels, between, row * width, 1, width);
    for (let column = 0; column < width; column++) averageLine(between, pixels, column, width, height);
  }
  const small = new Float32Array(side * side);
  for (let row = 0; row < side; row++) {
    const start = Math.floor(((row + 0.5) * height) / side) * width;
    for (let column = 0; column < side; column++)
      small[row * side + column] = pixels[start + Math.floor(((column + 0.5) * width) / side)] ?? 0;
  }
  return small;
}

/** A moving average over half a cell, narrower at both ends. `stride` leads from one pixel of the line to the next. */
function averageLine(from: Float32Array, to: Float32Array, start: number, stride: number, length: number): void {
  const window = Math.ceil(length / (2 * side));
  const ahead = window >> 1;
  let sum = 0;
  let count = 0;
  for (let entering = 0; entering < length + ahead; entering++) {
    if (entering < length) {
      sum += from[start + entering * stride] ?? 0;
      count += 1;
    }
    if (entering >= window) {
      sum -= from[start + (entering - window) * stride] ?? 0;
      count -= 1;
    }
    if (entering >= ahead) to[start + (entering - ahead) * stride] = sum / count;
  }
}

/** The sum of steps between neighbors. Rounding omits small ones. */
function qualityOf(small: Float32Array): number {
  let steps = 0;
  const step = (from: number, to: number) =>
    Math.abs(Math.trunc((((small[from] ?? 0) - (small[to] ?? 0)) * 100) / 255));
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      const at = row * side + column;
      if (row + 1 < side) steps += step(at, at + side);
      if (column + 1 < side) steps += step(at, at + 1);
    }
  }
  return Math.min(100, Math.trunc(steps / 90));
}

/** Waves 1 to 16 over 64 places. Wave 0 is the mean, which does not describe the image. */
const waves = Float32Array.from({ length: frequencies * side }, (_, at) => {
  const [wave, place] = [Math.floor(at / side) + 1, at % side];
  return Math.sqrt(2 / side) * Math.cos((Math.PI / 2 / side) * wave * (2 * place + 1));
});

/** The type II cosine transform, its 16 × 16 low frequencies. */
function transform(small: Float32Array): Float32Array {
  const half = new Float32Array(frequencies * side);
  for (let wave = 0; wave < frequencies; wave++) {
    for (let column = 0; column < side; column++) {
      let sum = 0;
      for (let row = 0; row < side; row++) sum += (waves[wave * side + row] ?? 0) * (small[row * side + column] ?? 0);
      half[wave * side + column] = sum;
    }
  }
  const spectrum = new Float32Array(frequencies * frequencies);
  for (let row = 0; row < frequencies; row++) {
    for (let wave = 0; wave < frequencies; wave++) {
      let sum = 0;
      for (let at = 0; at < side; at++) sum += (half[row * side + at] ?? 0) * (waves[wave * side + at] ?? 0);
      spectrum[row * frequencies + wave] = sum;
    }
  }
  return spectrum;
}

/** Each row of frequencies is a number of 16 bits, its first frequency the lowest bit. */
function toHex(spectrum: Float32Array): string {
  const median = spectrum.toSorted()[spectrum.length / 2 - 1] ?? 0;
  let hex = '';
  for (let row = frequencies - 1; row >= 0; row--) {
    let bits = 0;
    for (let column = frequencies - 1; column >= 0; column--)
      bits = bits * 2 + ((spectrum[row * frequencies + column] ?? 0) > median ? 1 : 0);
    hex += bits.toString(16).padStart(4, '0');
  }
  return hex;
}
