/**
 * Writes the events of one run: coalesces chunks for a few milliseconds, appends them to the event log, and hands each
 * acknowledged batch to the readers' buffer. A chunk is part of the message as soon as it is written, so readers never
 * see anything that the message lacks. A writer is in one of these modes:
 *
 * - `open`: takes chunks. May become `finishing`, `failed`.
 * - `finishing`: takes no chunks; appends what is pending. May become `failed`, `closed`.
 * - `failed`: the log refused a batch. Nothing but the last event can be appended. May become `closed`.
 * - `closed`: the last event was written. Final.
 *
 * Beside that, one append at a time is `idle`, `scheduled` or `appending`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { UIMessage } from 'ai';
import type { Appended, Batch, EventLog } from '../eventlog/eventlog.ts';
import type { Run } from '../runs/runstore.ts';
import { assertTransition, type Transitions } from '../transitions.ts';
import { type Chunk, toV5 } from './chunks.ts';
import { MessageAssembler } from './messageassembler.ts';
import type { OwnedRunBuffer } from './runbuffer.ts';

// Events that wait for the next append. Consecutive deltas of one text become a single event.

interface OpenDelta {
  readonly type: 'text-delta' | 'reasoning-delta';
  readonly id: string;
  delta: string;
}

/** The characters of a delta's JSON beside its text. */
const deltaOverhead = 60;

class PendingEvents {
  #events: string[] = [];
  #openDelta: OpenDelta | undefined;
  #size = 0;
  #totalSize = 0;

  /** In characters of JSON, approximately. */
  get size(): number {
    return this.#size;
  }

  /** Of everything that was ever added. */
  get totalSize(): number {
    return this.#totalSize;
  }

  get isEmpty(): boolean {
    return this.#events.length === 0 && this.#openDelta === undefined;
  }

  add(chunk: Chunk): void {
    const isDelta = chunk.type === 'text-delta' || chunk.type === 'reasoning-delta';
    if (!isDelta || chunk.providerMetadata !== undefined) {
      this.#closeDelta();
      const event = JSON.stringify(chunk);
      this.#events.push(event);
      this.#count(event.length);
      return;
    }
    const { type, id, delta } = chunk;
    if (this.#openDelta?.type === type && this.#openDelta.id === id) {
      this.#openDelta.delta += delta;
      this.#count(delta.length);
      return;
    }
    this.#closeDelta();
    this.#openDelta = { type, id, delta };
    this.#count(delta.length + deltaOverhead);
  }

  /** All that waits, in order; after this nothing waits. */
  take(): readonly string[] {
    this.#closeDelta();
    const events = this.#events;
    this.#events = [];
    this.#size = 0;
    return events;
  }

  #closeDelta(): void {
    if (this.#openDelta !== undefined) this.#events.push(JSON.stringify(this.#openDelta));
    this.#openDelta = undefined;
  }

  #count(size: number): void {
    this.#size += size;
    this.#totalSize += size;
  }
}

/** Another process executes the run. */
export class RunFenced extends Error {}
/** The message of these two is shown to the user. */
export class EventLogLost extends Error {}
export class RunTooLong extends Error {}

export interface EventWriterOptions {
  readonly eventLog: EventLog;
  readonly buffer: OwnedRunBuffer;
  /** How long chunks are coalesced. */
  readonly windowMs?: number;
  /** The largest stream of a run, in characters of JSON. */
  readonly maxSize?: number;
}

/** What readers have of a run or a message that goes on. */
export interface Shown {
  readonly message: MessageAssembler;
  readonly lastSeq: number;
}

type WriterState =
  | { readonly mode: 'open' }
  | { readonly mode: 'finishing' }
  | { readonly mode: 'failed'; readonly error: Error }
  | { readonly mode: 'closed' };

const permitted: Transitions<WriterState['mode']> = {
  open: ['finishing', 'failed'],
  finishing: ['failed', 'closed'],
  failed: ['closed'],
  closed: [],
};

type AppendState =
  | { readonly mode: 'idle' }
  | { readonly mode: 'scheduled'; readonly timer: NodeJS.Timeout }
  | { readonly mode: 'appending'; readonly done: Promise<void> };

/** Most of the cost is per append. Shorter than a reader notices. */
const defaultWindowMs = 20;
/** More than a thousand pages. */
const defaultMaxSize = 16 * 1024 * 1024;
const maxPendingSize = 256 * 1024;
const appendTries = 4;
const retryAfterMs = 250;

