/** Requests to the screening thread and its replies. */
import type { Raster } from '#image/engine/engine.ts';
import type { PdqHash } from './pdq.ts';

/** An entry of a list file. */
export interface Listed {
  readonly list: 'sha256' | 'md5' | 'pdq';
  /** Hex, as listed. */
  readonly digest: string;
  /** Bits; 0 in the exact lists. */
  readonly distance: number;
}

/** Hex each. */
export interface ExactDigests {
  readonly sha256: string;
  readonly md5: string;
}

export type Task =
  | { readonly kind: 'hash'; readonly raster: Raster }
  | { readonly kind: 'exact'; readonly digests: ExactDigests }
  | { readonly kind: 'nearest'; readonly pdq: string };

export interface Outcomes {
  readonly hash: PdqHash;
  /** `undefined`: not listed. */
  readonly exact: Listed | undefined;
  readonly nearest: Listed | undefined;
}

export interface ScreeningRequest {
  readonly id: number;
  readonly task: Task;
}

export type ScreeningReply =
  | { readonly id: number; readonly outcome: Outcomes[Task['kind']] }
  | { readonly id: number; readonly failure: string };
