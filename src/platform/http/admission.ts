/**
 * Decides which requests are served: none while the service drains, and otherwise at most as many as the limit allows. Requests
 * that wait for their client do not count: a body that is still arriving, and a transfer (transfers.ts).
 */
import type { IncomingMessage } from 'node:http';
import { Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Gauge } from '@prometheus-io/client';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { countHeader } from '../access/access.ts';
import { invalid, problems } from '../problem.ts';
import { waitAtMost } from '../resilience.ts';
import type { HttpServer, ServerOptions } from './httpserver.ts';
import { createTransfers, responseTransfer, type Transfer } from './transfers.ts';

/** Load balancers and monitors use these to route traffic, so they get a response even under full load. */
const alwaysServed: ReadonlySet<string | undefined> = new Set([
  '/',
  '/health',
  '/ready',
  '/metrics',
  '/metrics/errors',
]);
/** Time after the last response for sockets that are neither idle nor active, such as one that never sent its headers. */
const closingGraceMs = 500;
/** Time for reverse proxies to close their idle connections. */
const proxyGraceMs = 2000;
/** Bodies that may arrive concurrently. At 1 MiB each they use at most 1 GiB of memory. */
const maxArriving = 1000;
/** If there is no room for another body, a body that has taken longer than this is dropped. */
const slowArrivalMs = 2000;

export function admitRequests(app: HttpServer, options: ServerOptions): void {
  const {
    maxInFlight = 1000,
    drainTimeoutMs = 10_000,
    servedWhileDraining = () => false,
    mayServe = () => true,
    onDrain,
  } = options;
  const arrivals = createArrivals();
  const proxied = watchProxied(app);
  /** Requests without a response. */
  let open = 0;
  let inFlight = 0;
  let draining = false;
  let windingDown: Promise<void> | undefined;
  /** One for each drain that waits for the open requests. */
  const onIdle = new Set<() => void>();

  const isFull = (route: string | undefined) => inFlight >= maxInFlight && !alwaysServed.has(route);
  const takePlace = (reply: FastifyReply) => {
    inFlight += 1;
    reply.holdsPlace = true;
  };
  const leavePlace = (reply: FastifyReply) => {
    if (reply.holdsPlace) inFlight -= 1;
    reply.holdsPlace = false;
  };

  const leave = (reply: FastifyReply) => {
    arrivals.remove(reply);
    leavePlace(reply);
    open -= 1;
    if (open === 0) for (const resolve of onIdle) resolve();
  };

  app.decorateReply('holdsPlace', false);
  app.decorateReply('leavePlace', function (this: FastifyReply) {
    leavePlace(this);
  });
  app.addHook('onRequest', (request, reply, done) => {
    if (draining && !servedWhileDraining(request)) {
      // `/health` reports draining too, for load balancers that watch it.
      if (request.route === '/health') return done(problems.draining({ fields: { status: 'draining' } }));
      const elsewhere = refusalLocationOf(request);
      if (elsewhere !== undefined) reply.header('x-accel-redirect', elsewhere);
      return done(problems.draining());
    }
    if (countHeader(request, 'host') > 1) return done(invalid('headers.host', 'must be sent exactly once'));
    // Reject unknown routes before reading the body. Another method on a known path is an unknown route as well.
    if (request.is404) return done(problems.not_found());
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1')
      return done(invalid('headers.host', 'is required'));
    if (!mayServe() && !alwaysServed.has(request.route))
      return done(problems.engine_unavailable({ cause: new Error('the lease of this service is lost') }));
    if (options.isLongLived?.(request.route)) return done();
    if (isFull(request.route)) return done(problems.overloaded());
    if (!hasBody(request.raw)) takePlace(reply);
    else if (!arrivals.add(reply)) return done(problems.overloaded());
    open += 1;
    reply.onClose = leave;
    done();
  });
  app.addHook('preValidation', (request, reply, done) => {
    if (!arrivals.remove(reply)) return done();
    if (isFull(request.route)) return done(problems.overloaded());
    takePlace(reply);
    done();
  });
  const transferIfLarge = addTransfers(app, options, {
    leavePlace,
    isAlwaysServed: (request) => alwaysServed.has(request.route),
  });
  app.addHook<unknown>('onSend', (request, reply, payload, done) => {
    if (draining) reply.header('connection', 'close');
    const refusal = transferIfLarge(request, reply, payload);
    return refusal === undefined ? done() : done(refusal);
  });

  async function finishInFlight(): Promise<void> {
    if (open === 0) return;
    const { promise: idle, resolve } = Promise.withResolvers<void>();
    onIdle.add(resolve);
    // A socket whose last response began before draining did not get a `connection: close` header. Proxies close theirs themselves.
    const sweeping = setInterval(() => proxied.isEmpty() && app.server.closeIdleConnections(), 100);
    await waitAtMost(drainTimeoutMs, idle);
    onIdle.delete(resolve);
    clearInterval(sweeping);
  }

  app.decorate('drain', async () => {
    draining = true;
    // Idle sockets stay open: a request may already be on its way and must get a response with `connection: close`.
    windingDown ??= onDrain?.() ?? Promise.resolve();
    await windingDown;
    await finishInFlight();
  });
  app.addHook('preClose', async () => {
    await app.drain();
    if (open > 0) app.log.warn({ inFlight: open }, 'aborting requests in progress');
    else await proxied.ended(proxyGraceMs);
    const closing = setTimeout(() => app.server.closeAllConnections(), open > 0 ? 0 : closingGraceMs);
    app.server.once('close', () => clearTimeout(closing));
  });
}

