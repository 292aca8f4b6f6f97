/**
 * Coalesces the deltas of a model's stream. Providers send a chunk for each token, and most of the cost of a run is per
 * chunk that is passed on. Deltas of one text that arrive within 20 ms (up to 60 ms with many open streams) become a single
 * one.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { startIdleDeadline } from '#platform/resilience/deadline.ts';
import { countOpenStream, windowMs } from './streamwindow.ts';

type Part = LanguageModelV4StreamPart;
type Delta = Extract<Part, { type: 'text-delta' | 'reasoning-delta' | 'tool-input-delta' }>;

export interface CoalescingOptions {
  /** How long the provider may pause. After that the stream fails with DeadlineExceeded. */
  readonly idleMs: number;
  /** How long deltas are collected, in place of a time that depends on how many streams are open. */
  readonly windowMs?: number | undefined;
  /** Called when the stream has failed or is canceled, to end the provider's work. */
  readonly onBroken: (reason: unknown) => void;
}

/** In characters. Above it nothing is read from the provider until the reader catches up. */
const maxWaitingSize = 64 * 1024;
/** A provider that sends without a pause must not block other runs and the renewal of their leases. */
const maxBusyMs = 10;

/** A reader of the provider's stream. */
export type PartSource = Pick<ReadableStreamDefaultReader<Part>, 'read' | 'cancel'>;

/** Passes on `opening` and what `source` still has. */
export function coalesceDeltas(
  opening: readonly Part[],
  source: PartSource,
  options: CoalescingOptions,
): ReadableStream<Part> {
  const coalescing = new Coalescing(opening, source, options);
  return new ReadableStream<Part>(
    {
      start: (controller) => coalescing.start(controller),
      pull: () => coalescing.pull(),
      cancel: (reason) => coalescing.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

class Coalescing {
  readonly #source: PartSource;
  readonly #options: CoalescingOptions;
  #controller: ReadableStreamDefaultController<Part> | undefined;
  #waiting: Part[];
  /** The last element of `#waiting`, if further deltas may be added to it. */
  #openDelta: Delta | undefined;
  #waitingSize = 0;
  #isRequested = false;
  /** The source has no more parts, or has failed with `error`. */
  #end: { readonly error?: unknown } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastFlushAtMs = Number.NEGATIVE_INFINITY;
  #resumeReading: (() => void) | undefined;
  readonly #countClosed = countOpenStream();

  constructor(opening: readonly Part[], source: PartSource, options: CoalescingOptions) {
    this.#waiting = [...opening];
    this.#source = source;
    this.#options = options;
  }

  start(controller: ReadableStreamDefaultController<Part>): void {
    this.#controller = controller;
    void this.#readSource();
  }

  pull(): void {
    this.#isRequested = true;
    this.#schedule();
  }

  cancel(reason: unknown): Promise<void> {
    this.#controller = undefined;
    this.#finish({});
    this.#options.onBroken(reason);
    return this.#source.cancel(reason);
  }

  async #readSource(): Promise<void> {
    const { idleMs } = this.#options;
    const idle = startIdleDeadline(idleMs);
    idle.signal.addEventListener('abort', () => this.#fail(idle.signal.reason), { once: true });
    let yieldedAtMs = performance.now();
    try {
      while (this.#end === undefined) {
        const { done, value } = await this.#source.read();
        if (this.#end !== undefined) return;
        if (done) return this.#finish({});
        this.#add(value);
        idle.touch();
        if (performance.now() - yieldedAtMs > maxBusyMs) {
          await yieldToEventLoop();
          yieldedAtMs = performance.now();
        }
        if (this.#waitingSize > maxWaitingSize) {
          idle.pause();
          await this.#untilFlushed();
          idle.touch();
        }
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      idle.stop();
    }
  }

  #add(part: Part): void {
    const isDelta = isPlainDelta(part);
    const open = this.#openDelta;
    if (isDelta && open !== undefined && open.type === part.type && open.id === part.id) {
      open.delta += part.delta;
    } else {
      this.#openDelta = isDelta ? { ...part } : undefined;
      this.#waiting.push(this.#openDelta ?? part);
    }
    if (isDelta) this.#waitingSize += part.delta.length;
    this.#schedule();
  }

  /** Deltas wait for the end of the window; everything else, and what is before it, is passed on at once. */
  #schedule(): void {
    if (!this.#isRequested) return;
    if (this.#waiting.length === 0 && this.#end === undefined) return;
    const waitMs = (this.#options.windowMs ?? windowMs()) - (performance.now() - this.#lastFlushAtMs);
    if (waitMs <= 0 || this.#openDelta === undefined || this.#end !== undefined) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), waitMs);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const parts = this.#waiting;
    this.#waiting = [];
    this.#openDelta = undefined;
    this.#waitingSize = 0;
    this.#isRequested = false;
    this.#lastFlushAtMs = performance.now();
    for (const part of parts) this.#controller?.enqueue(part);
    this.#resumeReading?.();
    // An error would discard parts that have not been read, so it waits for the next request.
    if (parts.length === 0 && this.#end !== undefined) this.#settle(this.#end);
  }

  #settle(end: { readonly error?: unknown }): void {
    if ('error' in end) this.#controller?.error(end.error);
    else this.#controller?.close();
    this.#controller = undefined;
  }

  #untilFlushed(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#resumeReading = resolve;
    return promise;
  }

  #fail(error: unknown): void {
    if (this.#end !== undefined) return;
    this.#finish({ error });
    this.#options.onBroken(error);
  }

  #finish(end: { readonly error?: unknown }): void {
    if (this.#end === undefined) this.#countClosed();
    this.#end ??= end;
    this.#resumeReading?.();
    this.#schedule();
  }
}

/** A delta with metadata stays as it is. */
function isPlainDelta(part: Part): part is Delta {
  return (
    (part.type === 'text-delta' || part.type === 'reasoning-delta' || part.type === 'tool-input-delta') &&
    part.providerMetadata === undefined
  );
}
