/** What the Runs page gets in addition to the records of the agent service. */
import type { RunRecord } from '#agent/records/api.ts';

export type ShownRun = RunRecord & { readonly traceUrl: string | null };
export interface ShownRunPage {
  readonly runs: readonly ShownRun[];
  readonly next_cursor: string | null;
}

/** A file of a user, for an operator who asked to see it. The URLs are valid for seven days. */
export interface ShownFile {
  readonly mime: string;
  /** `null`: there is no picture of it. */
  readonly thumbUrl: string | null;
  readonly url: string;
}

/** An event of a stream. Texts that arrived in pieces are one event. */
export interface ReplayedEvent {
  /** The id of the last piece. */
  readonly id: string;
  readonly type: string;
  readonly pieces: number;
  readonly text: string;
}
export interface Replay {
  readonly events: readonly ReplayedEvent[];
  /** The stream has more. */
  readonly isCut: boolean;
}
