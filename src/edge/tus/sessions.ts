/** The PATCH requests of this process that store bytes of resumable uploads: at most one for each upload. */

import { finished, Transform } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { slowestTransfer } from '#platform/http/transfers.ts';
import { problems } from '#platform/problem.ts';
import { edgeProblems } from '../problems.ts';

// The body of a PATCH. Unlike the body of a PUT, what arrived before a fault is still read, because it will not be sent again.

interface Arrival {
  /** Ends normally, after a fault too. */
  readonly body: Transform;
  /** Why the body is not complete. */
  fault(): Error | undefined;
  stop(fault: Error): void;
}

interface ArrivalLimits {
  /** Bytes that the upload has left. */
  readonly maxBytes: number;
  readonly tooLarge: () => Error;
  /** Called with the length of each chunk before it is passed on. Returns `false` if there is no room for it. */
  readonly hasRoomFor: (bytes: number) => boolean;
  /** Called if there is no room for a chunk, or if another transfer needs the place of this one. */
  readonly noRoom: () => Error;
}

/** Throws `overloaded`. */
export function receivePiece({ raw: request }: FastifyRequest, reply: FastifyReply, limits: ArrivalLimits): Arrival {
  let received = 0;
  let fault: Error | undefined;
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      const found =
        received > limits.maxBytes ? limits.tooLarge() : limits.hasRoomFor(chunk.length) ? undefined : limits.noRoom();
      if (found === undefined) return done(null, chunk);
      stop(found);
      done();
    },
  });
  function stop(reason: Error): void {
    if (fault !== undefined || body.writableEnded) return;
    fault = reason;
    request.unpipe(body);
    body.end();
  }
  reply.transfer({
    direction: 'in',
    movedBytes: () => received,
    waitsForServer: () => request.complete || body.writableNeedDrain,
    end: (reason) => stop(reason === 'slow' ? problems.request_timeout({ message: tooSlow }) : limits.noRoom()),
  });
  // This also handles a connection that was already lost.
  finished(request, { writable: false }, (error) => {
    if (error) stop(edgeProblems.upload_incomplete());
  });
  // This comes after every check, so that a rejected sender need not send its body.
  if (/\b100-continue\b/i.test(request.headers.expect ?? '')) reply.raw.writeContinue();
  request.pipe(body);
  return { body, fault: () => fault, stop };
}

const tooSlow = `The upload was slower than ${slowestTransfer} bytes a second.`;

/** A client whose connection broke unnoticed does not wait longer for its upload. */
const idleAfterMs = 5000;
/** Storing what has arrived takes less, unless the store is slow. */
const settlingMs = 5000;

interface Session {
  /** Call this for each chunk that arrives. */
  moved(): void;
  /** Always call this, when everything that arrived is stored. */
  settle(): void;
}

export interface Sessions {
  begin(id: string, arrival: Arrival): Session;
  /**
   * Waits until no request stores bytes of the upload, if the one that does is over or idle. An idle one is ended. Returns `false` if it
   * is still under way.
   */
  yielded(id: string): Promise<boolean>;
  /** As `yielded`, but ends a request that is not idle, too. */
  interrupt(id: string): Promise<boolean>;
  /** Ends all requests, so that the process can stop. What arrived is stored. */
  drain(): void;
}

interface Running {
  readonly arrival: Arrival;
  readonly settled: Promise<void>;
  movedAtMs: number;
}

export function createSessions(): Sessions {
  const running = new Map<string, Running>();

  async function ended(session: Running): Promise<boolean> {
    session.arrival.stop(edgeProblems.upload_in_progress());
    const timeout = Promise.withResolvers<false>();
    const timer = setTimeout(() => timeout.resolve(false), settlingMs);
    try {
      return await Promise.race([session.settled.then(() => true), timeout.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    begin: (id, arrival) => {
      const { promise: settled, resolve } = Promise.withResolvers<void>();
      const session = { arrival, settled, movedAtMs: performance.now() };
      running.set(id, session);
      return {
        moved: () => {
          session.movedAtMs = performance.now();
        },
        settle: () => {
          if (running.get(id) === session) running.delete(id);
          resolve();
        },
      };
    },
    yielded: async (id) => {
      const session = running.get(id);
      if (session === undefined) return true;
      return isOver(session) || isIdle(session) ? ended(session) : false;
    },
    interrupt: async (id) => {
      const session = running.get(id);
      return session === undefined || ended(session);
    },
    drain: () => {
      for (const { arrival } of running.values()) arrival.stop(problems.draining());
    },
  };
}

/** The client has sent everything or has left, and the store is still writing. */
const isOver = ({ arrival }: Running): boolean => arrival.body.writableEnded || arrival.body.destroyed;

const isIdle = ({ arrival, movedAtMs }: Running): boolean =>
  performance.now() - movedAtMs >= idleAfterMs && arrival.body.readableLength === 0;
