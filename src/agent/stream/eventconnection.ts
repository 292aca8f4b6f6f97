/** A response that carries server-sent events. It reports when its socket takes no more, and is given up if that lasts. */
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { agentProblems } from '../problems.ts';

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
