/** The body of an upload, kept to its limits while it comes in. */
import type { IncomingMessage } from 'node:http';
import { finished, Transform } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';

interface BodyLimits {
  /** Bytes; `undefined`: not known before the end. */
  readonly exactBytes: number | undefined;
  readonly maxBytes: number;
  /** Called with the length of each chunk before it is passed on. `false`: there is no room for it. */
  readonly hasRoomFor: (bytes: number) => boolean;
  readonly faults: {
    readonly tooLarge: () => Error;
    readonly wrongSize: () => Error;
    readonly noRoom: () => Error;
    readonly tooSlow: () => Error;
    /** The sender went away before the end. */
    readonly incomplete: () => Error;
  };
}

/**
 * A stream of the request's body that fails with one of the given errors. The request itself is not destroyed, so that
 * its sender can still be answered. Throws `overloaded`.
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
  // Also of a connection that was lost before this.
  finished(request, { writable: false }, (error) => {
    if (error) body.destroy(faults.incomplete());
  });
  // After every check, so that a refused sender need not send its body.
  if (/\b100-continue\b/i.test(request.headers.expect ?? '')) reply.raw.writeContinue();
  return request.pipe(body);
}

/**
 * What a refused sender is still sending is thrown away for a while, so that it comes to read its answer instead of
 * finding the connection reset; then the connection is cut.
 */
export function cutOffLater(request: IncomingMessage, afterMs: number): void {
  if (request.complete || request.destroyed) return;
  request.resume();
  const timer = setTimeout(() => request.socket.destroy(), afterMs);
  request.once('close', () => clearTimeout(timer));
}
