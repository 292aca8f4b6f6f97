/** The edge's addresses. What a client may cache, read and show from another origin is decided here and in the deeds. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpServer } from '#platform/http/server.ts';
import { type CdnDeps, sendVariant } from './cdn.ts';
import { allowAnyOrigin } from './cors.ts';
import { type FileDeps, receiveFile, sendFile } from './files.ts';
import { cutOffLater } from './receiving.ts';
import { type ResizingDeps, sendResized } from './resizing.ts';
import { withoutObjectHeaders } from './sending.ts';

/** How long a refused upload is listened to, so that its sender reads the answer. */
const lingerMs = 5000;

export type RouteDeps = FileDeps & CdnDeps & ResizingDeps;

export function addRoutes(app: HttpServer, deps: RouteDeps): void {
  const read = ['GET', 'HEAD'];
  allowAnyOrigin(app);
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('x-content-type-options', 'nosniff');
  });
  app.addHook('onSend', async (_request, reply) => {
    // An error is never kept, and never described by the headers of the object that it is not.
    if (reply.statusCode >= 400) withoutObjectHeaders(reply).header('cache-control', 'no-store');
  });

  app.route({ method: read, url: '/o/*', handler: (request, reply) => sendFile(deps, request, reply) });
  app.route({ method: read, url: '/img/*', handler: (request, reply) => sendVariant(deps, request, reply) });
  // imgproxy's addresses start with their signature.
  app.route({ method: read, url: '/*', handler: (request, reply) => sendResized(deps, request, reply) });

  app.register(async (uploads) => {
    // The body is a stream of any type, and no limit but the signed ones counts.
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser('*', (_request, _payload, done) => done(null));
    uploads.addHook('onResponse', async (request) => cutOffLater(request.raw, lingerMs));
    uploads.put('/o/*', (request: FastifyRequest, reply: FastifyReply) => receiveFile(deps, request, reply));
  });
}
