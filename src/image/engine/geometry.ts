/** Computes the size of a result before any pixel is processed (docs/specification/image.md#variant-spec). */

import type { CompassPoint, Gravity } from './edits.ts';
import { EnlargementFault, ImageFault, type Transform } from './engine.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The pixel limit of an enlarged image, unless its source has more. */
const largestEnlargement = 2048 * 2048;
/** Of a watermarked image. The encoder holds 12 bytes for each pixel of an image whose codes it optimizes, and only some lines of others. */
export const mostOptimizedPixels = 12_000_000;
/** Of an image that is made smaller for its budget anyway, because the encoder holds up to 14.5 bytes for each. */
const mostShrunkPixels = 24_000_000;
/** The largest side in pixels that an encoder accepts. */
export const longestSide = { webp: 16_383, jpeg: 65_500, png: Number.POSITIVE_INFINITY } as const;

/**
 * Returns the size of the result. `fill` crops to it; the other types retain the source's proportions. `upright`: the
 * source after its orientation is applied. A result longer than its format allows is made smaller. Throws
 * EnlargementFault, and ImageFault for a result with more pixels than a source may have, because it would need as
 * much memory.
 */
export function planSize(transform: Transform, upright: Size, maxPixels: number): Size {
  const requested = isFill(transform) ? fillSize(transform, upright) : fitSize(transform, upright);
  const { width, height } = requested;
  const mostPixels = transform.shrinks === true ? mostShrunkPixels : width * height;
  const size = scale(
    requested,
    Math.min(1, longestSide[transform.format] / Math.max(width, height), Math.sqrt(mostPixels / (width * height))),
  );
  assertSize(size, transform.format, upright, maxPixels);
  return size;
}

/** Throws EnlargementFault and ImageFault. */
export function assertSize(
  { width, height }: Size,
  format: Transform['format'],
  source: Size,
  maxPixels: number,
): void {
  const pixels = width * height;
  if (pixels > Math.max(largestEnlargement, source.width * source.height)) {
    throw new EnlargementFault(
      `must not make ${width} × ${height} pixels of ${source.width} × ${source.height}: at most ${largestEnlargement}`,
    );
  }
  if (Math.max(width, height) > longestSide[format])
    throw new EnlargementFault(`must not make ${width} × ${height} pixels: at most ${longestSide[format]} on a side`);
  if (pixels > maxPixels) {
    throw new ImageFault('too_large', 'The enlarged image would have too many pixels.');
  }
}

/** An unrestricted side leaves no box to cover, so `fill` is `fit`. */
export function isFill({ resizingType, width, height }: Transform): boolean {
  return resizingType === 'fill' && width > 0 && height > 0;
}

/** Returns the box. Without `enlarge`, the largest box of its proportions that a smaller source can cover. */
function fillSize({ width, height, enlarge }: Transform, upright: Size): Size {
  return scale({ width, height }, enlarge ? 1 : Math.min(1, upright.width / width, upright.height / height));
}

/** Returns the largest size with the source's proportions inside the box. A side of 0 is unrestricted. */
function fitSize({ width, height, enlarge }: Transform, upright: Size): Size {
  const largest = width === 0 && height === 0 ? 1 : enlarge ? Number.POSITIVE_INFINITY : 1;
  const byWidth = width === 0 ? largest : width / upright.width;
  const byHeight = height === 0 ? largest : height / upright.height;
  return scale(upright, Math.min(largest, byWidth, byHeight));
}

function scale({ width, height }: Size, factor: number): Size {
  return { width: Math.max(1, Math.round(width * factor)), height: Math.max(1, Math.round(height * factor)) };
}

// Computes where a smaller image is inside of a larger one, as imgproxy does.

export interface Point {
  readonly left: number;
  readonly top: number;
}

export type Area = Point & Size;

/** `dpr` multiplies offsets in pixels. `overflows`: the inner image may extend beyond the outer one. */
export function placeInside(
  outer: Size,
  inner: Size,
  { type, x, y }: Gravity,
  { dpr = 1, overflows = false }: { readonly dpr?: number; readonly overflows?: boolean } = {},
): Point {
  if (type === 'fp') {
    return clampPoint(outer, inner, overflows, {
      left: Math.round(outer.width * x) - Math.floor(inner.width / 2),
      top: Math.round(outer.height * y) - Math.floor(inner.height / 2),
    });
  }
  const offsetX = offsetOf(x, outer.width, dpr);
  const offsetY = offsetOf(y, outer.height, dpr);
  const [freeX, freeY] = [outer.width - inner.width, outer.height - inner.height];
  const left = /we$/.test(type) ? offsetX : /ea$/.test(type) ? freeX - offsetX : Math.round(freeX / 2) + offsetX;
  const top = /^no/.test(type) ? offsetY : /^so/.test(type) ? freeY - offsetY : Math.round(freeY / 2) + offsetY;
  return clampPoint(outer, inner, overflows, { left, top });
}

/** At an edge or corner, `margin` pixels away from each edge that it names. */
export function offsetBy(type: CompassPoint, margin: number): Gravity {
  return { type, x: /(ea|we)$/.test(type) ? margin : 0, y: /^(no|so)/.test(type) ? margin : 0 };
}

/** Offsets below 1 are shares. */
function offsetOf(value: number, side: number, dpr: number): number {
  return Math.round(Math.abs(value) >= 1 ? value * dpr : value * side);
}

function clampPoint(outer: Size, inner: Size, overflows: boolean, { left, top }: Point): Point {
  return {
    left: clamp(left, overflows ? 1 - inner.width : 0, overflows ? outer.width - 1 : outer.width - inner.width),
    top: clamp(top, overflows ? 1 - inner.height : 0, overflows ? outer.height - 1 : outer.height - inner.height),
  };
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}
