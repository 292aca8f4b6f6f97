/** Puts the brand's watermark on a variant, where the request wants it. */
import type { Sharp } from 'sharp';
import { type Brand, layOut } from './brand.ts';
import { type Brandmark, brandmarkOf, fade } from './brandmark.ts';
import type { Deadline } from './deadline.ts';
import { openRaw, type RawImage, toRaw } from './decoding.ts';
import type { Watermark } from './edits.ts';
import type { Size } from './geometry.ts';
import { type Area, placeInside } from './positions.ts';

export async function stampWatermark(
  image: Sharp,
  size: Size,
  watermark: Watermark,
  dpr: number,
  { brand, deadline }: { readonly brand: Brand; readonly deadline: Deadline },
): Promise<Sharp> {
  const brandmark = await brandmarkOf(brand);
  const wanted = sizeOf(watermark, size, brandmark, brand);
  const mark = await toRaw(openRaw(fade(brandmark, watermark.opacity), deadline).resize({ ...wanted, fit: 'fill' }));
  if (watermark.position === 're') return repeat(image, size, mark, watermark, deadline);
  const at = placeInside(
    size,
    mark,
    { type: watermark.position, x: watermark.x, y: watermark.y },
    { dpr, overflows: true },
  );
  const seen = visiblePart({ ...at, width: mark.width, height: mark.height }, size);
  const part = await toRaw(
    openRaw(mark, deadline).extract({ ...seen, left: seen.left - at.left, top: seen.top - at.top }),
  );
  return image.composite([{ ...overlayOf(part), left: seen.left, top: seen.top }]);
}

/** In the proportions of the mark: inside of a share of the image, or as on downloads. */
function sizeOf({ scale }: Watermark, image: Size, brandmark: Brandmark, brand: Brand): Size {
  const { width, height } = brandmark;
  if (scale === 0) {
    const { margin: _margin, ...size } = layOut(image, brandmark, brand);
    return size;
  }
  const factor = Math.min((image.width * scale) / width, (image.height * scale) / height);
  return { width: Math.max(1, Math.round(width * factor)), height: Math.max(1, Math.round(height * factor)) };
}

/** `x` and `y` are the space between two marks. */
async function repeat(
  image: Sharp,
  size: Size,
  mark: RawImage,
  { x, y }: Watermark,
  deadline: Deadline,
): Promise<Sharp> {
  const right = Math.round(Math.abs(x) >= 1 ? Math.abs(x) : Math.abs(x) * size.width);
  const bottom = Math.round(Math.abs(y) >= 1 ? Math.abs(y) : Math.abs(y) * size.height);
  const [width, height] = [Math.min(mark.width + right, size.width), Math.min(mark.height + bottom, size.height)];
  const spaced = openRaw(mark, deadline).extend({
    right: Math.max(0, width - mark.width),
    bottom: Math.max(0, height - mark.height),
    background: { r: 0, g: 0, b: 0, alpha: 0 },
  });
  const whole = await toRaw(spaced);
  const tile = await toRaw(openRaw(whole, deadline).extract({ left: 0, top: 0, width, height }));
  return image.composite([{ ...overlayOf(tile), tile: true }]);
}

function visiblePart({ left, top, width, height }: Area, image: Size): Area {
  const [from, above] = [Math.max(0, left), Math.max(0, top)];
  return {
    left: from,
    top: above,
    width: Math.min(left + width, image.width) - from,
    height: Math.min(top + height, image.height) - above,
  };
}

function overlayOf({ data, width, height, channels }: RawImage) {
  return { input: Buffer.from(data), raw: { width, height, channels } };
}
