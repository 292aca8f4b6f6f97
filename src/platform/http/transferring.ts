/** Transfers of one server. `reply.transfer` starts one, and each large response is one. */

import { Gauge } from '@prometheus-io/client';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpServer, ServerOptions } from './httpserver.ts';
import { createTransfers, responseTransfer, type Transfer } from './transfers.ts';

/** Characters or bytes. The kernel accepts a smaller response at once, regardless of its reader. */
const largeAnswer = 16 * 1024;

interface TransferringOptions {
  readonly leavePlace: (reply: FastifyReply) => void;
  readonly isAlwaysServed: (request: FastifyRequest) => boolean;
}

/** Begins a transfer if the response is large. Returns why it is refused, if it is. */
type TransferIfLarge = (request: FastifyRequest, reply: FastifyReply, payload: unknown) => Error | undefined;

/** Returns what `onSend` calls. Not a hook of its own, because each hook costs time on every request. */
export function addTransfers(app: HttpServer, options: ServerOptions, deps: TransferringOptions): TransferIfLarge {
  const { leavePlace, isAlwaysServed } = deps;
  const { maxTransfers = 1000, transferWindowMs = 30_000 } = options;
  const transfers = createTransfers({ max: maxTransfers, windowMs: transferWindowMs });
  app.decorate('transfers', transfers);
  app.decorateReply('isTransfer', false);
  app.decorateReply('transfer', function (this: FastifyReply, transfer: Transfer) {
    if (this.raw.destroyed) return;
    const stop = transfers.begin(transfer);
    this.isTransfer = true;
    this.raw.once('close', stop);
    leavePlace(this);
  });
  new Gauge({
    name: 'http_transfers',
    help: 'Uploads (in), downloads and large responses (out) in progress.',
    labelNames: ['direction'],
    registers: [app.metrics],
    collect() {
      this.set({ direction: 'in' }, transfers.count('in'));
      this.set({ direction: 'out' }, transfers.count('out'));
    },
  });

  return (request, reply, payload) => {
    if (reply.isTransfer || !isWhole(payload)) return undefined;
    // The work is done, and only the reader determines how long the response takes.
    leavePlace(reply);
    if (payload.length <= largeAnswer) return undefined;
    try {
      reply.transfer(responseTransfer(reply.raw));
    } catch (error) {
      // Clients retry a 503 for any method, but only a GET is safe to process again.
      if (request.method === 'GET' && !isAlwaysServed(request)) return error as Error;
    }
    return undefined;
  };
}

function isWhole(payload: unknown): payload is string | Uint8Array {
  return typeof payload === 'string' || payload instanceof Uint8Array;
}
