import { encode as encodeBlurhash } from 'blurhash';
import type { Metadata } from 'sharp';
import { pngAnimation } from '#platform/metadata/png.ts';
import { type Opening, openImage, openRaw, readHeader, toRaw } from './decoding.ts';
import { type ImageFacts, ImageFault, type Rendition } from './engine.ts';

/** Pixels. Fixed, because the blurhash depends on it, and a larger one would block the event loop for longer. */
const thumbSide = 32;
/** The source of perceptual hashes, which depend on it. */
const renditionSide = 512;

/** The rendition reads the whole image, so it detects damage that the header does not show. */
export async function readFacts(opening: Opening, onRendition?: (rendition: Rendition) => void): Promise<ImageFacts> {
  const header = await readHeader(opening);
  const frames = countFrames(opening, header);
  const rendition = await toRaw(
    openImage(opening, header)
      .resize(renditionSide, renditionSide, { fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#ffffff' }),
  );
  onRendition?.(rendition);
  const thumb = await toRaw(
    openRaw(rendition, opening.deadline).resize(thumbSide, thumbSide, { fit: 'inside' }).ensureAlpha(),
  );
  return {
    mime: opening.mime,
    width: header.autoOrient.width,
    height: header.autoOrient.height,
    animated: frames > 1,
    blurhash: encodeBlurhash(new Uint8ClampedArray(thumb.data), thumb.width, thumb.height, ...componentsOf(thumb)),
    rendition,
  };
}

/** Throws ImageFault for a still image that browsers never show: its checks would say nothing about the animation. */
function countFrames({ mime, bytes }: Opening, { pages = 1 }: Metadata): number {
  // Pages of other formats are other images.
  if (mime === 'image/gif' || mime === 'image/webp') return pages;
  const animation =
    mime === 'image/png' ? pngAnimation(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)) : undefined;
  if (animation?.beginsWithStill === false)
    throw new ImageFault('unsupported', 'The still image of an animated PNG must be its first frame.');
  return animation?.frames ?? 1;
}

/** More along the longer side. */
const componentsOf = ({ width, height }: { readonly width: number; readonly height: number }): [number, number] =>
  height > width ? [3, 4] : [4, 3];
