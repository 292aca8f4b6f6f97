/** Who makes images and videos: a provider, or the offline renderer (src/local/renderer). */
import { z } from 'zod';

export const ratio = z.enum(['1:1', '4:3', '3:4', '16:9', '9:16']);
export type Ratio = z.output<typeof ratio>;

export interface Image {
  readonly bytes: Uint8Array;
  readonly mime: string;
}

/** An image or clip that a generator has made. */
export interface Generated {
  /** The name of the model, if it is known. */
  readonly model?: string | undefined;
}

export interface ImageGenerator {
  generate(order: {
    readonly prompt: string;
    readonly ratio: Ratio;
    readonly signal: AbortSignal;
  }): Promise<Image & Generated>;
  edit(order: ImageEdit): Promise<Image & Generated>;
}

export interface ImageEdit {
  readonly prompt: string;
  readonly source: Image;
  /** A PNG of the source's size. Its transparent pixels are the part to change. Without it, all of the source. */
  readonly mask?: Image | undefined;
  /** Default: the source's. Providers without ratios for edits ignore it. */
  readonly ratio?: Ratio | undefined;
  readonly signal: AbortSignal;
}

export interface Clip extends Generated {
  readonly bytes: Uint8Array;
  readonly mime: string;
  readonly facts?: { readonly width: number; readonly height: number; readonly durationMs: number };
  /** A frame of it. */
  readonly poster?: Image;
}

export interface VideoOrder {
  readonly prompt: string;
  readonly ratio: Ratio;
  /** Reported by an earlier attempt. The call waits for this order instead of placing another one. */
  readonly providerId: string | null;
  readonly onOrdered: (providerId: string) => Promise<void>;
  readonly signal: AbortSignal;
}

export interface VideoGenerator {
  make(order: VideoOrder): Promise<Clip>;
  /** The offline model's script: the first try of such a video cannot be paid for. */
  rehearseUnpayable?(prompt: string): boolean;
}

/** The provider refuses to generate this, for a reason that users may see. The provider is healthy. */
export class OrderRefused extends Error {}

/** The provider does not do its work; the sentence may be shown. */
export class ProviderFailed extends Error {
  /** Of the provider's response, if that is the failure. */
  readonly status: number | undefined;

  constructor(message: string, { status, ...options }: ErrorOptions & { readonly status?: number } = {}) {
    super(message, options);
    this.status = status;
  }
}
