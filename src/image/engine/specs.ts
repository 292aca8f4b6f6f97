/** The options of a variant in requests, and the transform that they mean (docs/specification/image.md#variant-spec). */
import { center, describeEdits, type Edits, noEdits } from './edits.ts';
import type { Transform } from './engine.ts';
import { isFill } from './geometry.ts';

export const formats = ['webp', 'jpeg', 'jpg', 'png', 'avif'] as const;
export const resizingTypes = ['fit', 'fill', 'auto'] as const;
export const resamplings = ['lanczos3', 'lanczos2', 'cubic', 'linear', 'nearest'] as const;

/** Pixels. */
export const longestRequestedSide = 16_383;
export const strongestBlur = 100;

type Options = Omit<Transform, 'format' | 'shrinks' | 'edits'>;
/** All options are optional. `null` means absent. */
export type VariantSpec = { readonly [Name in keyof Options]?: Options[Name] | null } & {
  readonly format?: (typeof formats)[number] | null;
};

const producedAs = { webp: 'webp', avif: 'webp', jpeg: 'jpeg', jpg: 'jpeg', png: 'png' } as const;
const defaultQuality = { webp: 75, jpeg: 80 } as const;
/** The weakest blur that the library supports. */
const weakestBlur = 0.3;

/** Specs with the same meaning become equal transforms, and so one variant. */
export function toTransform(spec: VariantSpec): Transform {
  const format = producedAs[spec.format ?? 'webp'];
  return {
    width: spec.width ?? 0,
    height: spec.height ?? 0,
    quality: format === 'png' ? 0 : (spec.quality ?? defaultQuality[format]),
    format,
    resizingType: spec.resizingType ?? 'fit',
    enlarge: spec.enlarge ?? false,
    blur: spec.blur ? Math.max(weakestBlur, spec.blur) : 0,
    maxBytes: spec.maxBytes ?? 0,
    resampling: spec.resampling ?? 'lanczos3',
  };
}

/** The variants that the product itself signs for each image. */
export const thumbnail = { width: 400, height: 400, quality: 80 } as const;
export const preview = { width: 1024, height: 1024, quality: 85 } as const;
const ownTransforms: ReadonlySet<string> = new Set(
  [thumbnail, preview].map((spec) => JSON.stringify(toTransform(spec))),
);

export const isOwnTransform = (transform: Transform) => ownTransforms.has(JSON.stringify(transform));

/** The same transform with edits, or without them if they change nothing. */
export function withEdits(transform: Transform, requested: Partial<Edits>): Transform {
  const edits = { ...noEdits, ...requested };
  // Gravity has a meaning only if a part is cut off.
  const meant = { ...edits, gravity: isFill(transform) ? edits.gravity : center };
  return describeEdits(meant) === describeEdits(noEdits) ? transform : { ...transform, edits: meant };
}
