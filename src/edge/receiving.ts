/** The body of an upload, with limits enforced while it arrives, and all uploads in progress. */
import type { IncomingMessage } from 'node:http';
import { finished, Transform } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { slowestTransfer } from '#platform/http/transfers.ts';
import { problems } from '#platform/problem.ts';
import { edgeProblems } from './problems.ts';

export interface BodyLimits {
  readonly minBytes?: number | undefined;
  readonly maxBytes: number;
  /** Called with the length of a body that is too short or too long. */
  readonly wrongSize: (bytes: number) => Error;
  /** Called with the length of each chunk before it is passed on. Returns `false` if there is no room for it. */
  readonly hasRoomFor: (bytes: number) => boolean;
  /** Called if there is no room for a chunk, or if another transfer needs the place of this one. */
  readonly noRoom: () => Error;
}

/**
 * Returns a stream of the request's body. `stop` gets the first fault, and ends the stream or makes it fail. The request itself is not
 * destroyed, so the sender still gets a response. Throws `overloaded`.
 */
export function passBody(
  { raw: request }: FastifyRequest,
  reply: FastifyReply,
  limits: BodyLimits,
  stop: (body: Transform, fault: Error) => void,
): Transform {
  let received = 0;
  const body: Transform = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      const fault =
        received > limits.maxBytes
          ? limits.wrongSize(received)
          : limits.hasRoomFor(chunk.length)
            ? undefined
            : limits.noRoom();
      if (fault === undefined) return done(null, chunk);
      stop(body, fault);
      done();
    },
    flush(done) {
      done(received < (limits.minBytes ?? 0) ? limits.wrongSize(received) : null);
    },
  });
  reply.transfer({
    direction: 'in',
    movedBytes: () => received,
    waitsForServer: () => request.complete || body.writableNeedDrain,
    end: (reason) => stop(body, reason === 'slow' ? problems.request_timeout({ message: tooSlow }) : limits.noRoom()),
  });
  // This also handles a connection that was already lost.
  finished(request, { writable: false }, (error) => {
    if (error) stop(body, edgeProblems.upload_incomplete());
  });
  // This comes after every check, so that a rejected sender need not send its body.
  if (/\b100-continue\b/i.test(request.headers.expect ?? '')) reply.raw.writeContinue();
  return request.pipe(body);
}

const tooSlow = `The upload was slower than ${slowestTransfer} bytes a second.`;

/**
 * Discards what a rejected sender still sends for a limited time, so that it reads the response instead of a connection reset. Then
 * closes the connection.
 */
export function cutOffLater(request: IncomingMessage, afterMs: number): void {
  if (request.complete || request.destroyed) return;
  request.resume();
  const timer = setTimeout(() => request.socket.destroy(), afterMs);
  request.once('close', () => clearTimeout(timer));
}

// Uploads in progress in this process: one for each key, and a limited number of bytes in total.

export type Uploads = ReturnType<typeof createUploads>;

/** `makeRoom` ends the slowest upload, and returns `false` if none is slow enough. */
export function createUploads(deps: { readonly maxStagedBytes: number; readonly makeRoom: () => boolean }) {
  const running = new Set<string>();
  let stagedBytes = 0;
  return {
    /** Throws `upload_in_progress`. */
    begin: (bucket: string, key: string) => {
      const name = JSON.stringify([bucket, key]);
      if (running.has(name)) throw edgeProblems.upload_in_progress();
      running.add(name);
      let itsBytes = 0;
      let isOver = false;
      /** Always call this. A second call has no effect. */
      const end = () => {
        if (isOver) return;
        isOver = true;
        running.delete(name);
        stagedBytes -= itsBytes;
      };
      return {
        end,
        /** Counts bytes that have arrived. Returns `false` if there is no room for them. */
        add: (bytes: number) => {
          while (!isOver && stagedBytes + bytes > deps.maxStagedBytes) if (!deps.makeRoom()) return false;
          // This upload may itself have been ended to make room.
          if (isOver) return false;
          itsBytes += bytes;
          stagedBytes += bytes;
          return true;
        },
        /** Ends it first: its bytes no longer count, so no other upload must make room for the same bytes. */
        noRoom: () => {
          end();
          return problems.overloaded();
        },
      };
    },
  };
}
