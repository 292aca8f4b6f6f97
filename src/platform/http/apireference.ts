/**
 * The texts of a service's API reference: the description, the examples and the problems of each operation. Each service declares them
 * in its `reference.ts`. openapi.ts combines them with the routes and their schemas.
 */
import type { ProblemDefinition } from '../problem.ts';
import type { Schema } from './apidocument.ts';

export interface OperationReference<Code extends string = string> {
  /** The `operationId`. It is also the name of the typed client's function. */
  readonly id: string;
  readonly description: string;
  /** Codes beyond those that the credential and the body of an operation imply. */
  readonly problems?: readonly Code[];
  /** An example of the request body. */
  readonly example?: unknown;
  /** Successful responses that the route has no schema for, by status: a description, and the content type if there is a body. */
  readonly responses?: Readonly<Record<number, readonly [description: string, contentType?: string]>>;
  /** The path in the document, if the route has a wildcard. */
  readonly path?: string;
  /** The operation reads the session cookie. */
  readonly readsSession?: true;
}

export interface ApiReference {
  /** One or two sentences about the service. */
  readonly description: string;
  /** The description of each tag. */
  readonly tags?: Readonly<Record<string, string>>;
  readonly problems?: Readonly<Record<string, ProblemDefinition>>;
  /** Fields that the bodies of some problems have in addition, by code. */
  readonly problemFields?: Readonly<Record<string, Readonly<Record<string, Schema>>>>;
  /** The name of the session cookie, for operations that read it. */
  readonly sessionCookie?: string;
  /** By method and route: `POST /v1/uploads`. */
  readonly operations?: Readonly<Record<string, OperationReference>>;
}

/** Checks that the codes of the operations are in the table of problems or common to all services. */
export function defineReference<Code extends string>(
  reference: Omit<ApiReference, 'problems' | 'operations'> & {
    readonly problems: Readonly<Record<Code, ProblemDefinition>>;
    readonly operations: Readonly<Record<string, OperationReference<NoInfer<Code> | CommonCode>>>;
  },
): ApiReference {
  return reference;
}

type CommonCode =
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'request_timeout'
  | 'payload_too_large'
  | 'unsupported_media_type';

/** The operations that every service has. */
export const commonOperations: Readonly<Record<string, OperationReference>> = {
  'GET /': {
    id: 'ping',
    description: 'Returns the name of the service, its version, and the commit that it is built from.',
    responses: { 200: ['The result.', 'application/json'] },
  },
  'GET /health': {
    id: 'checkHealth',
    description: 'Returns 200 while the process runs, even if an engine fails. Use it as a liveness probe.',
    responses: { 200: ['The process runs.', 'application/json'] },
  },
  'GET /ready': {
    id: 'checkReadiness',
    description:
      'Checks the engines of the service at most once a second. Returns 503 if one does not respond. Use it as a readiness probe.',
    responses: {
      200: ['All engines respond.', 'application/json'],
      503: ['An engine does not respond.', 'application/json'],
    },
  },
  'GET /metrics': {
    id: 'readMetrics',
    description: 'Returns the metrics of the process in the text format of Prometheus.',
    responses: { 200: ['The metrics.', 'text/plain'] },
  },
  'GET /metrics/errors': {
    id: 'listErrors',
    description: 'Returns the last responses of the process with a 5xx status, with their request ids.',
  },
  'GET /openapi.json': {
    id: 'readOpenApi',
    description: 'Returns this document.',
    responses: { 200: ['The result.', 'application/json'] },
  },
  'GET /docs': {
    id: 'readReference',
    description: 'Shows this document as a page, with examples and a form for requests.',
    responses: { 200: ['The page.', 'text/html'] },
  },
};
