/** Pixels of the largest image that a property of a HEIC or HEIF describes, or `maxPixels`. */
export function claimedPixels(bytes: Uint8Array, maxPixels: number): number {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let largest = 0;
  for (let at = file.indexOf('ispe'); at !== -1 && at + 16 <= file.length; at = file.indexOf('ispe', at + 4))
    largest = Math.max(largest, file.readUInt32BE(at + 8) * file.readUInt32BE(at + 12));
  return largest === 0 ? maxPixels : Math.min(maxPixels, largest);
}
