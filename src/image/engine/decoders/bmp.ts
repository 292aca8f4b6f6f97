/**
 * Decodes every kind of BMP that browsers show: Windows and OS/2 headers, 1 to 32 bits, RLE, bit fields, top-down. Runs
 * in a decoder thread only. The npm packages for BMP lack half of these, or decode them incorrectly.
 */
import { ImageFault } from '../engine.ts';
import { type BmpHeader, readBmpHeader } from './bmpheader.ts';
import { type Canvas, createCanvas } from './canvas.ts';

/** Throws ImageFault. Pixels that RLE skips are transparent, as in browsers. */
export function decodeBmp(bytes: Uint8Array, maxPixels: number): Uint8Array<ArrayBuffer> {
  const header = readBmpHeader(bytes);
  const { width, height, profile } = header;
  if (width * height > maxPixels) throw new ImageFault('too_large', 'The image has too many pixels.');
  const isRun = header.coding !== 'plain';
  const rowBytes = Math.ceil((width * header.bits) / 32) * 4;
  // Checked before allocating memory for pixels that the file lacks.
  if (!isRun && header.pixelsAt + rowBytes * (height - 1) + Math.ceil((width * header.bits) / 8) > bytes.length)
    throw truncated();
  const hasAlpha = isRun || header.masks?.alpha !== undefined;
  const canvas = createCanvas({ width, height, channels: hasAlpha ? 4 : 3, profile });
  if (isRun) fillRuns(bytes, header, canvas);
  else if (header.bits <= 8) fillIndexed(bytes, header, canvas, rowBytes);
  else if (header.masks === undefined) fillBlueGreenRed(bytes, header, canvas, rowBytes);
  else fillMasked(bytes, header, canvas, rowBytes);
  return canvas.file;
}

function truncated(): ImageFault {
  return new ImageFault('undecodable', 'The image is truncated.');
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

/** RLE4, RLE8 and OS/2's RLE24. */
function fillRuns(bytes: Uint8Array, header: BmpHeader, { pixels }: Canvas): void {
  const { width, height, bits, palette } = header;
  let at = header.pixelsAt;
  let [column, row] = [0, 0];
  const next = () => {
    const byte = bytes[at++];
    if (byte === undefined) throw truncated();
    return byte;
  };
  /** Pixels beyond the edge are dropped. */
  const put = (red: number, green: number, blue: number) => {
    if (column < width && row < height) {
      const to = (rowAt(header, row) * width + column) * 4;
      pixels[to] = red;
      pixels[to + 1] = green;
      pixels[to + 2] = blue;
      pixels[to + 3] = 255;
    }
    column += 1;
  };
  const putIndex = (index: number) =>
    put(palette[index * 3] ?? 0, palette[index * 3 + 1] ?? 0, palette[index * 3 + 2] ?? 0);
  const putColor = (color: readonly number[]) => put(color[2] ?? 0, color[1] ?? 0, color[0] ?? 0);

  const repeat = (count: number) => {
    const value = bits === 24 ? [next(), next(), next()] : next();
    // A run that exceeds the row costs no more than the row.
    const end = column + count;
    for (let index = 0; index < count && column < width; index++) {
      if (typeof value !== 'number') putColor(value);
      else if (bits === 8) putIndex(value);
      else putIndex(index % 2 === 0 ? value >> 4 : value & 15);
    }
    column = end;
  };
  const copy = (count: number) => {
    const start = at;
    let pair = 0;
    for (let index = 0; index < count; index++) {
      if (bits === 24) putColor([next(), next(), next()]);
      else if (bits === 8) putIndex(next());
      else {
        if (index % 2 === 0) pair = next();
        putIndex(index % 2 === 0 ? pair >> 4 : pair & 15);
      }
    }
    at += (at - start) % 2;
  };

  // The end mark may be missing after the last row.
  while (row < height && !(row === height - 1 && column >= width && at >= bytes.length)) {
    const count = next();
    if (count > 0) {
      repeat(count);
      continue;
    }
    const mark = next();
    if (mark === 1) return;
    if (mark === 0) {
      column = 0;
      row += 1;
    } else if (mark === 2) {
      column += next();
      row += next();
    } else copy(mark);
  }
}
