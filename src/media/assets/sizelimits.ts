/** The size limits of assets, by the class of their mime (docs/specification/media.md#uploads). */

export interface SizeLimits {
  readonly maxImageBytes: number;
  /** For videos and all other files that are not images. */
  readonly maxVideoBytes: number;
  /** For all assets and unregistered uploads of one owner; 0: no limit. */
  readonly maxOwnerBytes: number;
  /** Seconds after which an upload that received nothing and was not registered is removed. */
  readonly uploadTtlS: number;
}

export function isImage(mime: string): boolean {
  return mime.startsWith('image/');
}

export function maxBytesOf(mime: string, limits: SizeLimits): number {
  return isImage(mime) ? limits.maxImageBytes : limits.maxVideoBytes;
}
