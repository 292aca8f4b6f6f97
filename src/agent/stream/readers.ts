/**
 * Readers of streams: server-sent events, resumable from any event (docs/specification/agent.md#streams). A reader is a
 * cursor into the event buffer of its run; a slow one waits for its own socket and delays no other.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { invalid } from '#platform/problem.ts';
import { type EventId, parseEventId } from '../eventlog/eventlog.ts';
import type { Run } from '../store/runstore.ts';
import type { BufferListener, RunEventBuffer } from './runbuffer.ts';
import type { RunEventBuffers } from './runbuffers.ts';
import { createStreamQuota, type StreamQuota } from './streamquota.ts';

/** docs/specification/agent.md#streams: a comment at least every 15 s. */
const defaultHeartbeatEveryMs = 10_000;
/** A socket that accepts nothing for this long is destroyed. */
const defaultStalledAfterMs = 60_000;
const closingMs = 3000;
const defaultMaxStreamsPerUser = 100;

const headers = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  'x-vercel-ai-ui-message-stream': 'v1',
};

/** Throws 400 for a malformed id. */
export function readLastEventId(header: string | string[] | undefined): EventId | undefined {
  if (header === undefined) return undefined;
  const id = typeof header === 'string' ? parseEventId(header) : undefined;
  if (id === undefined) throw invalid('headers.last-event-id', 'must be the id of an event of this stream');
  return id;
}

export interface ReadersPace {
  readonly heartbeatEveryMs?: number;
  readonly stalledAfterMs?: number;
  readonly maxStreamsPerUser?: number;
}

export class StreamReaders {
  readonly #buffers: RunEventBuffers;
  readonly #readers = new Set<StreamReader>();
  readonly #countStream: StreamQuota;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #allLeft = Promise.withResolvers<void>();
  #isClosing = false;

  constructor(buffers: RunEventBuffers, pace: ReadersPace = {}) {
    const { heartbeatEveryMs = defaultHeartbeatEveryMs, stalledAfterMs = defaultStalledAfterMs } = pace;
    this.#buffers = buffers;
    this.#countStream = createStreamQuota(pace.maxStreamsPerUser ?? defaultMaxStreamsPerUser);
    this.#heartbeat = setInterval(() => {
      for (const reader of this.#readers) reader.sendHeartbeat(stalledAfterMs);
    }, heartbeatEveryMs).unref();
  }

  /** Responds with the stream. Throws 429 `too_many_streams`, counted for the user who owns the run. */
  async read(reply: FastifyReply, run: Run, lastEventId: EventId | undefined): Promise<void> {
    const release = this.#countStream(run.ownerId);
    const { buffer, afterSeq, leave } = await this.#buffers.open(run, lastEventId).catch((error: unknown) => {
      release();
      throw error;
    });
    if (reply.raw.destroyed) {
      release();
      return leave();
    }
    reply.hijack();
    reply.raw.writeHead(200, { ...reply.getHeaders(), ...headers } as Record<string, string>);
    const reader = new StreamReader(reply.raw, buffer, afterSeq);
    this.#readers.add(reader);
    reply.raw.once('close', () => {
      reader.stop();
      leave();
      release();
      this.#readers.delete(reader);
      if (this.#isClosing && this.#readers.size === 0) this.#allLeft.resolve();
    });
    reader.start();
  }

  /** Delivers streams of ended runs to their end; breaks the others off, so that readers resume them elsewhere. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const reader of this.#readers) reader.breakOff();
    if (this.#readers.size > 0) {
      const timeout = setTimeout(() => this.#allLeft.resolve(), closingMs);
      await this.#allLeft.promise;
      clearTimeout(timeout);
    }
    clearInterval(this.#heartbeat);
    for (const reader of this.#readers) reader.destroy();
  }
}

class StreamReader implements BufferListener {
  readonly #response: ServerResponse;
  readonly #buffer: RunEventBuffer;
  #afterSeq: number;
  /** The index of the next batch. */
  #next = 0;
  #blockedAtMs: number | undefined;

  constructor(response: ServerResponse, buffer: RunEventBuffer, afterSeq: number) {
    this.#response = response;
    this.#buffer = buffer;
    this.#afterSeq = afterSeq;
  }

  start(): void {
    this.#response.on('drain', () => {
      this.#blockedAtMs = undefined;
      this.#sendBatches();
    });
    this.#buffer.listen(this);
    this.#response.flushHeaders();
    this.#sendBatches();
  }

  onAppended(): void {
    this.#sendBatches();
  }

  stop(): void {
    this.#buffer.unlisten(this);
  }

  sendHeartbeat(stalledAfterMs: number): void {
    if (this.#blockedAtMs === undefined) this.#write(': still here\n\n');
    else if (performance.now() - this.#blockedAtMs > stalledAfterMs) this.destroy();
  }

  breakOff(): void {
    if (!this.#buffer.isEnded) this.#response.end();
  }

  destroy(): void {
    this.#response.destroy();
  }

  #sendBatches(): void {
    if (this.#blockedAtMs !== undefined || this.#response.writableEnded) return;
    const { batches } = this.#buffer;
    for (let batch = batches[this.#next]; batch !== undefined; batch = batches[this.#next]) {
      this.#next += 1;
      if (batch.lastSeq <= this.#afterSeq) continue;
      const isWhole = batch.firstSeq > this.#afterSeq;
      const rest = isWhole ? batch.bytes : batch.frames.slice(this.#afterSeq - batch.firstSeq + 1).join('');
      this.#afterSeq = batch.lastSeq;
      if (!this.#write(rest)) return;
    }
    // A reader whose id is beyond the end gets the end of the stream at once.
    if (this.#buffer.isEnded || this.#afterSeq === Number.POSITIVE_INFINITY) this.#response.end('data: [DONE]\n\n');
  }

  #write(bytes: Buffer | string): boolean {
    if (this.#response.writableEnded) return false;
    const takesMore = this.#response.write(bytes);
    if (!takesMore) this.#blockedAtMs = performance.now();
    return takesMore;
  }
}
