/**
 * Copies the first page of a TIFF to a file of one page, because libtiff reads the whole chain, which takes minutes for
 * a million pages.
 */

interface Layout {
  readonly countBytes: 2 | 8;
  readonly entryBytes: 12 | 20;
  readonly offsetBytes: 4 | 8;
}

const classic: Layout = { countBytes: 2, entryBytes: 12, offsetBytes: 4 };
const big: Layout = { countBytes: 8, entryBytes: 20, offsetBytes: 8 };

/** Returns the same bytes if there is only one page, or if the file is damaged. */
export function firstPageOf(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 16) return bytes;
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
  if (read(nextAt, offsetBytes) === 0) return bytes;
  const page = new Uint8Array(bytes);
  page.fill(0, nextAt, nextAt + offsetBytes);
  return page;
}
