/** Transfers of one server: `reply.transfer` begins one, and each large answer is one. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Gauge } from 'prom-client';
import type { HttpServer, ServerOptions } from './httpserver.ts';
import { answering, createTransfers, type Transfer } from './transfers.ts';

/** Characters or bytes. The kernel takes a smaller answer at once, whatever its reader does. */
const largeAnswer = 16 * 1024;

interface TransferringDeps {
  readonly leavePlace: (reply: FastifyReply) => void;
  readonly isAlwaysAnswered: (request: FastifyRequest) => boolean;
}

export function addTransfers(app: HttpServer, options: ServerOptions, deps: TransferringDeps): void {
  const { leavePlace, isAlwaysAnswered } = deps;
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
  app.addHook<unknown>('onSend', (request, reply, payload, done) => {
    if (reply.isTransfer || !isWhole(payload)) return done();
    // The work is done: what is left is up to the reader.
    leavePlace(reply);
    if (payload.length <= largeAnswer) return done();
    try {
      reply.transfer(answering(reply.raw));
    } catch (error) {
      // Clients repeat a 503 of any method. The work of other methods than GET must not be done twice.
      if (request.method === 'GET' && !isAlwaysAnswered(request)) return done(error as Error);
    }
    done();
  });
  new Gauge({
    name: 'http_transfers',
    help: 'Uploads (in), downloads and large answers (out) under way.',
    labelNames: ['direction'],
    registers: [app.metrics],
    collect() {
      this.set({ direction: 'in' }, transfers.count('in'));
      this.set({ direction: 'out' }, transfers.count('out'));
    },
  });
}

function isWhole(payload: unknown): payload is string | Uint8Array {
  return typeof payload === 'string' || payload instanceof Uint8Array;
}
