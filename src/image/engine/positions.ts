/** Computes where a smaller image is inside of a larger one, as imgproxy does. */
import type { CompassPoint, Gravity } from './edits.ts';
import type { Size } from './geometry.ts';

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
