/** JPEG files that lack only their end marker, as some cameras, scanners and messengers write them. */

const endMarker = Uint8Array.of(0xff, 0xd9);

/** Whether libvips failed because a JPEG ends early. */
export function lacksEnd(error: unknown): boolean {
  return error instanceof Error && error.message.includes('premature end of JPEG');
}

/**
 * Returns the bytes with an end marker in place of zeros or nothing. If scan lines are missing too, the library warns when
 * it meets the marker (`assertWhole`).
 */
export function withEndMarker(bytes: Uint8Array): Uint8Array {
  let length = bytes.length;
  // A zero after 0xff belongs to the image.
  while (length > 1 && bytes[length - 1] === 0 && bytes[length - 2] !== 0xff) length -= 1;
  if (length === bytes.length && bytes[length - 1] === 0xff) length -= 1;
  const whole = new Uint8Array(length + endMarker.length);
  whole.set(bytes.subarray(0, length));
  whole.set(endMarker, length);
  return whole;
}
