/**
 * Connections from reverse proxies. A proxy keeps them open for its next request. If the server closed one when that request is on its
 * way, the proxy could not know whether a POST was processed, and would answer 502. So the proxy closes them first: deploy/nginx does
 * so after a second without a request.
 */
import { Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HttpServer } from './httpserver.ts';

export interface Proxied {
  /** No proxy has a connection open. */
  isEmpty(): boolean;
  /** Accepts no new connections, and resolves when proxies have closed theirs, or after `limitMs`. */
  ended(limitMs: number): Promise<void>;
}

export function watchProxied(app: HttpServer): Proxied {
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
    isEmpty: () => sockets.size === 0,
    ended: async (limitMs) => {
      await stopListening(app);
      if (sockets.size === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      onEmpty = resolve;
      const timer = setTimeout(resolve, limitMs);
      await promise;
      clearTimeout(timer);
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
