import { encode as encodeBlurhash } from 'blurhash';
import { type Opening, openImage, openRaw, readHeader, toRaw } from './decoding.ts';
import type { ImageFacts } from './engine.ts';

/** Pixels. Fixed, because the blurhash depends on it, and a larger one would block the event loop for longer. */
const thumbSide = 32;
/** The source of perceptual hashes, which depend on it. */
const renditionSide = 512;

/** The rendition reads the whole image, so it detects damage that the header does not show. */
export async function readFacts(opening: Opening): Promise<ImageFacts> {
  const header = await readHeader(opening);
  const rendition = await toRaw(
    openImage(opening, header)
      .resize(renditionSide, renditionSide, { fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#ffffff' }),
  );
  const thumb = await toRaw(
    openRaw(rendition, opening.deadline).resize(thumbSide, thumbSide, { fit: 'inside' }).ensureAlpha(),
  );
  return {
    mime: opening.mime,
    width: header.autoOrient.width,
    height: header.autoOrient.height,
    blurhash: encodeBlurhash(new Uint8ClampedArray(thumb.data), thumb.width, thumb.height, ...componentsOf(thumb)),
    rendition,
  };
}

/** More along the longer side. */
const componentsOf = ({ width, height }: { readonly width: number; readonly height: number }): [number, number] =>
  height > width ? [3, 4] : [4, 3];
