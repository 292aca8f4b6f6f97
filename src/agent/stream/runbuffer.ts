/**
 * What readers of this process read: one buffer per run, however many read it. The run's own instance fills it as its
 * appends are acknowledged; for a run elsewhere, or one that has ended, it is filled from the log, once.
 */
import { startInterval } from '#platform/background/interval.ts';
import type { Log } from '#platform/log.ts';
import { problems } from '#platform/problem.ts';
import type { Batch, EventId, EventLog } from '../eventlog/eventlog.ts';
import type { Run } from '../runs/runs.ts';

/** A batch as it goes over the wire. */
export interface Framed {
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly frames: readonly string[];
  /** All frames in one: encoded once for all readers. */
  readonly bytes: Buffer;
}

export interface Feed {
  /** In order; only ever added to. */
  readonly batches: readonly Framed[];
  /** Nothing will come any more. */
  readonly ended: boolean;
  /** Called after every change, until the answer is called. */
  subscribe(onChange: () => void): () => void;
}

export interface Feeds {
  /** For one more reader; to be left. Throws `engine_unavailable` when the log does not answer. */
  open(run: Run, lastEventId: EventId | undefined): Promise<OpenFeed>;
  /** For the instance that runs it. */
  own(run: Run): OwnFeed;
  close(): void;
}

export interface OpenFeed {
  readonly feed: Feed;
  /** After which event the reader goes on; infinite: its id is from beyond the end. */
  readonly afterSeq: number;
  leave(): void;
}

export interface OwnFeed {
  /** What the log has acknowledged. */
  push(batch: Batch): void;
  /** The run is in other hands: what comes is read from the log. */
  disown(): void;
}

export interface FeedsDeps {
  readonly eventLog: EventLog;
  readonly log: Log;
  /** Runs, of those asked for, that run no more, with their status. */
  readonly findEnded: (taskIds: readonly string[]) => Promise<readonly Run[]>;
  /** The events that stand for a stream that is lost, when the run has ended; numbered after `afterSeq`. */
  readonly restore: (run: Run, afterSeq: number) => Promise<Batch>;
  readonly watchEveryMs?: number;
}

/** Of an ended run: then its readers are told that it has ended, whatever they miss. */
const unreadableForMs = 5000;
/** No run comes near: the database counts its events in 32 bits. */
const maxSeq = 2 ** 31 - 1;

export function createFeeds(deps: FeedsDeps): Feeds {
  const { watchEveryMs = 2000 } = deps;
  const feeds = new Map<string, LiveFeed>();
  const watching = startInterval(watchEveryMs, watch, (error) =>
    deps.log.warn({ err: error }, 'the ends of followed runs could not be read'),
  );

  function feedOf(run: Run): LiveFeed {
    const known = feeds.get(run.taskId);
    if (known !== undefined) return known;
    const feed = new LiveFeed(run, deps, () => feeds.delete(run.taskId));
    feeds.set(run.taskId, feed);
    return feed;
  }

  /** A run whose row has ended, and whose log has no end: its instance died in between, or the log is lost. */
  async function watch(): Promise<void> {
    const followed = [...feeds.values()].filter((feed) => feed.isFollowing);
    if (followed.length === 0) return;
    const ended = await deps.findEnded(followed.map(({ run }) => run.taskId));
    await Promise.all(ended.map((run) => feeds.get(run.taskId)?.conclude(run)));
  }

  return {
    async open(run, lastEventId) {
      const feed = feedOf(run);
      feed.readers += 1;
      let left = false;
      const leave = () => {
        if (left) return;
        left = true;
        feed.readers -= 1;
        feed.dropUnused();
      };
      try {
        await feed.load(run);
        return { feed, afterSeq: await feed.placeOf(lastEventId), leave };
      } catch (error) {
        leave();
        throw error;
      }
    },
    own(run) {
      const feed = feedOf(run);
      feed.takeOver();
      return {
        push: (batch) => {
          feed.push(batch);
          feed.dropUnused();
        },
        disown: () => feed.disown(),
      };
    },
    close: () => void watching.stop(),
  };
}

class LiveFeed implements Feed {
  readonly run: Run;
  readonly batches: Framed[] = [];
  ended = false;
  readers = 0;
  isOwn = false;
  readonly #deps: FeedsDeps;
  readonly #onUnused: () => void;
  readonly #listeners = new Set<() => void>();
  #unfollow: (() => void) | undefined;
  #loading: Promise<void> | undefined;
  #unreadableSinceMs: number | undefined;
  /** Why the stream is told by its message. */
  #unread: unknown;
  /** Of its ids: another one than the run's for a stream that was made anew, whose events are other ones. */
  #epochMs: number;

  constructor(run: Run, deps: FeedsDeps, onUnused: () => void) {
    this.run = run;
    this.#epochMs = run.epochMs;
    this.#deps = deps;
    this.#onUnused = onUnused;
  }

  get isFollowing(): boolean {
    return this.#unfollow !== undefined && !this.ended;
  }

