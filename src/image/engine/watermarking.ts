/** Adds the brand's watermark to an image, for downloads (docs/specification/media.md#watermarks). */
import { withMark } from '#platform/metadata/metadata.ts';
import { layOut } from './brand.ts';
import { brandmarkOf, fade } from './brandmark.ts';
import { type Opening, openImage, openRaw, readHeader, toRaw } from './decoding.ts';
import type { Transform } from './engine.ts';
import { mostOptimizedPixels, planSize } from './geometry.ts';
import { offsetBy, placeInside } from './positions.ts';

/** The image's own size, unless it is longer than a JPEG can be. */
const download: Transform = {
  width: 0,
  height: 0,
  quality: 90,
  format: 'jpeg',
  resizingType: 'fit',
  enlarge: false,
  blur: 0,
  maxBytes: 0,
  resampling: 'lanczos3',
};

/** Returns a JPEG: upright, sRGB, transparency on white, no metadata, only the first frame of an animation. */
export async function drawWatermark(opening: Opening): Promise<Uint8Array> {
  const header = await readHeader(opening);
  const size = planSize(download, header.autoOrient, opening.limits.maxSourcePixels);
  const image = openImage(opening, header).flatten({ background: '#ffffff' });
  if (size.width !== header.autoOrient.width) image.resize({ ...size, fit: 'fill' });
  const { brand, deadline } = opening;
  const brandmark = await brandmarkOf(brand);
  const { margin, ...wanted } = layOut(size, brandmark, brand);
  const { data, width, height, channels } = await toRaw(
    openRaw(fade(brandmark, brand.opacity), deadline).resize({ ...wanted, fit: 'fill' }),
  );
  // An overlay larger than the image would be an error, so this one leaves room on each side.
  const place = placeInside(size, wanted, offsetBy(brand.position, margin));
  image.composite([{ input: Buffer.from(data), raw: { width, height, channels }, ...place }]);
  const optimiseCoding = size.width * size.height <= mostOptimizedPixels;
  // Half the color resolution would smear colored lettering.
  const jpeg = image.jpeg({ quality: download.quality, chromaSubsampling: '4:4:4', optimiseCoding });
  const made = await jpeg.toBuffer();
  return opening.mark === undefined ? made : withMark(made, opening.mark);
}
