/** The edge's routes, with the rules that apply to every response. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { traceHeaders } from '#platform/http/cors.ts';
import type { CorsRule, HttpServer } from '#platform/http/httpserver.ts';
import { type CdnDeps, sendVariant } from './cdn.ts';
import { type FileDeps, receiveFile, sendFile } from './files.ts';
import { cutOffLater } from './receiving.ts';
import { type ResizingDeps, sendResized } from './resizing.ts';
import { withoutObjectHeaders } from './sending.ts';
import { tusRequestHeaders, tusResponseHeaders } from './tus/protocol.ts';
import { addTusRoutes } from './tus/routes.ts';
import type { TusDeps } from './tus/uploads.ts';

/** Any page may use a URL that it received, because the URL is the secret (docs/specification/http.md#cors). */
export const anyOrigin: CorsRule = {
  origins: '*',
  methods: ['GET', 'HEAD', 'PUT', 'POST', 'PATCH', 'DELETE'],
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
    ...tusRequestHeaders,
  ],
  exposedHeaders: [
    'ETag',
    'Content-Range',
    'Accept-Ranges',
    'Content-Length',
    'Last-Modified',
    'Retry-After',
    'X-Request-Id',
    ...tusResponseHeaders,
  ],
};

/** How long the server continues to read from a rejected sender, so that the sender reads the response. */
const lingerMs = 5000;
/** The same for a sender that was too slow. */
const slowLingerMs = 1000;

type RouteDeps = FileDeps & CdnDeps & ResizingDeps & TusDeps;

export function addRoutes(app: HttpServer, deps: RouteDeps): void {
  // Cross-origin isolated pages may show the images too.
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cross-origin-resource-policy', 'cross-origin');
  });
  // An error must not be cached, and must not have headers of the object.
  app.addHook('onSend', async (_request, reply) => {
    if (reply.statusCode >= 400) withoutObjectHeaders(reply).header('cache-control', 'no-store');
  });

  // Applies to every route, because an unread body could otherwise arrive for as long as an upload may take.
  app.addHook('onResponse', async (request, reply) => {
    cutOffLater(request.raw, reply.statusCode === 408 ? slowLingerMs : lingerMs);
  });

  const read = (url: string, summary: string, handler: Handler) =>
    app.route({ method: ['GET', 'HEAD'], url, schema: { tags: ['edge'], summary }, handler });
  read('/o/*', 'Download a file by its signed URL', (request, reply) => sendFile(deps, request, reply));
  read('/img/*', 'Download a variant', (request, reply) => sendVariant(deps, request, reply));
  // imgproxy URLs start with their signature.
  read('/*', 'Resize an image by an imgproxy URL', (request, reply) => sendResized(deps, request, reply));
  app.register(async (uploads) => addUploads(uploads, deps));
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** The body is a stream of any type. Only the signed limits apply. */
function addUploads(app: HttpServer, deps: TusDeps): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  const schema = { tags: ['edge'], summary: 'Upload a file to its signed URL' };
  app.put('/o/*', { schema }, (request, reply) => receiveFile(deps, request, reply));
  addTusRoutes(app, deps, anyOrigin);
}
