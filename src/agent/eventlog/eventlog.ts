/**
 * The event log of runs, from which any instance can stream the events of a run from any position. `open.ts` chooses
 * one of two drivers. One append writes one batch, and readers see a batch once it is acknowledged.
 *
 * The events of a run are numbered from 1 without gaps. In the stream, an event has the id `<epochMs>-<seq>`, so that
 * ids also increase from one run to the next.
 */

/** `events` are JSON texts, numbered `firstSeq` to `lastSeq`. `isLast`: with it the stream ends. */
export interface Batch {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly events: readonly string[];
  readonly isLast: boolean;
}

/** Identifies the event log of a run. The fence increases when another process takes over the run. */
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
  /** Rejects appends with a smaller fence from now on. */
  claim(run: FencedKey): Promise<void>;
  /** Returns a limited number of batches in order, from the one with `afterSeq + 1`. Empty: there are no more. */
  read(run: LogKey, afterSeq: number): Promise<readonly Batch[]>;
  /** Reports batches that any process appends after `afterSeq`, each once and without gaps. Call the returned function to stop. */
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
