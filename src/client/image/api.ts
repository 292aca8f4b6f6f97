/** The vocabulary of the image service. Generated from its OpenAPI document by `npm run generate`. */

export interface EnsureRequest {
  readonly source: ImageSource;
  readonly specs: readonly VariantSpec[];
}

export interface EnsuredVariants {
  readonly variants: Readonly<Record<string, string>>;
  readonly overBudget?: readonly string[];
}

export interface ForgetRequest {
  readonly source: ImageSource;
}

export interface ForgottenVariants {
  readonly forgotten: number;
}

export interface ImageSource {
  readonly key?: string | null;
  readonly url?: string | null;
}

export interface VariantSpec {
  readonly name: string;
  readonly width?: number | null;
  readonly height?: number | null;
  readonly quality?: number | null;
  readonly format?: 'webp' | 'jpeg' | 'jpg' | 'png' | 'avif' | null;
  readonly resizingType?: 'fit' | 'fill' | 'auto' | null;
  readonly enlarge?: boolean | null;
  readonly blur?: number | null;
  readonly maxBytes?: number | null;
  readonly resampling?: 'lanczos3' | 'lanczos2' | 'cubic' | 'linear' | 'nearest' | null;
}
