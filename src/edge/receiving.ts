/** The body of an upload, with limits enforced while it arrives, and all uploads in progress. */
import type { IncomingMessage } from 'node:http';
import { finished, Transform } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { edgeProblems } from './problems.ts';

interface BodyLimits {
  /** In bytes. `undefined`: not known before the end. */
  readonly exactBytes: number | undefined;
  readonly maxBytes: number;
  /** Called with the length of each chunk before it is passed on. Returns `false` if there is no room for it. */
  readonly hasRoomFor: (bytes: number) => boolean;
  readonly faults: {
    readonly tooLarge: () => Error;
    readonly wrongSize: () => Error;
    readonly noRoom: () => Error;
    readonly tooSlow: () => Error;
    /** The error for a sender that disconnects before the end. */
    readonly incomplete: () => Error;
  };
}

/**
 * Returns a stream of the request's body that fails with one of the given errors. The request itself is not destroyed, so the
 * sender still gets a response. Throws `overloaded`.
 */
export function receiveBody({ raw: request }: FastifyRequest, reply: FastifyReply, limits: BodyLimits): Transform {
  const { exactBytes, maxBytes, hasRoomFor, faults } = limits;
  let received = 0;
  const body = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.length;
      if (received > maxBytes) done(faults.tooLarge());
      else if (exactBytes !== undefined && received > exactBytes) done(faults.wrongSize());
      else if (!hasRoomFor(chunk.length)) done(faults.noRoom());
      else done(null, chunk);
    },
    flush(done) {
      done(exactBytes === undefined || received === exactBytes ? null : faults.wrongSize());
    },
  });
  reply.transfer({
    direction: 'in',
    movedBytes: () => received,
    waitsForServer: () => request.complete || body.writableNeedDrain,
    end: (reason) => body.destroy(reason === 'slow' ? faults.tooSlow() : faults.noRoom()),
  });
  // This also handles a connection that was already lost.
  finished(request, { writable: false }, (error) => {
    if (error) body.destroy(faults.incomplete());
  });
  // This comes after every check, so that a rejected sender need not send its body.
  if (/\b100-continue\b/i.test(request.headers.expect ?? '')) reply.raw.writeContinue();
  return request.pipe(body);
}

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
      return {
        /** Counts bytes that have arrived. Returns `false` if there is no room for them. */
        add: (bytes: number) => {
          while (!isOver && stagedBytes + bytes > deps.maxStagedBytes) if (!deps.makeRoom()) return false;
          // This upload may itself have been ended to make room.
          if (isOver) return false;
          itsBytes += bytes;
          stagedBytes += bytes;
          return true;
        },
        /** Always call this. A second call has no effect. */
        end: () => {
          if (isOver) return;
          isOver = true;
          running.delete(name);
          stagedBytes -= itsBytes;
        },
      };
    },
  };
}
