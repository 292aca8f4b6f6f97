/** `/tus/<bucket>/<key>?…`: one resumable upload for each signed address. */

import type { FastifyReply, FastifyRequest } from 'fastify';
import { preflightHeaders } from '#platform/http/cors.ts';
import type { CorsRule, HttpServer } from '#platform/http/httpserver.ts';
import { routesOf, unguarded } from '#platform/http/routes.ts';
import { problems } from '#platform/problem.ts';
import type { EdgeContext } from '../context.ts';
import * as uploads from './uploads.ts';

const tus = ['not_found', 'upload_ended', 'unsupported_version', 'upload_in_progress'] as const;
const received = ['request_timeout', 'payload_too_large', 'unsupported_media_type'] as const;
const writing = [...tus, 'offset_conflict', 'upload_incomplete', ...received] as const;

/** Needs a server that parses no body. */
export function addTusRoutes(app: HttpServer, deps: EdgeContext, cors: CorsRule): void {
  const url = '/tus/*';
  const routes = routesOf(app, 'edge');
  const preflight = { ...preflightHeaders(cors), ...uploads.tusCapabilities };
  const handler = (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('tus-resumable', uploads.tusVersion);
    uploads.assertVersion(request, reply);
    switch (uploads.methodOf(request)) {
      case 'HEAD':
        return uploads.describeUpload(deps, request, reply);
      case 'PATCH':
        return uploads.appendToUpload(deps, request, reply);
      case 'DELETE':
        return uploads.terminateUpload(deps, request, reply);
      default:
        throw problems.not_found();
    }
  };
  app.options(url, { schema: { hide: true } }, (_request, reply) => reply.code(204).headers(preflight).send());
  routes.head(url, unguarded, {
    summary: 'Read the offset of a resumable upload',
    id: 'readUploadOffset',
    documentedPath: '/tus/:key',
    description: `Returns the offset of a resumable upload in the header \`Upload-Offset\` (tus 1.0.0). ${url}`,
    problems: tus,
    otherResponses: { 200: ['The headers describe the upload.'] },
    handler,
  });
  routes.patch(url, unguarded, {
    summary: 'Send bytes of a resumable upload',
    id: 'appendToUpload',
    documentedPath: '/tus/:key',
    description: 'Appends bytes at the current offset of a resumable upload (tus 1.0.0).',
    problems: writing,
    otherResponses: { 204: ['The bytes were stored. The header `Upload-Offset` is the new offset.'] },
    handler,
  });
  routes.delete(url, unguarded, {
    summary: 'Terminate a resumable upload',
    id: 'terminateUpload',
    documentedPath: '/tus/:key',
    description: 'Terminates a resumable upload and deletes its bytes (tus 1.0.0).',
    problems: tus,
    otherResponses: { 204: ['The upload was terminated.'] },
    handler,
  });
  routes.post(url, unguarded, {
    summary: 'Send another method as POST',
    id: 'sendUploadMethod',
    documentedPath: '/tus/:key',
    description:
      'Performs the method in `X-HTTP-Method-Override`: `HEAD`, `PATCH` or `DELETE`. Use it if a proxy blocks these methods.',
    problems: writing,
    otherResponses: { 200: ['The response of `HEAD`.'], 204: ['The response of `PATCH` and `DELETE`.'] },
    handler,
  });
}
