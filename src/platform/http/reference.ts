/**
 * `GET /openapi.json` (3.1) and `GET /docs`, both generated from the routes and their schemas
 * (docs/specification/http.md#service-endpoints).
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RouteOptions } from 'fastify';
import type { ApiDocument } from './apidocument.ts';
import { describeOperation } from './apireference.ts';
import type { HttpServer, ServerOptions } from './httpserver.ts';
import { renderReferencePage } from './referencepage.ts';

const css = readFileSync(new URL('./reference.css', import.meta.url), 'utf8');
const cssHash = createHash('sha256').update(css).digest('base64');
const script = readFileSync(new URL('./reference.js', import.meta.url), 'utf8');
/** The page runs only the script of this service, which calls only this service. */
const pagePolicy = `default-src 'none'; style-src 'sha256-${cssHash}'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export function addReference(app: HttpServer, options: Pick<ServerOptions, 'service' | 'reference'>): void {
  const routes: RouteOptions[] = [];
  let document: Promise<ApiDocument> | undefined;
  let page: string | undefined;
  app.addHook('onRoute', (route) => void routes.push(route));
  // Loaded on first use, so that a start does not wait for it.
  const describeService = () =>
    (document ??= import('./openapi.ts').then((api) => api.describeRoutes(routes, options)));

  app.get(
    '/openapi.json',
    {
      schema: describeOperation({
        id: 'readOpenApi',
        summary: 'Read the OpenAPI document',
        description: 'Returns this document.',
        otherResponses: { 200: ['The result.', 'application/json'] },
      }),
    },
    describeService,
  );
  app.get(
    '/docs',
    {
      schema: describeOperation({
        id: 'readReference',
        summary: 'Show the reference page',
        description: 'Shows this document as a page, with examples and a form for requests.',
        otherResponses: { 200: ['The page.', 'text/html'] },
      }),
    },
    async (_request, reply) => {
      page ??= renderReferencePage(await describeService(), css);
      return reply.header('content-security-policy', pagePolicy).type('text/html; charset=utf-8').send(page);
    },
  );
  app.get('/docs/reference.js', { schema: { hide: true } }, async (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(script),
  );
}
