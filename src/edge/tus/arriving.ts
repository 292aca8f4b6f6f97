/**
 * The body of a PATCH. Unlike the body of a PUT, what arrived before a fault is still read, because it will not be sent
 * again.
 */
import { finished, Transform } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { slowestTransfer } from '#platform/http/transfers.ts';
import { problems } from '#platform/problem.ts';
import { edgeProblems } from '../problems.ts';

export interface Arrival {
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
