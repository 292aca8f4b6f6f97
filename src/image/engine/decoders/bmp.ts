/**
 * Decodes uncompressed BMP: 1 to 32 bits, bit fields, top-down. Runs in a decoder thread only. The npm packages for BMP decode
 * some of these incorrectly.
 */
import { ImageFault } from '../engine.ts';
import { type BmpHeader, readBmpHeader } from './bmpheader.ts';
import { type Canvas, createCanvas } from './canvas.ts';

/** Throws ImageFault. */
export function decodeBmp(bytes: Uint8Array, maxPixels: number): Uint8Array<ArrayBuffer> {
  const header = readBmpHeader(bytes);
  const { width, height, profile } = header;
  if (width * height > maxPixels) throw new ImageFault('too_large', 'The image has too many pixels.');
  const rowBytes = Math.ceil((width * header.bits) / 32) * 4;
  // Checked before allocating memory for pixels that the file lacks.
  if (header.pixelsAt + rowBytes * (height - 1) + Math.ceil((width * header.bits) / 8) > bytes.length)
    throw new ImageFault('undecodable', 'The image is truncated.');
  const hasAlpha = header.masks?.alpha !== undefined;
  const canvas = createCanvas({ width, height, channels: hasAlpha ? 4 : 3, profile });
  if (header.bits <= 8) fillIndexed(bytes, header, canvas, rowBytes);
  else if (header.masks === undefined) fillBlueGreenRed(bytes, header, canvas, rowBytes);
  else fillMasked(bytes, header, canvas, rowBytes);
  return canvas.file;
}

const rowAt = ({ isTopDown, height }: BmpHeader, row: number) => (isTopDown ? row : height - 1 - row);

function fillIndexed(bytes: Uint8Array, header: BmpHeader, { pixels }: Canvas, rowBytes: number): void {
  const { width, height, bits, palette, pixelsAt } = header;
  const highest = 2 ** bits - 1;
  for (let row = 0; row < height; row++) {
    let to = rowAt(header, row) * width * 3;
    const from = pixelsAt + row * rowBytes;
    for (let column = 0; column < width; column++) {
      const bit = column * bits;
      const index = ((bytes[from + (bit >> 3)] ?? 0) >> (8 - bits - (bit & 7))) & highest;
      pixels[to++] = palette[index * 3] ?? 0;
      pixels[to++] = palette[index * 3 + 1] ?? 0;
      pixels[to++] = palette[index * 3 + 2] ?? 0;
    }
  }
}

function fillBlueGreenRed(bytes: Uint8Array, header: BmpHeader, { pixels }: Canvas, rowBytes: number): void {
  const { width, height, bits, pixelsAt } = header;
  const step = bits / 8;
  for (let row = 0; row < height; row++) {
    let to = rowAt(header, row) * width * 3;
    let from = pixelsAt + row * rowBytes;
    for (let column = 0; column < width; column++) {
      pixels[to++] = bytes[from + 2] ?? 0;
      pixels[to++] = bytes[from + 1] ?? 0;
      pixels[to++] = bytes[from] ?? 0;
      from += step;
    }
  }
}

function fillMasked(bytes: Uint8Array, header: BmpHeader, { pixels }: Canvas, rowBytes: number): void {
  const { width, height, bits, masks, pixelsAt } = header;
  if (masks === undefined) return;
  const channels = [masks.red, masks.green, masks.blue, ...(masks.alpha === undefined ? [] : [masks.alpha])].map(
    channelOf,
  );
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let isSeen = false;
  for (let row = 0; row < height; row++) {
    let to = rowAt(header, row) * width * channels.length;
    for (let column = 0; column < width; column++) {
      const from = pixelsAt + row * rowBytes + (column * bits) / 8;
      const pixel = bits === 16 ? view.getUint16(from, true) : view.getUint32(from, true);
      for (const { mask, shift, drop, levels } of channels)
        pixels[to++] = levels[((pixel & mask) >>> shift) >>> drop] ?? 0;
      isSeen ||= pixels[to - 1] !== 0;
    }
  }
  // An alpha channel of zeros was never written.
  if (channels.length === 4 && !isSeen) for (let at = 3; at < pixels.length; at += 4) pixels[at] = 255;
}

/** Converts the bits under a mask to a byte. */
function channelOf(mask: number) {
  if (mask === 0) return { mask, shift: 0, drop: 0, levels: new Uint8Array(1) };
  const shift = 31 - Math.clz32(mask & -mask);
  const bits = 32 - Math.clz32(mask) - shift;
  const drop = Math.max(0, bits - 8);
  const highest = 2 ** (bits - drop) - 1;
  const levels = Uint8Array.from({ length: highest + 1 }, (_none, level) => Math.round((level * 255) / highest));
  return { mask, shift, drop, levels };
}
