/** `/tus/<bucket>/<key>?…`: one resumable upload for each signed address. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { preflightHeaders } from '#platform/http/cors.ts';
import type { CorsRule, HttpServer } from '#platform/http/httpserver.ts';
import { problems } from '#platform/problem.ts';
import { assertVersion, methodOf, tusCapabilities, tusVersion } from './protocol.ts';
import { appendToUpload, describeUpload, type TusDeps, terminateUpload } from './uploads.ts';

/** Needs a server that parses no body. */
export function addTusRoutes(app: HttpServer, deps: TusDeps, cors: CorsRule): void {
  const url = '/tus/*';
  const tags = ['edge'];
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
  app.head(url, { schema: { tags, summary: 'Read the offset of a resumable upload' } }, handler);
  app.patch(url, { schema: { tags, summary: 'Send bytes of a resumable upload' } }, handler);
  app.delete(url, { schema: { tags, summary: 'Terminate a resumable upload' } }, handler);
  app.post(url, { schema: { tags, summary: 'Send another method as POST' } }, handler);
}
