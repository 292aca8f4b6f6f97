/** Which requests are taken on: none while the service drains (CONTRACT §§1 and 3), no more at once than it can hold. */
import { invalid, problems } from '../problem.ts';
import { countHeader } from './headers.ts';
import type { HttpServer, ServerOptions } from './httpserver.ts';

/** Asked by whoever decides whether to send us less: they are answered however busy we are. */
const alwaysAnswered: ReadonlySet<string | undefined> = new Set(['/', '/health', '/ready', '/metrics']);
/** After the last answer: for sockets that are neither idle nor asking, such as one that never sent its headers. */
const closingGraceMs = 500;

export function admitRequests(app: HttpServer, options: ServerOptions): void {
  const {
    maxInFlight = 1000,
    drainTimeoutMs = 10_000,
    servedWhileDraining = () => false,
    mayServe = () => true,
    onDrain,
  } = options;
  let inFlight = 0;
  let draining = false;
  let windingDown: Promise<void> | undefined;
  let lastAnswered: () => void = () => undefined;

  app.addHook('onRequest', (request, reply, done) => {
    if (draining && !servedWhileDraining(request))
      // `/health` says so too, for whoever takes an instance out by it (document 001).
      return done(problems.draining(request.routeOptions.url === '/health' ? { fields: { status: 'draining' } } : {}));
    if (countHeader(request, 'host') > 1) return done(invalid('headers.host', 'must be there once'));
    // Before its body is read. Another method on a known path is an unknown route as well (CONTRACT §3 knows no 405).
    if (request.is404) return done(problems.not_found());
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1')
      return done(invalid('headers.host', 'must be there'));
    if (!mayServe() && !alwaysAnswered.has(request.routeOptions.url))
      return done(problems.engine_unavailable({ cause: new Error('the lease of this service is lost') }));
    if (options.standing?.(request.routeOptions.url)) return done();
    if (inFlight >= maxInFlight && !alwaysAnswered.has(request.routeOptions.url)) return done(problems.overloaded());
    inFlight += 1;
    reply.raw.on('close', () => {
      inFlight -= 1;
      if (inFlight === 0) lastAnswered();
    });
    done();
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (draining) reply.header('connection', 'close');
    done();
  });

  async function finishInFlight(): Promise<void> {
    if (inFlight === 0) return;
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
    if (inFlight > 0) app.log.warn({ inFlight }, 'requests in flight are cut off');
    const closing = setTimeout(() => app.server.closeAllConnections(), inFlight > 0 ? 0 : closingGraceMs);
    app.server.once('close', () => clearTimeout(closing));
  });
}
