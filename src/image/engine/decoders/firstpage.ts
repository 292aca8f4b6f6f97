/**
 * Copies the first page of a TIFF to a file of one page, because libtiff reads the whole chain, which takes minutes for
 * a million pages. Refuses what libvips cannot read, or reads as another image.
 */
import { ImageFault } from '../engine.ts';

interface Layout {
  readonly countBytes: 2 | 8;
  readonly entryBytes: 12 | 20;
  readonly offsetBytes: 4 | 8;
}

const classic: Layout = { countBytes: 2, entryBytes: 12, offsetBytes: 4 };
const big: Layout = { countBytes: 8, entryBytes: 20, offsetBytes: 8 };

const [widthTag, heightTag, compressionTag, photometricTag, rowsTag, planesTag] = [256, 257, 259, 262, 278, 284];
const [tileWidthTag, tileHeightTag, subsamplingTag] = [322, 323, 530];
const [oldJpeg, jpeg, lzma] = [6, 7, 34_925];
const yCbCr = 6;
const separatePlanes = 2;
const short = 3;
/** libtiff reads a strip of more rows line by line. */
const mostStripRows = 128;

interface FirstPage {
  /** The same bytes if there is only one page, or if the file is damaged. */
  readonly file: Uint8Array;
  /** Pixels that are in memory while lines are read: a strip, or the tiles side by side. */
  readonly bufferedPixels: number;
}

/** Throws ImageFault. */
export function firstPageOf(bytes: Uint8Array): FirstPage {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 16) return { file: bytes, bufferedPixels: 0 };
  const isLittle = bytes[0] === 0x49;
  const layout = view.getUint16(2, isLittle) === 43 ? big : classic;
  const { countBytes, entryBytes, offsetBytes } = layout;
  const read = (at: number, size: number): number => {
    if (at + size > bytes.length) return 0;
    if (size === 8) return Number(view.getBigUint64(at, isLittle));
    return size === 4 ? view.getUint32(at, isLittle) : view.getUint16(at, isLittle);
  };
  const directoryAt = read(layout === big ? 8 : 4, offsetBytes);
  const nextAt = directoryAt + countBytes + read(directoryAt, countBytes) * entryBytes;
  const fieldOf = (tag: number) => {
    for (let at = directoryAt + countBytes; at < Math.min(nextAt, bytes.length); at += entryBytes)
      if (read(at, 2) === tag) return read(at + 4 + offsetBytes, read(at + 2, 2) === short ? 2 : 4);
    return undefined;
  };
  refuseUnreadable(fieldOf);
  const bufferedPixels = bufferedPixelsOf(fieldOf);
  if (read(nextAt, offsetBytes) === 0) return { file: bytes, bufferedPixels };
  const file = new Uint8Array(bytes);
  file.fill(0, nextAt, nextAt + offsetBytes);
  return { file, bufferedPixels };
}

function bufferedPixelsOf(fieldOf: (tag: number) => number | undefined): number {
  const [width = 0, height = 0] = [fieldOf(widthTag), fieldOf(heightTag)];
  const [tileWidth = 0, tileHeight = 0] = [fieldOf(tileWidthTag), fieldOf(tileHeightTag)];
  if (tileWidth > 0) return (Math.ceil(width / tileWidth) + 1) * tileWidth * tileHeight;
  return width * Math.min(height, fieldOf(rowsTag) ?? height, mostStripRows);
}

/** libvips shows old-style JPEG in tiles as an empty image, and YCbCr with neither JPEG nor subsampling in wrong colors. */
function refuseUnreadable(fieldOf: (tag: number) => number | undefined): void {
  const compression = fieldOf(compressionTag);
  if (compression === oldJpeg || compression === lzma)
    throw new ImageFault('unsupported', 'The compression of this TIFF is not supported.');
  if (fieldOf(photometricTag) === yCbCr && compression !== jpeg && fieldOf(subsamplingTag) === 1)
    throw new ImageFault('unsupported', 'The colors of this TIFF are not supported.');
  if (fieldOf(planesTag) === separatePlanes && fieldOf(tileWidthTag) !== undefined)
    throw new ImageFault('unsupported', 'The separate planes of this TIFF are not supported.');
}
