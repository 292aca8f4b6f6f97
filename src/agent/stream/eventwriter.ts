/**
 * From a run's chunks to its event log: coalesced for a few milliseconds, appended batch by batch, shown to readers once
 * a batch is acknowledged. What is emitted is folded at once, so that nothing is ever shown that would not be kept.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { UIMessage } from 'ai';
import { type Chunk, toV5 } from './chunks.ts';
import type { Batch, EventLog } from '../eventlog/eventlog.ts';
import type { OwnFeed } from './runbuffer.ts';
import { createFold } from './messageassembler.ts';
import type { Run } from '../runs/runs.ts';

export interface Emission {
  /** Resolves when more is welcome. Rejects with LogLost, LogFull or Fenced: nothing more gets through. */
  emit(chunk: Chunk): Promise<void>;
  /** What was emitted so far. */
  parts(): UIMessage['parts'];
  /** Takes no more. Resolves when all that was emitted is appended; with why not, when it cannot be. */
  finish(): Promise<Error | undefined>;
  /** The last event: how the run ended. Never rejects: the run's row tells as much. */
  end(chunk: Chunk): Promise<void>;
}

/** The run is in other hands. */
export class Fenced extends Error {}
/** A sentence for the user. */
export class LogLost extends Error {}
export class LogFull extends Error {}

export interface EmissionDeps {
  readonly eventLog: EventLog;
  readonly feed: OwnFeed;
  readonly windowMs?: number;
  readonly maxBytes?: number;
}

/** Most of the cost is per append. Shorter than a reader notices. */
const defaultWindowMs = 20;
/** Of one run, as JSON: more than a thousand pages. */
const defaultMaxBytes = 16 * 1024 * 1024;
const maxPendingBytes = 256 * 1024;
const appendTries = 4;
const retryAfterMs = 250;

export function createEmission(deps: EmissionDeps, run: Run): Emission {
  const { eventLog, feed, windowMs = defaultWindowMs, maxBytes = defaultMaxBytes } = deps;
  const fold = createFold();
  let pending: string[] = [];
  let pendingBytes = 0;
  let totalBytes = 0;
  let mergeable: { readonly type: 'text-delta' | 'reasoning-delta'; readonly id: string; delta: string } | undefined;
  let lastSeq = 0;
  let lastFlushMs = Number.NEGATIVE_INFINITY;
  let failure: Error | undefined;
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;
  let finished = false;

  function add(chunk: Chunk): void {
    fold.add(chunk);
    const isDelta = chunk.type === 'text-delta' || chunk.type === 'reasoning-delta';
    if (isDelta && chunk.providerMetadata === undefined) {
      if (mergeable?.type === chunk.type && mergeable.id === chunk.id) {
        mergeable.delta += chunk.delta;
        count(chunk.delta.length);
        return;
      }
      closeDelta();
      mergeable = { type: chunk.type, id: chunk.id, delta: chunk.delta };
      count(chunk.delta.length + 60);
      return;
    }
    closeDelta();
    const text = JSON.stringify(chunk);
    pending.push(text);
    count(text.length);
  }

  function count(bytes: number): void {
    pendingBytes += bytes;
    totalBytes += bytes;
  }

  function closeDelta(): void {
    if (mergeable !== undefined) pending.push(JSON.stringify(mergeable));
    mergeable = undefined;
  }

  function schedule(): void {
    if (timer !== undefined || flushing !== undefined) return;
    const waitMs = Math.max(0, windowMs - (performance.now() - lastFlushMs));
    timer = setTimeout(() => {
      timer = undefined;
      void flush();
    }, waitMs);
  }

  /** One append at a time; what is emitted meanwhile goes with the next. */
  function flush(): Promise<void> {
    flushing ??= flushOnce().finally(() => {
      flushing = undefined;
      if (failure === undefined && (pending.length > 0 || mergeable !== undefined)) schedule();
    });
    return flushing;
  }

  async function flushOnce(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    closeDelta();
    if (pending.length === 0 || failure !== undefined) return;
    const events = pending;
    pending = [];
    pendingBytes = 0;
    lastFlushMs = performance.now();
    await append({ firstSeq: lastSeq + 1, lastSeq: lastSeq + events.length, events, isLast: false });
  }

  async function append(batch: Batch): Promise<void> {
    const outcome = await appendPatiently(batch);
    if (outcome === 'appended') {
      lastSeq = batch.lastSeq;
      feed.push(batch);
    } else if (outcome === 'fenced') failure = new Fenced();
    else failure = new LogLost('The stream of this run was lost.');
  }

  async function appendPatiently(batch: Batch): Promise<'appended' | 'fenced' | 'vanished' | 'failed'> {
    for (let tries = 1; ; tries++) {
      try {
        return await eventLog.append(run, batch);
      } catch {
        if (tries === appendTries) return 'failed';
        await sleep(retryAfterMs * tries);
      }
    }
  }

  async function settle(): Promise<void> {
    while (failure === undefined && (flushing !== undefined || pending.length > 0 || mergeable !== undefined)) {
      await (flushing ?? flush());
    }
    clearTimeout(timer);
  }

  return {
    async emit(chunk) {
      const known = toV5(chunk);
      if (known === undefined) return;
      if (failure === undefined && totalBytes > maxBytes) {
        await settle();
        failure ??= new LogFull('The answer grew too long.');
      }
      if (failure !== undefined) throw failure;
      // A tool that heeds no signal comes too late.
      if (finished) return;
      add(known);
      if (pendingBytes < maxPendingBytes) schedule();
      else await flush();
    },
    parts: () => fold.parts(),
    async finish() {
      finished = true;
      await settle();
      return failure;
    },
    async end(chunk) {
      const events = [JSON.stringify(toV5(chunk) ?? chunk)];
      const batch = { firstSeq: lastSeq + 1, lastSeq: lastSeq + 1, events, isLast: true };
      const outcome = await appendPatiently(batch);
      // Not appended, it is what every reader would be told by the run's row anyhow.
      if (outcome !== 'fenced') feed.push(batch);
      else feed.disown();
    },
  };
}
