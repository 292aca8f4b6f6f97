/**
 * Readers of streams: server-sent events, resumable from any event (docs/specification/agent.md#streams). A reader is a cursor into the feed of
 * its run; one that does not keep up waits for its own socket, and for nobody else.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { invalid } from '#platform/problem.ts';
import { type EventId, parseEventId } from '../eventlog/eventlog.ts';
import type { Feed, Feeds } from './runbuffer.ts';
import type { Run } from '../runs/runs.ts';
import { createStreamQuota } from './streamquota.ts';

export interface Readers {
  /** Answers the request with the stream. Throws 429 `too_many_streams`, counted by the user whose run it is. */
  read(reply: FastifyReply, run: Run, lastEventId: EventId | undefined): Promise<void>;
  /** Streams of ended runs are delivered to their end; the others break off, to be resumed elsewhere. */
  close(): Promise<void>;
}

/** docs/specification/agent.md#streams: a comment at least every 15 s. */
const defaultHeartbeatEveryMs = 10_000;
/** A socket that takes nothing for so long is given up. */
const defaultStalledAfterMs = 60_000;
const closingMs = 3000;
const defaultMaxStreamsPerUser = 100;

const headers = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  'x-vercel-ai-ui-message-stream': 'v1',
};

/** Malformed: 400. */
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

export function createReaders(feeds: Feeds, pace: ReadersPace = {}): Readers {
  const { heartbeatEveryMs = defaultHeartbeatEveryMs, stalledAfterMs = defaultStalledAfterMs } = pace;
  const readers = new Set<Reader>();
  const countStream = createStreamQuota(pace.maxStreamsPerUser ?? defaultMaxStreamsPerUser);
  let lastReaderLeft: () => void = () => undefined;
  const beating = setInterval(() => {
    for (const reader of readers) reader.beat(stalledAfterMs);
  }, heartbeatEveryMs).unref();

  return {
    async read(reply, run, lastEventId) {
      const release = countStream(run.ownerId);
      const { feed, afterSeq, leave } = await feeds.open(run, lastEventId).catch((error: unknown) => {
        release();
        throw error;
      });
      if (reply.raw.destroyed) {
        release();
        return leave();
      }
      reply.hijack();
      reply.raw.writeHead(200, { ...reply.getHeaders(), ...headers } as Record<string, string>);
      const reader = new Reader(reply.raw, feed, afterSeq);
      readers.add(reader);
      reply.raw.once('close', () => {
        reader.stop();
        leave();
        release();
        readers.delete(reader);
        if (readers.size === 0) lastReaderLeft();
      });
      reader.start();
    },
    async close() {
      for (const reader of readers) reader.breakOff();
      if (readers.size > 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        lastReaderLeft = resolve;
        const tooLate = setTimeout(resolve, closingMs);
        await promise;
        clearTimeout(tooLate);
      }
      clearInterval(beating);
      for (const reader of readers) reader.destroy();
    },
  };
}

class Reader {
  readonly #response: ServerResponse;
  readonly #feed: Feed;
  #afterSeq: number;
  /** Of the batch to look at next: batches are only ever added. */
  #next = 0;
  #blockedAtMs: number | undefined;
  #unsubscribe: () => void = () => undefined;

  constructor(response: ServerResponse, feed: Feed, afterSeq: number) {
    this.#response = response;
    this.#feed = feed;
    this.#afterSeq = afterSeq;
  }

  start(): void {
    this.#response.on('drain', () => {
      this.#blockedAtMs = undefined;
      this.#pump();
    });
    this.#unsubscribe = this.#feed.subscribe(() => this.#pump());
    this.#response.flushHeaders();
    this.#pump();
  }

  stop(): void {
    this.#unsubscribe();
  }

  beat(stalledAfterMs: number): void {
    if (this.#blockedAtMs === undefined) this.#write(': still here\n\n');
    else if (performance.now() - this.#blockedAtMs > stalledAfterMs) this.destroy();
  }

  breakOff(): void {
    if (!this.#feed.ended) this.#response.end();
  }

  destroy(): void {
    this.#response.destroy();
  }

  #pump(): void {
    if (this.#blockedAtMs !== undefined || this.#response.writableEnded) return;
    const { batches } = this.#feed;
    for (let batch = batches[this.#next]; batch !== undefined; batch = batches[this.#next]) {
      this.#next += 1;
      if (batch.lastSeq <= this.#afterSeq) continue;
      const isWhole = batch.firstSeq > this.#afterSeq;
      const rest = isWhole ? batch.bytes : batch.frames.slice(this.#afterSeq - batch.firstSeq + 1).join('');
      this.#afterSeq = batch.lastSeq;
      if (!this.#write(rest)) return;
    }
    // An id beyond the end is answered, never waited for.
    if (this.#feed.ended || this.#afterSeq === Number.POSITIVE_INFINITY) this.#response.end('data: [DONE]\n\n');
  }

  #write(bytes: Buffer | string): boolean {
    if (this.#response.writableEnded) return false;
    const takesMore = this.#response.write(bytes);
    if (!takesMore) this.#blockedAtMs = performance.now();
    return takesMore;
  }
}
