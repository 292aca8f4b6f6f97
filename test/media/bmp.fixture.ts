/** BMP files for tests. */

export interface BmpOptions {
  readonly width: number;
  /** Negative: from the top down. */
  readonly height: number;
  readonly bits: number;
  /** As the file has them: row by row, each padded. */
  readonly pixels: Uint8Array;
  /** Of the information header, bytes. */
  readonly header?: number;
  readonly compression?: number;
  readonly palette?: readonly (readonly [number, number, number])[];
  /** Red, green, blue, alpha. */
  readonly masks?: readonly number[];
  /** Bytes between palette and pixels. */
  readonly gap?: number;
}

/** `BITMAPCOREHEADER` with `header: 12`, `BITMAPINFOHEADER` with 40, later ones with more. */
export function bmp(options: BmpOptions): Buffer {
  const { width, height, bits, pixels, header = 40, compression = 0, palette = [], masks = [], gap = 0 } = options;
  const information = Buffer.alloc(header);
  information.writeUInt32LE(header);
  if (header === 12) {
    information.writeUInt16LE(width, 4);
    information.writeUInt16LE(height, 6);
    information.writeUInt16LE(1, 8);
    information.writeUInt16LE(bits, 10);
  } else {
    information.writeInt32LE(width, 4);
    information.writeInt32LE(height, 8);
    information.writeUInt16LE(1, 12);
    information.writeUInt16LE(bits, 14);
    if (header >= 20) information.writeUInt32LE(compression, 16);
    if (header >= 36) information.writeUInt32LE(palette.length, 32);
  }
  const fields = Buffer.alloc(masks.length * 4);
  for (const [index, mask] of masks.entries()) fields.writeUInt32LE(mask >>> 0, index * 4);
  if (header > 40) fields.copy(information, 40);
  const entries = palette.map(([red, green, blue]) =>
    Buffer.from(header === 12 ? [blue, green, red] : [blue, green, red, 0]),
  );
  const before = [information, ...(header > 40 ? [] : [fields]), ...entries, Buffer.alloc(gap)];
  const start = 14 + Buffer.concat(before).length;
  const file = Buffer.alloc(14);
  file.write('BM', 'latin1');
  file.writeUInt32LE(start + pixels.length, 2);
  file.writeUInt32LE(start, 10);
  return Buffer.concat([file, ...before, pixels]);
}

/** 24 bits a pixel. `color` is asked for each pixel, with x and y from 0 to below 1. */
export function bmpOf(width: number, height: number, color: (x: number, y: number) => readonly number[]): Buffer {
  const rowBytes = Math.ceil((width * 3) / 4) * 4;
  const pixels = Buffer.alloc(rowBytes * height);
  for (let row = 0; row < height; row++)
    for (let column = 0; column < width; column++) {
      const [red = 0, green = 0, blue = 0] = color(column / width, (height - 1 - row) / height);
      pixels.set([blue, green, red], row * rowBytes + column * 3);
    }
  return bmp({ width, height, bits: 24, pixels });
}
