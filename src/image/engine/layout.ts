/** Computes the sizes of an edited variant before any pixel is processed, as imgproxy does (docs/specification/image.md#options). */
import type { Edits, Padding } from './edits.ts';
import { EnlargementFault, type Transform } from './engine.ts';
import { assertSize, longestSide, type Point, placeInside, type Size } from './geometry.ts';

export interface Layout {
  /** The part of the source that is used. */
  readonly crop: Size;
  /** The size to which that part is scaled. */
  readonly scaled: Size;
  /** The part of it that remains. */
  readonly cut: Size;
  /** The whole result, with its borders. */
  readonly canvas: Size;
  /** Where the image is on it. */
  readonly offset: Point;
  /** What multiplies offsets in pixels. It can be less than requested, because it does not enlarge. */
  readonly dpr: number;
}

/**
 * `upright`: the source after its rotation and trimming. Throws EnlargementFault and ImageFault, as `planSize` does,
 * for the result with its borders.
 */
export function planLayout(transform: Transform, edits: Edits, upright: Size, maxPixels: number): Layout {
  const crop = cropSize(edits, upright);
  const { dpr, ...scaled } = scaledSize(transform, edits, crop);
  // Before a part is cut off.
  if (scaled.width * scaled.height > maxPixels)
    throw new EnlargementFault(`must not scale to ${scaled.width} × ${scaled.height} pixels: at most ${maxPixels}`);
  const target = {
    width: Math.round(transform.width * dpr),
    height: Math.round(transform.height * dpr),
  };
  const cut = cutSize(transform, scaled, target);
  const { canvas, offset } = planBorders(edits, cut, target, dpr);
  assertSize(canvas, transform.format, upright, maxPixels);
  return { crop, scaled, cut, canvas, offset, dpr };
}

/** Values below 1 are shares, 0 is the whole side. */
function cropSize({ crop }: Edits, { width, height }: Size): Size {
  const sideOf = (wanted: number, side: number) =>
    wanted === 0 ? side : Math.max(1, Math.min(side, Math.round(wanted >= 1 ? wanted : wanted * side)));
  return crop === undefined
    ? { width, height }
    : { width: sideOf(crop.width, width), height: sideOf(crop.height, height) };
}

/** The divisors of the two sides. Without `enlarge`, dpr does not make the image larger than it is. */
function scaledSize(transform: Transform, edits: Edits, source: Size): Size & { readonly dpr: number } {
  let { x, y } = shrinksOf(transform, edits, source);
  let { dpr } = edits;
  if (!transform.enlarge) {
    const least = Math.min(x, y);
    if (least < 1) [x, y] = [x / least, y / least];
    dpr = Math.min(dpr, x, y);
  }
  const [width, height] = [(source.width * dpr) / x, (source.height * dpr) / y];
  const fits = Math.min(1, longestSide[transform.format] / Math.max(width, height));
  return { width: sideOf(width * fits), height: sideOf(height * fits), dpr };
}

function shrinksOf({ width, height, resizingType }: Transform, { force }: Edits, source: Size) {
  const x = width === 0 ? 1 : source.width / width;
  const y = height === 0 ? 1 : source.height / height;
  if (force || (width === 0 && height === 0)) return { x, y };
  if (width === 0) return { x: y, y };
  if (height === 0) return { x, y: x };
  const both = resizingType === 'fill' ? Math.min(x, y) : Math.max(x, y);
  return { x: both, y: both };
}

/** An image that is smaller than its target is cut to the target's proportions by `fill`. */
function cutSize({ resizingType, enlarge }: Transform, scaled: Size, target: Size): Size {
  const whole = {
    width: Math.min(target.width || scaled.width, scaled.width),
    height: Math.min(target.height || scaled.height, scaled.height),
  };
  if (resizingType !== 'fill' || enlarge || target.width === 0 || target.height === 0) return whole;
  const [byWidth, byHeight] = [target.width / scaled.width, target.height / scaled.height];
  if (Math.max(byWidth, byHeight) <= 1) return whole;
  return byWidth > byHeight
    ? { width: scaled.width, height: sideOf((scaled.width * target.height) / target.width) }
    : { width: sideOf((scaled.height * target.width) / target.height), height: scaled.height };
}

/** First `extend`, then the padding. */
function planBorders(edits: Edits, image: Size, target: Size, dpr: number) {
  let canvas = image;
  let offset: Point = { left: 0, top: 0 };
  const growTo = (size: Size, { left, top }: Point) => {
    canvas = size;
    offset = { left: offset.left + left, top: offset.top + top };
  };
  if (edits.extend !== undefined) {
    const size = { width: Math.max(canvas.width, target.width), height: Math.max(canvas.height, target.height) };
    growTo(size, placeInside(size, canvas, edits.extend, { dpr }));
  }
  const { top, right, bottom, left } = scalePadding(edits.padding, dpr);
  growTo({ width: left + canvas.width + right, height: top + canvas.height + bottom }, { left, top });
  return { canvas, offset };
}

function scalePadding(padding: Padding = { top: 0, right: 0, bottom: 0, left: 0 }, dpr: number): Padding {
  return {
    top: Math.round(padding.top * dpr),
    right: Math.round(padding.right * dpr),
    bottom: Math.round(padding.bottom * dpr),
    left: Math.round(padding.left * dpr),
  };
}

const sideOf = (side: number) => Math.max(1, Math.round(side));
