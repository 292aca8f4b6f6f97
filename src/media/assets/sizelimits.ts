/** How large an asset may be, by the class of its mime (docs/specification/media.md#uploads). */

export interface SizeLimits {
  readonly maxImageBytes: number;
  /** Of videos, and of everything else that is no image. */
  readonly maxVideoBytes: number;
  /** Of all assets of one owner; 0: no limit. */
  readonly maxOwnerBytes: number;
}

export function isImage(mime: string): boolean {
  return mime.startsWith('image/');
}

export function maxBytesOf(mime: string, limits: SizeLimits): number {
  return isImage(mime) ? limits.maxImageBytes : limits.maxVideoBytes;
}