  get #lastSeq(): number {
    return this.batches.at(-1)?.lastSeq ?? 0;
  }

  subscribe(onChange: () => void): () => void {
    this.#listeners.add(onChange);
    return () => this.#listeners.delete(onChange);
  }

  push(batch: Batch): void {
    if (this.ended || batch.lastSeq <= this.#lastSeq) return;
    this.batches.push(frame(this.#epochMs, batch));
    if (batch.isLast) this.#end();
    for (const onChange of this.#listeners) onChange();
  }

  /** Once for all readers; again when it failed. */
  load(run: Run): Promise<void> {
    if (this.isOwn || this.ended) return Promise.resolve();
    this.#loading ??= this.#fill(run).catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async #fill(run: Run): Promise<void> {
    // Its message tells what the log cannot, where the log does not answer.
    if (run.status !== 'running') return this.conclude(run);
    const hasGap = await this.#readOn();
    if (this.ended) return;
    // What was read before may lack its beginning.
    if (hasGap) return this.conclude(run);
    this.#follow();
  }

  #follow(): void {
    this.#unfollow ??= this.#deps.eventLog.follow(this.run, this.#lastSeq, (batch) => this.push(batch));
  }

  async #readOn(): Promise<boolean> {
    for (;;) {
      const found = await this.#deps.eventLog.read(this.run, this.#lastSeq);
      if (found.length === 0) return false;
      for (const batch of found) {
        if (batch.firstSeq > this.#lastSeq + 1) return true;
        this.push(batch);
      }
      if (this.ended) return false;
    }
  }

  /** `run` as it ended. What the log still has is read first. */
  async conclude(run: Run): Promise<void> {
    if (!this.ended) await this.#readOn().catch((error: unknown) => this.#bearUnreadable(run, error));
    if (run.status === 'running') return this.#follow();
    if (this.ended) return;
    if (this.#lastSeq === 0) this.#epochMs = run.epochMs + 1;
    this.push(await this.#deps.restore(run, this.#lastSeq));
  }

  /**
   * The log does not answer. Readers who have seen nothing yet can be told all of an ended run at once; the others are
   * let wait for what is missing, but not for ever.
   */
  #bearUnreadable(run: Run, error: unknown): void {
    this.#unreadableSinceMs ??= performance.now();
    const isPatient = this.#lastSeq > 0 && performance.now() - this.#unreadableSinceMs < unreadableForMs;
    if (run.status === 'running' || isPatient) throw error;
    this.#unread = error;
    this.#deps.log.warn(
      { err: error },
      'the stream of an ended run is told by its message, as its log does not answer',
    );
  }

  /** As `OpenFeed.afterSeq`. */
  async placeOf(id: EventId | undefined): Promise<number> {
    if (id === undefined || id.epochMs < this.run.epochMs) return 0;
    if (id.epochMs < this.#epochMs) {
      // Not lost, but out of reach: to be asked for again.
      if (this.#unread !== undefined && id.seq > 0) throw this.#unread;
      // Of the lost stream: what the reader has of it cannot be found again, but how it ended can be told.
      return id.seq === 0 ? 0 : this.#lastSeq - 1;
    }
    if (id.epochMs > this.#epochMs) return Number.POSITIVE_INFINITY;
    if (id.seq <= this.#lastSeq || (await this.#isInLog(id.seq))) return id.seq;
    if (await this.#isLogLost()) throw problems.engine_unavailable({ cause: new Error('the log of the run is lost') });
    return Number.POSITIVE_INFINITY;
  }

  /** A run begins with an event. Without any it goes on elsewhere or its process died: its end is told when it has one. */
  async #isLogLost(): Promise<boolean> {
    return !this.ended && !this.isOwn && (await this.#deps.eventLog.read(this.run, 0)).length === 0;
  }

  /** Another instance may have shown what we are about to be told. */
  async #isInLog(seq: number): Promise<boolean> {
    if (this.ended || seq > maxSeq) return false;
    return (await this.#deps.eventLog.read(this.run, seq - 1)).length > 0;
  }

  takeOver(): void {
    this.isOwn = true;
    this.#unfollow?.();
    this.#unfollow = undefined;
  }

  disown(): void {
    this.isOwn = false;
    if (this.readers > 0) this.#follow();
    this.dropUnused();
  }

  dropUnused(): void {
    if (this.readers > 0 || (this.isOwn && !this.ended)) return;
    this.#unfollow?.();
    this.#unfollow = undefined;
    this.#onUnused();
  }

  #end(): void {
    this.ended = true;
    this.#unfollow?.();
    this.#unfollow = undefined;
  }
}

function frame(epochMs: number, batch: Batch): Framed {
  const frames = batch.events.map((event, index) => `id: ${epochMs}-${batch.firstSeq + index}\ndata: ${event}\n\n`);
  return { firstSeq: batch.firstSeq, lastSeq: batch.lastSeq, frames, bytes: Buffer.from(frames.join('')) };
}