export class EventWriter {
  readonly #deps: EventWriterOptions;
  readonly #run: Run;
  readonly #message: MessageAssembler;
  readonly #pending = new PendingEvents();
  readonly #windowMs: number;
  readonly #maxSize: number;
  #state: WriterState = { mode: 'open' };
  #append: AppendState = { mode: 'idle' };
  #lastSeq = 0;
  #lastAppendAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    deps: EventWriterOptions,
    run: Run,
    { message, lastSeq }: Shown = { message: new MessageAssembler(), lastSeq: 0 },
  ) {
    this.#deps = deps;
    this.#run = run;
    this.#message = message;
    this.#lastSeq = lastSeq;
    this.#windowMs = deps.windowMs ?? defaultWindowMs;
    this.#maxSize = deps.maxSize ?? defaultMaxSize;
  }

  /**
   * Resolves when the writer can take more. Rejects with EventLogLost, RunTooLong or RunFenced once nothing more can be
   * written. Ignores chunks that arrive after `finish`, which a tool that does not obey its signal may still send.
   */
  async write(chunk: Chunk): Promise<void> {
    const known = toV5(chunk);
    if (known === undefined) return;
    if (this.#state.mode === 'open' && this.#pending.totalSize > this.#maxSize) {
      await this.#settle();
      this.#fail(new RunTooLong('The answer is too long.'));
    }
    if (this.#state.mode === 'failed') throw this.#state.error;
    if (this.#state.mode !== 'open') return;
    this.#message.add(known);
    this.#pending.add(known);
    if (this.#pending.size < maxPendingSize) this.#schedule();
    else await this.#appendPending();
  }

  /** As `write`, for chunks of parts that the message has already. */
  async replay(chunks: readonly Chunk[]): Promise<void> {
    for (const chunk of chunks) this.#pending.add(chunk);
    await this.#appendPending();
    if (this.#state.mode === 'failed') throw this.#state.error;
  }

  /** Resolves when all chunks are appended. Rejects as `write`. */
  async flush(): Promise<void> {
    await this.#settle();
    if (this.#state.mode === 'failed') throw this.#state.error;
  }

  /** The parts of the message that was written so far. */
  parts(): UIMessage['parts'] {
    return this.#message.parts();
  }

  /** The parts of the current step. */
  stepParts(): UIMessage['parts'] {
    return this.#message.stepParts();
  }

  /** open → finishing. Resolves when all chunks are appended; if they cannot be, with the reason. */
  async finish(): Promise<Error | undefined> {
    if (this.#state.mode === 'open') this.#become({ mode: 'finishing' });
    await this.#settle();
    return this.#state.mode === 'failed' ? this.#state.error : undefined;
  }

  /** finishing, failed → closed: writes the last event, which contains the outcome of the run. Never rejects. */
  async close(lastChunk: Chunk): Promise<void> {
    this.#become({ mode: 'closed' });
    const events = [JSON.stringify(toV5(lastChunk) ?? lastChunk)];
    const batch = { firstSeq: this.#lastSeq + 1, lastSeq: this.#lastSeq + 1, events, isLast: true };
    const outcome = await this.#tryAppend(batch);
    // If the log did not take it, readers elsewhere see the same end by the run's row.
    if (outcome === 'fenced') this.#deps.buffer.release();
    else this.#deps.buffer.append(batch);
  }

  #schedule(): void {
    if (this.#append.mode !== 'idle') return;
    const waitMs = Math.max(0, this.#windowMs - (performance.now() - this.#lastAppendAtMs));
    this.#append = { mode: 'scheduled', timer: setTimeout(() => void this.#appendPending(), waitMs) };
  }

  /** idle, scheduled → appending → idle. What is written during an append goes with the next one. */
  #appendPending(): Promise<void> {
    if (this.#append.mode === 'appending') return this.#append.done;
    if (this.#append.mode === 'scheduled') clearTimeout(this.#append.timer);
    const done = this.#appendBatch().finally(() => {
      this.#append = { mode: 'idle' };
      if (this.#state.mode !== 'failed' && !this.#pending.isEmpty) this.#schedule();
    });
    this.#append = { mode: 'appending', done };
    return done;
  }

  async #appendBatch(): Promise<void> {
    if (this.#pending.isEmpty || this.#state.mode === 'failed') return;
    const events = this.#pending.take();
    this.#lastAppendAtMs = performance.now();
    const batch = { firstSeq: this.#lastSeq + 1, lastSeq: this.#lastSeq + events.length, events, isLast: false };
    const outcome = await this.#tryAppend(batch);
    if (outcome === 'fenced') return this.#fail(new RunFenced());
    if (outcome !== 'appended') {
      const cause = outcome === 'vanished' ? new Error('the log lacks what was appended before') : outcome.cause;
      return this.#fail(new EventLogLost('The stream of this run was lost.', { cause }));
    }
    this.#lastSeq = batch.lastSeq;
    this.#deps.buffer.append(batch);
  }

  async #tryAppend(batch: Batch): Promise<Appended | { readonly cause: unknown }> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#deps.eventLog.append(this.#run, batch);
      } catch (cause) {
        if (tries === appendTries) return { cause };
        await sleep(retryAfterMs * tries);
      }
    }
  }

  /** Resolves when nothing is pending, or the writer has failed. */
  async #settle(): Promise<void> {
    while (this.#state.mode !== 'failed' && (this.#append.mode === 'appending' || !this.#pending.isEmpty)) {
      await this.#appendPending();
    }
    if (this.#append.mode === 'scheduled') {
      clearTimeout(this.#append.timer);
      this.#append = { mode: 'idle' };
    }
  }

  /** open, finishing → failed; the first failure stays. */
  #fail(error: Error): void {
    if (this.#state.mode === 'open' || this.#state.mode === 'finishing') this.#become({ mode: 'failed', error });
  }

  #become(next: WriterState): void {
    assertTransition('event writer', permitted, this.#state.mode, next.mode);
    this.#state = next;
  }
}
