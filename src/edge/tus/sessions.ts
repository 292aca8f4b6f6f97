/** The PATCH requests of this process that store bytes of resumable uploads: at most one for each upload. */

import type { Transform } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { problems } from '#platform/problem.ts';
import { edgeProblems } from '../problems.ts';
import { type BodyLimits, passBody } from '../receiving.ts';

// The body of a PATCH. Unlike the body of a PUT, what arrived before a fault is still read, because it will not be sent again.

interface Arrival {
  /** Ends normally, after a fault too. */
  readonly body: Transform;
  /** Why the body is not complete. */
  fault(): Error | undefined;
  stop(fault: Error): void;
}

/** Throws `overloaded`. */
export function receivePiece(request: FastifyRequest, reply: FastifyReply, limits: BodyLimits): Arrival {
  let fault: Error | undefined;
  const stop = (body: Transform, reason: Error) => {
    if (fault !== undefined || body.writableEnded) return;
    fault = reason;
    request.raw.unpipe(body);
    body.end();
  };
  const body = passBody(request, reply, limits, stop);
  return { body, fault: () => fault, stop: (reason) => stop(body, reason) };
}

/** A client whose connection broke unnoticed does not wait longer for its upload. */
const idleAfterMs = 5000;
/** Storing what has arrived takes less, unless the store is slow. */
const settlingMs = 5000;

export type Sessions = ReturnType<typeof createSessions>;

interface Running {
  readonly arrival: Arrival;
  readonly settled: Promise<void>;
  movedAtMs: number;
}

export function createSessions() {
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
    begin: (id: string, arrival: Arrival) => {
      const { promise: settled, resolve } = Promise.withResolvers<void>();
      const session = { arrival, settled, movedAtMs: performance.now() };
      running.set(id, session);
      return {
        /** Call this for each chunk that arrives. */
        moved: () => {
          session.movedAtMs = performance.now();
        },
        /** Always call this, when everything that arrived is stored. */
        settle: () => {
          if (running.get(id) === session) running.delete(id);
          resolve();
        },
      };
    },
    /**
     * Waits until no request stores bytes of the upload, if the one that does is over or idle. An idle one is ended. Returns `false` if
     * it is still under way.
     */
    yielded: async (id: string): Promise<boolean> => {
      const session = running.get(id);
      if (session === undefined) return true;
      return isOver(session) || isIdle(session) ? ended(session) : false;
    },
    /** As `yielded`, but ends a request that is not idle, too. */
    interrupt: async (id: string): Promise<boolean> => {
      const session = running.get(id);
      return session === undefined || ended(session);
    },
    /** Ends all requests, so that the process can stop. What arrived is stored. */
    drain: () => {
      for (const { arrival } of running.values()) arrival.stop(problems.draining());
    },
  };
}

/** The client has sent everything or has left, and the store is still writing. */
const isOver = ({ arrival }: Running): boolean => arrival.body.writableEnded || arrival.body.destroyed;

const isIdle = ({ arrival, movedAtMs }: Running): boolean =>
  performance.now() - movedAtMs >= idleAfterMs && arrival.body.readableLength === 0;
