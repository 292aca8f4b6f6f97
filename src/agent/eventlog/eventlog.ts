/**
 * The event log of runs: what their streams are read from, by anybody, on any instance, from any event on. Two drivers
 * (eventlog/), chosen in eventlog/open.ts. One append is one batch; readers are shown it once it is acknowledged.
 *
 * Events of a run are numbered from 1 without a gap. In the stream an event is named `<epochMs>-<seq>`, so that ids rise
 * also from one run to the next.
 */

/** `events` are JSON texts, numbered `firstSeq` to `lastSeq`. `isLast`: with it the stream ends. */
export interface Batch {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly events: readonly string[];
  readonly isLast: boolean;
}

/** A run in the hands of somebody: `fence` grows at every change of hands. */
export interface LogKey {
  readonly taskId: string;
  readonly epochMs: number;
}
export interface FencedKey extends LogKey {
  readonly fence: number;
}

/** `fenced`: the run is in other hands. `vanished`: what was appended before is lost. */
export type Appended = 'appended' | 'fenced' | 'vanished';

export interface EventLog {
  /** To be repeated after an error: the same batch is written once. Batches of a run come one after the other. */
  append(run: FencedKey, batch: Batch): Promise<Appended>;
  /** From now on whoever bears a smaller fence cannot append. */
  claim(run: FencedKey): Promise<void>;
  /** In order, the batch that holds `afterSeq + 1` first; a limited number: empty says that there is no more. */
  read(run: LogKey, afterSeq: number): Promise<readonly Batch[]>;
  /** What others append from now on, after `afterSeq`, until the answer is called. No batch is left out or told twice. */
  follow(run: LogKey, afterSeq: number, onBatch: (batch: Batch) => void): () => void;
  /** The streams are no longer to be read. */
  remove(taskIds: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export interface EventId {
  readonly epochMs: number;
  readonly seq: number;
}

/** `undefined`: not of the form of an id. */
export function parseEventId(text: string): EventId | undefined {
  const match = /^(0|[1-9]\d{0,14})-(0|[1-9]\d{0,14})$/.exec(text);
  return match === null ? undefined : { epochMs: Number(match[1]), seq: Number(match[2]) };
}
