import { encode as encodeBlurhash } from 'blurhash';
import { type Opening, openPicture, readHeader, toRaw } from './decoding.ts';
import type { ImageFacts } from './engine.ts';

/** Pixels. Pinned: the blurhash depends on it, and a larger one would block the event loop for longer. */
const thumbSide = 32;

/** The thumb reads the whole picture, so damage that the header does not show is found out. */
export async function readFacts(opening: Opening): Promise<ImageFacts> {
  const header = await readHeader(opening);
  const thumb = await toRaw(
    openPicture(opening, header)
      .resize(thumbSide, thumbSide, { fit: 'inside' })
      .flatten({ background: '#ffffff' })
      .ensureAlpha(),
  );
  return {
    mime: opening.mime,
    width: header.autoOrient.width,
    height: header.autoOrient.height,
    blurhash: encodeBlurhash(new Uint8ClampedArray(thumb.data), thumb.width, thumb.height, 4, 3),
  };
}
