/** The orientation in EXIF data, which is a TIFF file. */

const orientationTag = 0x0112;
const identifier = Buffer.from('Exif\0\0', 'latin1');

/** Returns 1 to 8; 1 also if the data has none or is damaged. */
export function orientationOf(exif: Uint8Array): number {
  const data = Buffer.from(exif.buffer, exif.byteOffset, exif.byteLength);
  const tiff = data.subarray(0, identifier.length).equals(identifier) ? data.subarray(identifier.length) : data;
  if (tiff.length < 8) return 1;
  const order = tiff.toString('latin1', 0, 2);
  if (order !== 'II' && order !== 'MM') return 1;
  const isLittle = order === 'II';
  const short = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at));
  const start = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4);
  if (start + 2 > tiff.length) return 1;
  for (let index = 0, count = short(start); index < count; index++) {
    const at = start + 2 + index * 12;
    if (at + 12 > tiff.length) return 1;
    if (short(at) !== orientationTag) continue;
    const value = short(at + 8);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

/** Returns EXIF data with the orientation alone, without an identifier. */
export function exifWithOrientation(orientation: number): Uint8Array {
  const tiff = Buffer.alloc(26);
  tiff.write('MM\0*', 'latin1');
  tiff.writeUInt32BE(8, 4);
  tiff.writeUInt16BE(1, 8);
  tiff.writeUInt16BE(orientationTag, 10);
  tiff.writeUInt16BE(3, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(orientation, 18);
  return tiff;
}
