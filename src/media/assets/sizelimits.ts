/** The size limits of assets, by the class of their mime (docs/specification/media.md#uploads). */

import type { MediaSettings } from '../config.ts';

export function isImage(mime: string): boolean {
  return mime.startsWith('image/');
}

export function maxBytesOf(mime: string, limits: Pick<MediaSettings, 'maxImageBytes' | 'maxVideoBytes'>): number {
  // The limit of videos is that of all other files, too.
  return isImage(mime) ? limits.maxImageBytes : limits.maxVideoBytes;
}
