/**
 * The buffer of one run's stream in this process, shared by all of its readers. It is in one of these modes:
 *
 * - `empty`: nothing has been read yet, or reading failed. May become `loading`, `owned`, `closed`.
 * - `loading`: the log is being read for the first reader. May become `following`, `owned`, `ended`, `empty`.
 * - `owned`: this process executes the run and appends what the log has acknowledged. May become `following`, `ended`,
 *   `closed`.
 * - `following`: another process executes the run; new batches come from the log. May become `owned`, `ended`, `closed`.
 * - `ended`: the last event is here. May become `closed`.
 * - `closed`: no reader is left and the registry has dropped the buffer. Final.
 */
import { startInterval } from '#platform/background/interval.ts';
import type { Db } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import { problems } from '#platform/problem.ts';
import type { Batch, EventId, EventLog } from '../eventlog/eventlog.ts';
import { isOver, listRuns, type Run } from '../runs/runstore.ts';
import type { AgentTables } from '../tables.ts';
import { findMessage } from '../threads/messagestore.ts';
import { replayRun } from './chunks.ts';
import { hasAsset } from './signing.ts';

/** A batch as it is sent over the wire. */
interface FramedBatch {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly frames: readonly string[];
  /** All frames, encoded once for all readers. */
  readonly bytes: Buffer;
  /** Whether frames name assets, which are signed for each reader. */
  readonly hasAssets: boolean;
  readonly isLast: boolean;
}

interface RunBufferOptions {
  readonly eventLog: EventLog;
  readonly log: Log;
  /** Builds the events of an ended run from its stored message, numbered after `afterSeq`. */
  readonly replay: (run: Run, afterSeq: number) => Promise<Batch>;
}

type BufferState =
  | { readonly mode: 'empty' }
  | { readonly mode: 'loading'; readonly loaded: Promise<void> }
  | { readonly mode: 'owned' }
  | { readonly mode: 'following'; readonly unfollow: () => void }
  | { readonly mode: 'ended' }
  | { readonly mode: 'closed' };

const permitted: Transitions<BufferState['mode']> = {
  empty: ['loading', 'owned', 'closed'],
  loading: ['following', 'owned', 'ended', 'empty'],
  owned: ['following', 'ended', 'closed'],
  following: ['owned', 'ended', 'closed'],
  ended: ['closed'],
  closed: [],
};

/** After this, readers of an ended run get its end even if the log still does not answer. */
const unreadableForMs = 5000;
/** The database stores event numbers in 32 bits, so no run exceeds this. */
const maxSeq = 2 ** 31 - 1;

export class RunEventBuffer {
  readonly run: Run;
  /** In order; batches are only ever added. */
  readonly batches: FramedBatch[] = [];
  readonly #deps: RunBufferOptions;
  readonly #listeners = new Set<() => void>();
  #state: BufferState = { mode: 'empty' };
  #readers = 0;
  /** The first half of the event ids. A stream replayed from the message has its own, because its events differ. */
  #epochMs: number;
  /** When the log of the ended run could not be read for the first time. */
  #unreadableSinceMs: number | undefined;
  /** Why the log could not be read, if the stream was replayed from the message instead. */
  #replayCause: unknown;

  constructor(run: Run, deps: RunBufferOptions) {
    this.run = run;
    this.#epochMs = run.epochMs;
    this.#deps = deps;
  }

  /** The last event is here; true also after the buffer is closed. */
  get isEnded(): boolean {
    return this.batches.at(-1)?.isLast ?? false;
  }

  get isFollowing(): boolean {
    return this.#state.mode === 'following';
  }

  /** Neither read nor filled by this process. */
  get isUnused(): boolean {
    return this.#readers === 0 && this.#state.mode !== 'owned';
  }

