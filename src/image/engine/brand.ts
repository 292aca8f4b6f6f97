/** The operator's brand, as watermarks, closing clips and file names show it (BRAND_*; docs/specification/media.md#brand). */
import { createHash } from 'node:crypto';
import type { CompassPoint } from './edits.ts';

/** By the names of BRAND_WATERMARK_POSITION. */
export const brandPositions = {
  northwest: 'nowe',
  north: 'no',
  northeast: 'noea',
  west: 'we',
  center: 'ce',
  east: 'ea',
  southwest: 'sowe',
  south: 'so',
  southeast: 'soea',
} as const satisfies Readonly<Record<string, CompassPoint>>;

export interface Brand {
  readonly name: string;
  /** A PNG or SVG, shown instead of the name. */
  readonly picture: Uint8Array | undefined;
  readonly position: CompassPoint;
  /** 0–1. */
  readonly opacity: number;
  /** The width of the watermark, in widths of the image. */
  readonly scale: number;
  readonly closing: ClosingClip;
}

/** `auto`: the watermark on a plain ground. */
export type ClosingClip = 'auto' | 'none' | { readonly path: string; readonly sha256: string };

export const defaultBrand: Brand = {
  name: 'Atelier',
  picture: undefined,
  position: brandPositions.southeast,
  opacity: 0.5,
  scale: 0.2,
  closing: 'auto',
};

/** Part of the keys of what shows the brand: another brand has other files. Empty for the default brand. */
export function brandIdOf(brand: Brand): string {
  const id = digestOf(brand);
  return id === defaultId ? '' : id;
}

function digestOf({ name, picture, position, opacity, scale, closing }: Brand): string {
  const seen = picture === undefined ? name : createHash('sha256').update(picture).digest('hex');
  const clip = typeof closing === 'string' ? closing : closing.sha256;
  const facts = [picture === undefined, seen, position, opacity, scale, clip];
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 12);
}

const defaultId = digestOf(defaultBrand);
