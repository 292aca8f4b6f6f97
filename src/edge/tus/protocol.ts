/** The tus resumable upload protocol, version 1.0.0 (https://tus.io/protocols/resumable-upload): core, expiration and termination. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { invalid, problems } from '#platform/problem.ts';
import { edgeProblems } from '../problems.ts';

export const tusVersion = '1.0.0';

/** Answers to OPTIONS. The uploads exist before the first request, so the creation extension is not among these. */
export const tusCapabilities = {
  'tus-resumable': tusVersion,
  'tus-version': tusVersion,
  'tus-extension': 'expiration,termination',
};

/** Headers of the protocol that pages may send and read, beside those of files. */
export const tusRequestHeaders = [
  'Tus-Resumable',
  'Upload-Length',
  'Upload-Offset',
  'Upload-Metadata',
  'X-HTTP-Method-Override',
  'X-Requested-With',
];
export const tusResponseHeaders = [
  'Tus-Resumable',
  'Tus-Version',
  'Tus-Extension',
  'Upload-Offset',
  'Upload-Length',
  'Upload-Expires',
];

/** For clients that can send neither PATCH nor DELETE, this header replaces the method. */
export function methodOf({ method, headers }: FastifyRequest): string {
  const override = headers['x-http-method-override'];
  return typeof override === 'string' ? override.toUpperCase() : method;
}

/** Throws 412. A request in another version must not be processed. */
export function assertVersion(request: FastifyRequest, reply: FastifyReply): void {
  if (request.headers['tus-resumable'] === tusVersion) return;
  reply.header('tus-version', tusVersion);
  throw edgeProblems.unsupported_version();
}

/** Throws 415 and 400. */
export function offsetOf({ headers }: FastifyRequest): number {
  if (headers['content-type']?.toLowerCase() !== 'application/offset+octet-stream')
    throw problems.unsupported_media_type({ message: 'The content type must be application/offset+octet-stream.' });
  const offset = headers['upload-offset'];
  if (typeof offset !== 'string' || !/^\d{1,15}$/.test(offset))
    throw invalid('headers.upload-offset', 'must be a whole number of bytes');
  return Number(offset);
}
