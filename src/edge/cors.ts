/** Any web page may use an address that it was given: the address itself is the secret (CONTRACT §3). */
import type { HttpServer } from '#platform/http/server.ts';

const preflight = {
  'access-control-allow-methods': 'GET, HEAD, PUT',
  'access-control-allow-headers': [
    'Content-Type',
    'Content-Length',
    'Range',
    'If-Match',
    'If-None-Match',
    'If-Modified-Since',
    'If-Unmodified-Since',
    'If-Range',
    'Cache-Control',
    'X-Request-Id',
    'traceparent',
    'tracestate',
  ].join(', '),
  'access-control-max-age': '86400',
};

export function allowAnyOrigin(app: HttpServer): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      'access-control-allow-origin': '*',
      'access-control-expose-headers':
        'ETag, Content-Range, Accept-Ranges, Content-Length, Last-Modified, X-Request-Id',
      // Pages that isolate themselves may show the pictures too.
      'cross-origin-resource-policy': 'cross-origin',
    });
  });
  app.options('/*', async (_request, reply) => reply.code(204).headers(preflight).send());
}
