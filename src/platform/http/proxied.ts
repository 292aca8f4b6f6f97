/**
 * Connections from reverse proxies. A proxy keeps them open for its next request. If the server closed one when that request is on its
 * way, the proxy could not know whether a POST was processed, and would answer 502. So the proxy closes them first: deploy/nginx does
 * so after a second without a request.
 */
import { Server, type Socket } from 'node:net';
import type { HttpServer } from './httpserver.ts';

export interface Proxied {
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
    ended: async (limitMs) => {
      stopListening(app);
      if (sockets.size === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      onEmpty = resolve;
      const timer = setTimeout(resolve, limitMs);
      await promise;
      clearTimeout(timer);
    },
  };
}

/** The method of `http` would also close idle connections. */
export const stopListening = (app: HttpServer) => void Server.prototype.close.call(app.server);