  get #lastSeq(): number {
    return this.batches.at(-1)?.lastSeq ?? 0;
  }

  addReader(): void {
    this.#readers += 1;
  }

  removeReader(): void {
    this.#readers -= 1;
  }

  /** Calls the listener when batches were added, or the stream has ended. Call the returned function to stop. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What the log has acknowledged. A batch that is here already is ignored. */
  append(batch: Batch): void {
    if (this.isEnded || this.#state.mode === 'closed' || batch.lastSeq <= this.#lastSeq) return;
    this.batches.push(frame(this.#epochMs, batch));
    if (batch.isLast) this.#become({ mode: 'ended' });
    for (const listener of this.#listeners) listener();
  }

  /** empty, loading, following → owned: this process executes the run from now on. */
  takeOwnership(): void {
    // If another process has ended the run before this one began, its readers have its end.
    if (!this.isEnded) this.#become({ mode: 'owned' });
  }

  /** owned → following or closed: another process executes the run from now on. */
  releaseOwnership(): void {
    if (this.#state.mode === 'owned' && this.#readers > 0) this.#follow();
    else if (this.#state.mode === 'owned') this.close();
  }

  /** Any mode but loading → closed: the registry drops the buffer. */
  close(): void {
    if (this.#state.mode !== 'closed') this.#become({ mode: 'closed' });
  }

  /** empty → loading → following or ended; once for all readers, and again after a failure. */
  load(run: Run): Promise<void> {
    if (this.#state.mode === 'loading') return this.#state.loaded;
    if (this.#state.mode !== 'empty') return Promise.resolve();
    // The state has to be `loading` before the first line of #fill runs.
    const loaded = Promise.resolve()
      .then(() => this.#fill(run))
      .catch((error: unknown) => {
        if (this.#state.mode === 'loading') this.#become({ mode: 'empty' });
        throw error;
      });
    this.#become({ mode: 'loading', loaded });
    return loaded;
  }

  async #fill(run: Run): Promise<void> {
    // The message has what the log lacks, also while the log does not answer.
    if (isOver(run)) return this.conclude(run);
    await this.#readLog();
    if (this.#state.mode === 'loading') this.#follow();
  }

  /** loading, owned → following: new batches come from the log, after the last one that is here. */
  #follow(): void {
    const unfollow = this.#deps.eventLog.follow(this.run, this.#lastSeq, (batch) => this.append(batch));
    this.#become({ mode: 'following', unfollow });
  }

  /** Up to the end of the log, or to a gap in it. */
  async #readLog(): Promise<void> {
    while (!this.isEnded) {
      const found = await this.#deps.eventLog.read(this.run, this.#lastSeq);
      if (found.length === 0) return;
      for (const batch of found) {
        if (batch.firstSeq > this.#lastSeq + 1) return;
        this.append(batch);
      }
    }
  }

  /** `run` as it ended. loading, following → ended: reads what the log still has, then replays the rest. */
  async conclude(run: Run): Promise<void> {
    if (!this.isEnded) await this.#readLog().catch((error: unknown) => this.#acceptUnreadable(error));
    if (this.isEnded) return;
    if (this.#lastSeq === 0) this.#epochMs = run.epochMs + 1;
    this.append(await this.#deps.replay(run, this.#lastSeq));
  }

  /**
   * The log does not answer. Readers that have seen nothing yet can get an ended run from its message at once; the others
   * wait for what they lack, for a limited time.
   */
  #acceptUnreadable(error: unknown): void {
    this.#unreadableSinceMs ??= performance.now();
    if (this.#lastSeq > 0 && performance.now() - this.#unreadableSinceMs < unreadableForMs) throw error;
    this.#replayCause = error;
    this.#deps.log.warn(
      { err: error },
      'replayed an ended run from its message, because its event log does not respond',
    );
  }

  /** The number of the event after which a reader continues. Infinite: its id is beyond the end. */
  async positionOf(id: EventId | undefined): Promise<number> {
    if (id === undefined || id.epochMs < this.run.epochMs) return 0;
    if (id.epochMs < this.#epochMs) {
      // The log still exists and may answer again: the reader has to retry.
      if (this.#replayCause !== undefined && id.seq > 0) throw this.#replayCause;
      // An id of the lost stream. What the reader has of it is unknown, so it gets the end alone.
      return id.seq === 0 ? 0 : this.#lastSeq - 1;
    }
    if (id.epochMs > this.#epochMs) return Number.POSITIVE_INFINITY;
    // The message that the run goes on with, which its client has.
    if (id.seq === this.run.replayed) return id.seq;
    if (id.seq <= this.#lastSeq || (await this.#isInLog(id.seq))) return id.seq;
    if (await this.#isLogLost()) throw problems.engine_unavailable({ cause: new Error('the log of the run is lost') });
    return Number.POSITIVE_INFINITY;
  }

  /** Every run begins with an event, so an empty log of a run elsewhere is a lost one. Readers wait for the run's end. */
  async #isLogLost(): Promise<boolean> {
    return this.#state.mode === 'following' && (await this.#deps.eventLog.read(this.run, 0)).length === 0;
  }

  /** Another instance may have shown an event that has not reached this buffer yet. */
  async #isInLog(seq: number): Promise<boolean> {
    if (this.isEnded || seq > maxSeq) return false;
    return (await this.#deps.eventLog.read(this.run, seq - 1)).length > 0;
  }

  #become(next: BufferState): void {
    assertTransition('run event buffer', permitted, this.#state.mode, next.mode);
    if (this.#state.mode === 'following') this.#state.unfollow();
    this.#state = next;
  }
}

function frame(epochMs: number, batch: Batch): FramedBatch {
  const frames = batch.events.map((event, index) => `id: ${epochMs}-${batch.firstSeq + index}\ndata: ${event}\n\n`);
  const { firstSeq, lastSeq, isLast } = batch;
  const hasAssets = batch.events.some(hasAsset);
  return { firstSeq, lastSeq, frames, bytes: Buffer.from(frames.join('')), hasAssets, isLast };
}

// The event buffers of this process: one for each run that it executes or that a client reads here.

interface OpenBuffer {
  readonly buffer: RunEventBuffer;
  /** The event after which the reader continues. Infinite: its id is beyond the end. */
  readonly afterSeq: number;
  /** Has to be called once when the reader leaves; further calls do nothing. */
  leave(): void;
}

/** The buffer, for the process that executes the run. */
export interface OwnedRunBuffer {
  /** Only what the log has acknowledged. */
  append(batch: Batch): void;
  /** Another process executes the run from now on: its readers get new events from the log. */
  release(): void;
}

const watchEveryMs = 2000;

interface RunBuffersOptions {
  readonly db: Db<AgentTables>;
  readonly eventLog: EventLog;
  readonly log: Log;
}

export class RunEventBuffers {
  readonly #deps: RunBuffersOptions;
  readonly #buffers = new Map<string, RunEventBuffer>();
  readonly #watching: { stop(): Promise<void> };

  constructor(deps: RunBuffersOptions) {
    this.#deps = deps;
    this.#watching = startInterval(
      watchEveryMs,
      () => this.#concludeEnded(),
      (error) => deps.log.warn({ err: error }, 'could not read the ends of followed runs'),
    );
  }

  /** For one more reader. Throws `engine_unavailable` when the log does not answer. */
  async open(run: Run, lastEventId: EventId | undefined): Promise<OpenBuffer> {
    const buffer = this.#bufferOf(run);
    buffer.addReader();
    let hasLeft = false;
    const leave = () => {
      if (hasLeft) return;
      hasLeft = true;
      buffer.removeReader();
      this.#dropUnused(buffer);
    };
    try {
      await buffer.load(run);
      return { buffer, afterSeq: await buffer.positionOf(lastEventId), leave };
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** For the process that executes the run. `shown`: all batches that the log has. */
  own(run: Run, shown: readonly Batch[] = []): OwnedRunBuffer {
    const buffer = this.#bufferOf(run);
    for (const batch of shown) buffer.append(batch);
    buffer.takeOwnership();
    return {
      append: (batch) => {
        buffer.append(batch);
        this.#dropUnused(buffer);
      },
      release: () => {
        buffer.releaseOwnership();
        this.#dropUnused(buffer);
      },
    };
  }

  close(): void {
    void this.#watching.stop();
  }

  #bufferOf(run: Run): RunEventBuffer {
    const known = this.#buffers.get(run.taskId);
    if (known !== undefined) return known;
    const { db, eventLog, log } = this.#deps;
    const replay = async (ended: Run, afterSeq: number) =>
      replayRun(ended, afterSeq, await findMessage(db, ended.threadId, ended.messageId));
    const buffer = new RunEventBuffer(run, { eventLog, log, replay });
    this.#buffers.set(run.taskId, buffer);
    return buffer;
  }

  #dropUnused(buffer: RunEventBuffer): void {
    if (!buffer.isUnused) return;
    buffer.close();
    if (this.#buffers.get(buffer.run.taskId) === buffer) this.#buffers.delete(buffer.run.taskId);
  }

  /** A run whose row has ended and whose log has no end: its process died in between, or the log is lost. */
  async #concludeEnded(): Promise<void> {
    const followed = [...this.#buffers.values()].filter((buffer) => buffer.isFollowing);
    if (followed.length === 0) return;
    const found = await listRuns(
      this.#deps.db,
      followed.map(({ run }) => run.taskId),
    );
    const runs = new Map(found.map((run) => [run.taskId, run]));
    await Promise.all(
      followed.map(async (buffer) => {
        // The runs of a deleted thread were aborted, and their rows are gone.
        const run = runs.get(buffer.run.taskId) ?? { ...buffer.run, status: 'aborted' };
        if (isOver(run)) await buffer.conclude(run);
      }),
    );
  }
}

// Explicit states: each machine declares which mode may follow which, and every change is checked against that.

export type Transitions<Mode extends string> = Readonly<Record<Mode, readonly Mode[]>>;

/** Throws when `to` may not follow `from`: a bug in the machine, never a fault of a caller. */
export function assertTransition<Mode extends string>(
  machine: string,
  permitted: Transitions<Mode>,
  from: Mode,
  to: Mode,
): void {
  if (!permitted[from].includes(to)) throw new Error(`${machine}: ${from} cannot become ${to}`);
}
