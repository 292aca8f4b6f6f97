/** The operator's brand, as watermarks, closing clips and file names show it (BRAND_*; docs/specification/media.md#brand). */
import { createHash } from 'node:crypto';
import type { CompassPoint } from './edits.ts';
import type { Size } from './geometry.ts';

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

/** The picture of a brand (brandmark.ts). */
export interface DrawnBrand extends Size {
  /** The height of the letters in heights of the picture. `undefined`: it has no letters. */
  readonly letterShare: number | undefined;
}

/** Pixels. Smaller letters are illegible. */
const smallestLetter = 10;
/** The limit of a watermark in an image, in its sides. */
const largestShare = 0.9;
/** The space between a watermark and the edges, in short sides of the image. */
const marginShare = 0.02;

/** The size and the margin that an image needs. */
export function layOut(image: Size, mark: DrawnBrand, { scale }: Brand): Size & { readonly margin: number } {
  const proportion = mark.height / mark.width;
  const legible = mark.letterShare === undefined ? 0 : smallestLetter / mark.letterShare;
  const most = largestShare * Math.min(image.height, image.width * proportion);
  const height = Math.min(Math.max(scale * image.width * proportion, legible), most);
  const [width, rows] = [height / proportion, height].map((side) => Math.max(1, Math.round(side))) as [number, number];
  const free = Math.min(image.width - width, image.height - rows);
  const margin = Math.max(0, Math.min(Math.round(marginShare * Math.min(image.width, image.height)), free));
  return { width, height: rows, margin };
}
