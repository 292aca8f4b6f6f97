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

/** What a model accepts beyond the prompt, by its provider's interface. */
export interface Takes {
  readonly seed: boolean;
  readonly quality: boolean;
  readonly mask: boolean;
  readonly firstFrame: boolean;
  /** For images: of an edit. */
  readonly maxReferences: number;
}

export const takesAll: Takes = { seed: true, quality: true, mask: true, firstFrame: true, maxReferences: 16 };

/** What a user can ask of a model beyond the prompt. */
export interface ImageOptions {
  readonly seed?: number | undefined;
  readonly quality?: string | undefined;
}

export interface ImageGenerator {
  /** Default: everything. */
  readonly takes?: Takes;
  generate(
    order: ImageOptions & { readonly prompt: string; readonly ratio: Ratio; readonly signal: AbortSignal },
  ): Promise<Image & Generated>;
  edit(order: ImageEdit): Promise<Image & Generated>;
}

export interface ImageEdit extends ImageOptions {
  readonly prompt: string;
  /** At least one. The first one is edited; the others are references. */
  readonly sources: readonly Image[];
  /** A PNG of the first source's size. Its transparent pixels are the part to change. Without it, all of the source. */
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
  /** Seconds. */
  readonly duration?: number | undefined;
  readonly seed?: number | undefined;
  readonly firstFrame?: Image | undefined;
  readonly references?: readonly Image[] | undefined;
  /** Aborted if the video is canceled. A provider that can be polled ignores it: only a response names the order to cancel there. */
  readonly signal: AbortSignal;
}

/** `providerId`: what the provider calls the order. A provider that cannot be polled returns the clip itself. */
export type OrderedVideo = { readonly providerId: string } | { readonly clip: Clip };

/** Each call rejects with OrderRefused if the order is at fault, and with ProviderFailed for any other failure of the provider. */
export interface VideoGenerator {
  /** Default: everything. */
  readonly takes?: Takes;
  readonly pollEveryMs: number;
  /** The size that the provider demands of a first frame. By default, none. */
  readonly frameSizeOf?: (ratio: Ratio) => { readonly width: number; readonly height: number };
  /** Not idempotent: a second call is a second order. */
  order(order: VideoOrder): Promise<OrderedVideo>;
  isMade(providerId: string, signal: AbortSignal): Promise<boolean>;
  /** Of a video that is made. */
  download(order: VideoOrder & { readonly providerId: string }): Promise<Clip>;
  /** Cancels an order. One that has ended or is unknown is left as it is. Without it, the provider cannot cancel. */
  cancel?(providerId: string, signal: AbortSignal): Promise<void>;
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