/**
 * The location of nginx that sends the request to another process (deploy/nginx/drained.conf). nginx sets the header itself. A client
 * that sends it without nginx gets it back, and nothing happens.
 */
function refusalLocationOf({ headers }: FastifyRequest): string | undefined {
  const location = headers['x-refusal-location'];
  return typeof location === 'string' && /^@[a-z]{1,32}$/.test(location) ? location : undefined;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Requests whose bodies are arriving, the oldest first. */
function createArrivals() {
  /** Maps each reply to the time at which its body began. */
  const arriving = new Map<FastifyReply, number>();
  return {
    /** Returns `false` if there is no room. */
    add: (reply: FastifyReply): boolean => {
      if (arriving.size >= maxArriving) {
        const [oldest] = arriving;
        if (oldest === undefined || performance.now() - oldest[1] < slowArrivalMs) return false;
        arriving.delete(oldest[0]);
        oldest[0].raw.destroy();
      }
      arriving.set(reply, performance.now());
      return true;
    },
    /** Returns `false` if the reply was not in the list. */
    remove: (reply: FastifyReply) => arriving.delete(reply),
  };
}

// Transfers of one server. `reply.transfer` starts one, and each large response is one.

/** Characters or bytes. The kernel accepts a smaller response at once, regardless of its reader. */
const largeAnswer = 16 * 1024;

interface TransferringOptions {
  readonly leavePlace: (reply: FastifyReply) => void;
  readonly isAlwaysServed: (request: FastifyRequest) => boolean;
}

/** Begins a transfer if the response is large. Returns why it is refused, if it is. */
type TransferIfLarge = (request: FastifyRequest, reply: FastifyReply, payload: unknown) => Error | undefined;

/** Returns what `onSend` calls. Not a hook of its own, because each hook costs time on every request. */
function addTransfers(app: HttpServer, options: ServerOptions, deps: TransferringOptions): TransferIfLarge {
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

// Connections from reverse proxies. A proxy keeps them open for its next request. If the server closed one when that request is on its
// way, the proxy could not know whether a POST was processed, and would answer 502. So the proxy closes them first: deploy/nginx does
// so after a second without a request.

function watchProxied(app: HttpServer) {
  const sockets = new Set<Socket>();
  let onEmpty: (() => void) | undefined;
  app.addHook('onRequest', ({ headers, raw: { socket } }, _reply, done) => {
    if (headers['x-forwarded-for'] !== undefined && !sockets.has(socket)) {
      sockets.add(socket);
      socket.once('close', () => {
        sockets.delete(socket);
        if (sockets.size === 0) onEmpty?.();
      });
    }
    done();
  });
  return {
    /** No proxy has a connection open. */
    isEmpty: () => sockets.size === 0,
    /** Accepts no new connections, and resolves when proxies have closed theirs, or after `limitMs`. */
    ended: async (limitMs: number) => {
      await stopListening(app);
      if (sockets.size === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      onEmpty = resolve;
      await waitAtMost(limitMs, promise);
    },
  };
}

/**
 * Accepts no new connections. The kernel resets those that it has established and the server has not accepted yet, and then a proxy answers
 * 502 for a POST. So this waits for a short turn of the event loop that found none.
 */
export async function stopListening({ server }: HttpServer): Promise<void> {
  let accepted = false;
  const note = () => {
    accepted = true;
  };
  server.on('connection', note);
  // The rest of this turn may not look for connections.
  await nextTurn();
  const until = performance.now() + longestLookMs;
  while (performance.now() < until) {
    accepted = false;
    const begunMs = performance.now();
    await nextTurn();
    if (!accepted && performance.now() - begunMs < shortTurnMs) break;
  }
  server.off('connection', note);
  // The method of `http` would also close idle connections.
  Server.prototype.close.call(server);
}

const shortTurnMs = 0.5;
/** A server that never has a short turn stops after this. */
const longestLookMs = 1000;
