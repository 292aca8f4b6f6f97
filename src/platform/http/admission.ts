/**
 * Which requests are served: none while the service drains, and no more at once than it can work on. What waits for its
 * client does not count as work: a body that is still arriving, and a transfer (transfers.ts).
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';
import { invalid, problems } from '../problem.ts';
import { countHeader } from './headers.ts';
import type { HttpServer, ServerOptions } from './httpserver.ts';
import { addTransfers } from './transferring.ts';

/** Asked by whoever decides whether to send us less: they are answered however busy we are. */
const alwaysAnswered: ReadonlySet<string | undefined> = new Set(['/', '/health', '/ready', '/metrics']);
/** After the last answer: for sockets that are neither idle nor asking, such as one that never sent its headers. */
const closingGraceMs = 500;
/** Bodies that arrive at once: at 1 MiB each, the most that they hold in memory is 1 GiB. */
const maxArriving = 1000;
/** When there is no room for another body, one that has taken longer than this makes room. */
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
  /** Requests that have not been answered. */
  let open = 0;
  let inFlight = 0;
  let draining = false;
  let windingDown: Promise<void> | undefined;
  let lastAnswered: () => void = () => undefined;

  const isFull = (route: string | undefined) => inFlight >= maxInFlight && !alwaysAnswered.has(route);
  const takePlace = (reply: FastifyReply) => {
    inFlight += 1;
    reply.holdsPlace = true;
  };
  const leavePlace = (reply: FastifyReply) => {
    if (reply.holdsPlace) inFlight -= 1;
    reply.holdsPlace = false;
  };

  app.decorateReply('holdsPlace', false);
  app.addHook('onRequest', (request, reply, done) => {
    if (draining && !servedWhileDraining(request))
      // `/health` says so too, for load balancers that watch it.
      return done(problems.draining(request.routeOptions.url === '/health' ? { fields: { status: 'draining' } } : {}));
    if (countHeader(request, 'host') > 1) return done(invalid('headers.host', 'must be there once'));
    // Before its body is read. Another method on a known path is an unknown route as well.
    if (request.is404) return done(problems.not_found());
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1')
      return done(invalid('headers.host', 'must be there'));
    if (!mayServe() && !alwaysAnswered.has(request.routeOptions.url))
      return done(problems.engine_unavailable({ cause: new Error('the lease of this service is lost') }));
    if (options.standing?.(request.routeOptions.url)) return done();
    if (isFull(request.routeOptions.url)) return done(problems.overloaded());
    if (!hasBody(request.raw)) takePlace(reply);
    else if (!arrivals.add(reply)) return done(problems.overloaded());
    open += 1;
    reply.raw.on('close', () => {
      arrivals.remove(reply);
      leavePlace(reply);
      open -= 1;
      if (open === 0) lastAnswered();
    });
    done();
  });
  app.addHook('preValidation', (request, reply, done) => {
    if (!arrivals.remove(reply)) return done();
    if (isFull(request.routeOptions.url)) return done(problems.overloaded());
    takePlace(reply);
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (draining) reply.header('connection', 'close');
    done();
  });
  addTransfers(app, options, {
    leavePlace,
    isAlwaysAnswered: (request) => alwaysAnswered.has(request.routeOptions.url),
  });

  async function finishInFlight(): Promise<void> {
    if (open === 0) return;
    const { promise: answered, resolve } = Promise.withResolvers<void>();
    lastAnswered = resolve;
    const tooLate = setTimeout(resolve, drainTimeoutMs);
    // A socket whose last answer began before the draining has not been told to close.
    const sweeping = setInterval(() => app.server.closeIdleConnections(), 100);
    await answered;
    clearTimeout(tooLate);
    clearInterval(sweeping);
  }

  app.decorate('drain', async () => {
    draining = true;
    // Sockets that are idle stay: a request may be on its way to us, which deserves an answer, with `connection: close`.
    windingDown ??= onDrain?.() ?? Promise.resolve();
    await windingDown;
    await finishInFlight();
  });
  app.addHook('preClose', async () => {
    await app.drain();
    if (open > 0) app.log.warn({ inFlight: open }, 'requests in flight are cut off');
    const closing = setTimeout(() => app.server.closeAllConnections(), open > 0 ? 0 : closingGraceMs);
    app.server.once('close', () => clearTimeout(closing));
  });
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Requests whose bodies are arriving, the oldest first. */
function createArrivals() {
  /** Reply → when its body began. */
  const arriving = new Map<FastifyReply, number>();
  return {
    /** `false`: there is no room. */
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
    /** `false`: it was not one of them. */
    remove: (reply: FastifyReply) => arriving.delete(reply),
  };
}
