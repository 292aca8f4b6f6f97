/** The edge's routes, with the rules that apply to every response. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { mimeOfFormat } from '#image/engine/formats.ts';
import type { RouteTexts } from '#platform/http/apireference.ts';
import { traceHeaders } from '#platform/http/cors.ts';
import type { CorsRule, HttpServer } from '#platform/http/httpserver.ts';
import { problems } from '#platform/problem.ts';
import type { EdgeContext } from './context.ts';
import { receiveFile, sendFile } from './files.ts';
import { cutOffLater } from './receiving.ts';
import { sendResized } from './resizing.ts';
import { sendObject, withoutObjectHeaders } from './sending.ts';
import { targetOf } from './targets.ts';
import { addTusRoutes } from './tus/routes.ts';
import { tusRequestHeaders, tusResponseHeaders } from './tus/uploads.ts';

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

const file = {
  200: ['The bytes of the file.', 'application/octet-stream'],
  206: ['The requested range.', 'application/octet-stream'],
  304: ['The file matches `If-None-Match` or `If-Modified-Since`.'],
} as const;
const reading = ['not_found', 'condition_failed', 'range_not_satisfiable'] as const;
const url = 'Use the URL that the media service returned. The URL is the credential.';

/** How long the server continues to read from a rejected sender, so that the sender reads the response. */
const lingerMs = 5000;
/** The same for a sender that was too slow. */
const slowLingerMs = 1000;

export function addRoutes(app: HttpServer, deps: EdgeContext): void {
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

  const read = (url: string, schema: RouteTexts, handler: Handler) =>
    app.route({ method: ['GET', 'HEAD'], url, schema: { tags: ['edge'], ...schema }, handler });
  read(
    '/o/*',
    {
      summary: 'Download a file by its signed URL',
      id: 'downloadFile',
      documentedPath: '/o/:key',
      description: `Returns a file, or a range of it. ${url}`,
      problems: ['invalid_address', ...reading],
      otherResponses: file,
    },
    (request, reply) => sendFile(deps, request, reply),
  );
  read(
    '/img/*',
    {
      summary: 'Download a variant',
      id: 'downloadVariant',
      documentedPath: '/img/:key',
      description: 'Returns a variant that the image service has generated.',
      problems: reading,
      otherResponses: file,
    },
    (request, reply) => sendVariant(deps, request, reply),
  );
  // imgproxy URLs start with their signature.
  read(
    '/*',
    {
      summary: 'Resize an image by an imgproxy URL',
      id: 'resizeImage',
      documentedPath: '/:signature/:options/:source',
      description: 'Returns an image with the options of a signed imgproxy URL. The result is stored as a variant.',
      problems: [
        'invalid_address',
        ...reading,
        'unsupported_image',
        'undecodable_image',
        'image_too_large',
        'processing_timeout',
      ],
      otherResponses: file,
    },
    (request, reply) => sendResized(deps, request, reply),
  );
  app.register(async (uploads) => addUploads(uploads, deps));
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** The body is a stream of any type. Only the signed limits apply. */
function addUploads(app: HttpServer, deps: EdgeContext): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  const schema = {
    tags: ['edge'],
    summary: 'Upload a file to its signed URL',
    id: 'uploadFile',
    documentedPath: '/o/:key',
    description: `Stores a file. ${url} A second upload to the same URL returns 412.`,
    problems: [
      'invalid_address',
      'upload_incomplete',
      'not_found',
      'request_timeout',
      'already_exists',
      'upload_in_progress',
      'payload_too_large',
    ],
    otherResponses: { 200: ['The file was stored.'] },
  } as const;
  app.put('/o/*', { schema }, (request, reply) => receiveFile(deps, request, reply));
  addTusRoutes(app, deps, anyOrigin);
}

// Public variants: `GET|HEAD /img/…`, from the public bucket of any driver (docs/specification/image.md#variant-objects).

const contentTypes: Readonly<Record<string, string>> = {
  webp: mimeOfFormat.webp,
  jpg: mimeOfFormat.jpeg,
  png: mimeOfFormat.png,
};

/** A path that is not the key of a variant causes no lookup, regardless of its encoding. A variant never changes. */
async function sendVariant(deps: EdgeContext, request: FastifyRequest, reply: FastifyReply) {
  const { path } = targetOf(request.raw);
  const [, extension = ''] = /^\/img\/[0-9a-f]{2}\/[0-9a-f]{2}\/[\w-]+\.(webp|jpg|png)$/.exec(path) ?? [];
  const contentType = contentTypes[extension];
  if (contentType === undefined) throw problems.not_found();
  return sendObject(request, reply, {
    objects: deps.publicObjects,
    key: path.slice(1),
    contentType,
    cacheControl: 'public, max-age=31536000, immutable',
  });
}
