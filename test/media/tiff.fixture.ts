/** TIFF files for tests: gray, 8 bits, uncompressed, in one strip, unless fields say otherwise. */

export interface TiffOptions {
  readonly width: number;
  readonly height: number;
  /** How many pages there are; each shows the same pixels, 0 to 255 from the first on, but for the first. */
  readonly pages?: number;
  /** The pages go round in a circle. */
  readonly isCircle?: boolean;
  /** Tag to value, in place of those that fit. */
  readonly fields?: Readonly<Record<number, number>>;
}

/** The first page is black, the others are white. */
export function tiff({ width, height, pages = 1, isCircle = false, fields = {} }: TiffOptions): Buffer {
  const pixelBytes = Math.min(width * height, 10_000);
  const values = (page: number): readonly (readonly [number, number])[] =>
    Object.entries({
      256: width,
      257: height,
      258: 8,
      259: 1,
      262: 1,
      273: 8 + (page === 0 ? 0 : pixelBytes),
      277: 1,
      278: height,
      279: width * height,
      ...fields,
    })
      .map(([tag, value]) => [Number(tag), value] as const)
      .filter(([, value]) => value >= 0)
      .sort(([one], [other]) => one - other);
  const count = values(0).length;
  const directoryBytes = 2 + count * 12 + 4;
  const start = 8 + pixelBytes * 2;
  const file = Buffer.alloc(start + pages * directoryBytes);
  file.set([0x49, 0x49, 42, 0]);
  file.writeUInt32LE(start, 4);
  file.fill(255, 8 + pixelBytes, start);
  for (let page = 0; page < pages; page++) {
    let at = start + page * directoryBytes;
    at = file.writeUInt16LE(count, at);
    for (const [tag, value] of values(page)) {
      at = file.writeUInt16LE(tag, at);
      at = file.writeUInt16LE(4, at);
      at = file.writeUInt32LE(1, at);
      at = file.writeUInt32LE(value, at);
    }
    file.writeUInt32LE(page < pages - 1 ? start + (page + 1) * directoryBytes : isCircle ? start : 0, at);
  }
  return file;
}
