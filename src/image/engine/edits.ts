/**
 * What a variant can have beyond a variant spec: imgproxy's further options (docs/specification/image.md#options), with
 * every default applied. Edits with the same meaning are equal.
 */
/** Edges and corners by their points of the compass, `ce` for the center. */
export const compassPoints = ['ce', 'no', 'so', 'ea', 'we', 'noea', 'nowe', 'soea', 'sowe'] as const;
export type CompassPoint = (typeof compassPoints)[number];

/**
 * Where a part is cut out or placed. `x` and `y` move it away from its edge: below 1 in shares of the image, otherwise
 * in pixels. `fp`: `x` and `y` are the shares of the image at which its center is. `sm`: the most interesting part.
 */
export interface Gravity {
  readonly type: CompassPoint | 'fp' | 'sm';
  readonly x: number;
  readonly y: number;
}

export interface Crop {
  /** Below 1: shares of the image; 0: all of it. */
  readonly width: number;
  readonly height: number;
  readonly gravity: Gravity;
}

export interface Trim {
  readonly threshold: number;
  /** `#rrggbb`. `undefined`: the color of the upper left corner. */
  readonly color: string | undefined;
  /** Whether as much is removed on the left as on the right. */
  readonly isEqualX: boolean;
  readonly isEqualY: boolean;
}

export interface Watermark {
  /** 0–1. */
  readonly opacity: number;
  /** `re`: repeated over the whole image. */
  readonly position: CompassPoint | 're';
  readonly x: number;
  readonly y: number;
  /** In sizes of the image. 0: as on downloads. */
  readonly scale: number;
}

export interface Padding {
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly left: number;
}

export interface Edits {
  /** Whether the EXIF orientation is applied. */
  readonly autoRotate: boolean;
  /** Degrees, clockwise. */
  readonly rotate: 0 | 90 | 180 | 270;
  readonly flipX: boolean;
  readonly flipY: boolean;
  readonly trim: Trim | undefined;
  readonly crop: Crop | undefined;
  /** Whether the image gets the requested size in other proportions. */
  readonly force: boolean;
  readonly dpr: number;
  readonly gravity: Gravity;
  /** Sigma; 0: none. */
  readonly sharpen: number;
  readonly extend: Gravity | undefined;
  readonly padding: Padding | undefined;
  /** `#rrggbb`. */
  readonly background: string | undefined;
  readonly watermark: Watermark | undefined;
}

export const center: Gravity = { type: 'ce', x: 0, y: 0 };

export const noEdits: Edits = {
  autoRotate: true,
  rotate: 0,
  flipX: false,
  flipY: false,
  trim: undefined,
  crop: undefined,
  force: false,
  dpr: 1,
  gravity: center,
  sharpen: 0,
  extend: undefined,
  padding: undefined,
  background: undefined,
  watermark: undefined,
};

/** Equal for equal edits, without spaces. */
export function describeEdits(edits: Edits): string {
  return JSON.stringify(
    Object.entries({ ...noEdits, ...edits }).map(([name, value]) => [name, value === undefined ? null : value]),
  );
}
