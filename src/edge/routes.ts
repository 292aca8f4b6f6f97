/** The edge's addresses: who may ask, and what is true of every answer. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { traceHeaders } from '#platform/http/cors.ts';
import type { CorsRule, HttpServer } from '#platform/http/httpserver.ts';
import { type CdnDeps, sendVariant } from './cdn.ts';
import { type FileDeps, receiveFile, sendFile } from './files.ts';
import { cutOffLater } from './receiving.ts';
import { type ResizingDeps, sendResized } from './resizing.ts';
import { withoutObjectHeaders } from './sending.ts';

/** Any page may use an address that it was given: the address is the secret (docs/specification/http.md#cors). */
export const anyOrigin: CorsRule = {
  origins: '*',
  methods: ['GET', 'HEAD', 'PUT'],
  allowedHeaders: [
    'Content-Type',
    'Content-Length',
    'Range',
    'If-Range',
    'If-Match',
    'If-None-Match',
    'If-Modified-Since',
    'If-Unmodified-Since',
    'Cache-Control',
    'X-Request-Id',
    ...traceHeaders,
  ],
  exposedHeaders: [
    'ETag',
    'Content-Range',
    'Accept-Ranges',
    'Content-Length',
    'Last-Modified',
    'Retry-After',
    'X-Request-Id',
  ],
};

/** How long a refused sender is listened to, so that it reads the answer. */
const lingerMs = 5000;
/** A sender that was too slow is listened to for less. */
const slowLingerMs = 1000;

type RouteDeps = FileDeps & CdnDeps & ResizingDeps;

export function addRoutes(app: HttpServer, deps: RouteDeps): void {
  // Pages that isolate themselves may show the pictures too.
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cross-origin-resource-policy', 'cross-origin');
  });
  // An error is never kept, and never described by the headers of the object that it is not.
  app.addHook('onSend', async (_request, reply) => {
    if (reply.statusCode >= 400) withoutObjectHeaders(reply).header('cache-control', 'no-store');
  });

  // On every route: an unread body could otherwise arrive for as long as an upload may take.
  app.addHook('onResponse', async (request, reply) => {
    cutOffLater(request.raw, reply.statusCode === 408 ? slowLingerMs : lingerMs);
  });

  const read = (url: string, summary: string, handler: Handler) =>
    app.route({ method: ['GET', 'HEAD'], url, schema: { tags: ['edge'], summary }, handler });
  read('/o/*', 'Read a file by its signed address', (request, reply) => sendFile(deps, request, reply));
  read('/img/*', 'Read a variant', (request, reply) => sendVariant(deps, request, reply));
  // imgproxy's addresses start with their signature.
  read('/*', 'Resize a picture by an imgproxy address', (request, reply) => sendResized(deps, request, reply));
  app.register(async (uploads) => addUploads(uploads, deps));
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** The body is a stream of any type, and no limit but the signed ones counts. */
function addUploads(app: HttpServer, deps: FileDeps): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  const schema = { tags: ['edge'], summary: 'Upload a file to its signed address' };
  app.put('/o/*', { schema }, (request, reply) => receiveFile(deps, request, reply));
}
