/**
 * Readers of streams: server-sent events, resumable from any event (docs/specification/agent.md#streams). A reader is a
 * cursor into the event buffer of its run; a slow one waits for its own socket and delays no other.
 */

import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { invalid } from '#platform/problem.ts';
import { type EventId, parseEventId } from '../eventlog/eventlog.ts';
import { agentProblems } from '../problems.ts';
import type { Run } from '../runs/runstore.ts';
import type { RunEventBuffer, RunEventBuffers } from './runbuffer.ts';
import type { SignFrames } from './signing.ts';

const closingMs = 3000;

const headers = { 'x-vercel-ai-ui-message-stream': 'v1' };

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
  readonly #sign: SignFrames;
  readonly #open = new Map<EventConnection, RunEventBuffer>();
  readonly #countStream: StreamQuota;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #allLeft = Promise.withResolvers<void>();
  #isClosing = false;

  constructor(buffers: RunEventBuffers, sign: SignFrames, countStream: StreamQuota, pace: ReadersPace = {}) {
    const { heartbeatEveryMs = defaultHeartbeatEveryMs, stalledAfterMs = defaultStalledAfterMs } = pace;
    this.#buffers = buffers;
    this.#sign = sign;
    this.#countStream = countStream;
    this.#heartbeat = setInterval(() => {
      for (const connection of this.#open.keys()) connection.sendHeartbeat(stalledAfterMs);
    }, heartbeatEveryMs).unref();
  }

  /**
   * Counts a stream before its run exists; pass the result to `read`, or call it if there is nothing to read. Throws 429
   * `too_many_streams`.
   */
  reserve(userId: string): () => void {
    return this.#countStream(userId);
  }

  /** Responds with the stream, without its first `skipped` events. Throws 429 `too_many_streams`, counted for the user who owns the run. */
  async read(
    reply: FastifyReply,
    run: Run,
    lastEventId: EventId | undefined,
    release = this.#countStream(run.ownerId),
    skipped = 0,
  ): Promise<void> {
    const { buffer, afterSeq, leave } = await this.#buffers.open(run, lastEventId).catch((error: unknown) => {
      release();
      throw error;
    });
    if (reply.raw.destroyed) {
      release();
      return leave();
    }
    const connection = EventConnection.open(reply, headers);
    this.#open.set(connection, buffer);
    const sign = (frames: readonly string[]) => this.#sign(run.ownerId, frames);
    const stop = sendBatches(connection, buffer, Math.max(afterSeq, skipped), sign);
    connection.onClose(() => {
      stop();
      leave();
      release();
      this.#open.delete(connection);
      if (this.#isClosing && this.#open.size === 0) this.#allLeft.resolve();
    });
  }

  /** Delivers streams of ended runs to their end; breaks the others off, so that readers resume them elsewhere. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const [connection, buffer] of this.#open) if (!buffer.isEnded) connection.end();
    if (this.#open.size > 0) {
      const timeout = setTimeout(() => this.#allLeft.resolve(), closingMs);
      await this.#allLeft.promise;
      clearTimeout(timeout);
    }
    clearInterval(this.#heartbeat);
    for (const connection of this.#open.keys()) connection.destroy();
  }
}

/** Sends the events after `afterSeq`, those that are here and those that come. Returns a function that stops it. */
function sendBatches(
  connection: EventConnection,
  buffer: RunEventBuffer,
  afterSeq: number,
  sign: (frames: readonly string[]) => Promise<readonly string[]>,
): () => void {
  let sentSeq = afterSeq;
  /** The index of the next batch. */
  let next = 0;
  let isSigning = false;
  let isStopped = false;
  const send = () => {
    if (isSigning || connection.isBlocked || connection.isEnded) return;
    for (let batch = buffer.batches[next]; batch !== undefined; batch = buffer.batches[next]) {
      next += 1;
      if (batch.lastSeq <= sentSeq) continue;
      const isWhole = batch.firstSeq > sentSeq;
      const frames = isWhole ? batch.frames : batch.frames.slice(sentSeq - batch.firstSeq + 1);
      sentSeq = batch.lastSeq;
      if (batch.hasAssets) return void sendSigned(frames);
      if (!connection.write(isWhole ? batch.bytes : frames.join(''))) return;
    }
    // A reader whose id is beyond the end gets the end of the stream at once.
    if (buffer.isEnded || sentSeq === Number.POSITIVE_INFINITY) connection.end('data: [DONE]\n\n');
  };
  /** Later batches wait, so that events stay in order. */
  const sendSigned = async (frames: readonly string[]) => {
    isSigning = true;
    const signed = await sign(frames);
    isSigning = false;
    if (!isStopped && connection.write(signed.join(''))) send();
  };
  connection.onDrain(send);
  const unlisten = buffer.listen(send);
  send();
  return () => {
    isStopped = true;
    unlisten();
  };
}

// A response that carries server-sent events. It reports when its socket takes no more, and is given up if that lasts.

const eventHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

/** docs/specification/agent.md#streams: a comment at least every 15 s. */
export const defaultHeartbeatEveryMs = 10_000;
/** A socket that accepts nothing for this long is destroyed. */
export const defaultStalledAfterMs = 60_000;

export class EventConnection {
  readonly #response: ServerResponse;
  #blockedAtMs: number | undefined;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** Takes the response over from Fastify and sends its head. */
  static open(reply: FastifyReply, headers: Readonly<Record<string, string>> = {}): EventConnection {
    reply.hijack();
    reply.raw.writeHead(200, { ...reply.getHeaders(), ...eventHeaders, ...headers } as Record<string, string>);
    reply.raw.flushHeaders();
    return new EventConnection(reply.raw);
  }

  /** Whether the socket has to drain before it takes more. */
  get isBlocked(): boolean {
    return this.#blockedAtMs !== undefined;
  }

  get isEnded(): boolean {
    return this.#response.writableEnded;
  }

  onDrain(resume: () => void): void {
    this.#response.on('drain', () => {
      this.#blockedAtMs = undefined;
      resume();
    });
  }

  onClose(leave: () => void): void {
    this.#response.once('close', leave);
  }

  /** `false` if the socket takes no more: the text is sent, and the next one has to wait. */
  write(text: Buffer | string): boolean {
    if (this.#response.writableEnded) return false;
    const takesMore = this.#response.write(text);
    if (!takesMore) this.#blockedAtMs = performance.now();
    return takesMore;
  }

  /** Sends a comment, or destroys the connection if it has been blocked for too long. */
  sendHeartbeat(stalledAfterMs: number): void {
    if (this.#blockedAtMs === undefined) this.write(': still here\n\n');
    else if (performance.now() - this.#blockedAtMs > stalledAfterMs) this.destroy();
  }

  end(text?: string): void {
    this.#response.end(text);
  }

  destroy(): void {
    this.#response.destroy();
  }
}

// Counts the streams that one user has open in this process: each holds a socket and memory until its reader leaves.

/** Throws `too_many_streams` (429). Returns the function that releases the stream; further calls of it do nothing. */
export type StreamQuota = (userId: string) => () => void;

const defaultMaxStreamsPerUser = 100;

export function createStreamQuota(maxStreamsPerUser = defaultMaxStreamsPerUser): StreamQuota {
  const open = new Map<string, Set<symbol>>();
  return (userId) => {
    const streams = open.get(userId) ?? new Set();
    if (streams.size >= maxStreamsPerUser) throw agentProblems.too_many_streams();
    const stream = Symbol();
    open.set(userId, streams.add(stream));
    return () => {
      streams.delete(stream);
      if (streams.size === 0 && open.get(userId) === streams) open.delete(userId);
    };
  };
}
