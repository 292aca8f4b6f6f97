/** `/tus/<bucket>/<key>?…`: one resumable upload for each signed address. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { preflightHeaders } from '#platform/http/cors.ts';
import type { CorsRule, HttpServer } from '#platform/http/httpserver.ts';
import { routesOf } from '#platform/http/routes.ts';
import { problems } from '#platform/problem.ts';
import { assertVersion, methodOf, tusCapabilities, tusVersion } from './protocol.ts';
import { appendToUpload, describeUpload, type TusDeps, terminateUpload } from './uploads.ts';

/** Needs a server that parses no body. */
export function addTusRoutes(app: HttpServer, deps: TusDeps, cors: CorsRule): void {
  const url = '/tus/*';
  const routes = routesOf(app, 'edge');
  const preflight = { ...preflightHeaders(cors), ...tusCapabilities };
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('tus-resumable', tusVersion);
    assertVersion(request, reply);
    switch (methodOf(request)) {
      case 'HEAD':
        return describeUpload(deps, request, reply);
      case 'PATCH':
        return appendToUpload(deps, request, reply);
      case 'DELETE':
        return terminateUpload(deps, request, reply);
      default:
        throw problems.not_found();
    }
  };
  app.options(url, { schema: { hide: true } }, (_request, reply) => reply.code(204).headers(preflight).send());
  routes.head(url, {}, { summary: 'Read the offset of a resumable upload' }, handler);
  routes.patch(url, {}, { summary: 'Send bytes of a resumable upload' }, handler);
  routes.delete(url, {}, { summary: 'Terminate a resumable upload' }, handler);
  routes.post(url, {}, { summary: 'Send another method as POST' }, handler);
}
