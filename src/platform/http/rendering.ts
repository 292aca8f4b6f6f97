/** Converts every error to a response (docs/specification/http.md#errors: `error`, `message`, `requestId`, `issues`). */
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { invalid, Problem, problems } from '../problem.ts';
import { unknownField } from './bodies.ts';
import type { HttpServer } from './httpserver.ts';
import type { RememberError } from './servererrors.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Fields that the errors of a route have in addition to the common ones. */
    errorFields?: (problem: Problem) => Readonly<Record<string, unknown>>;
    /** The page that shows an error in a browser, with headers of its own. `undefined`: the client gets the document. */
    errorPage?: (problem: Problem, request: FastifyRequest, reply: FastifyReply) => string | undefined;
  }
}

/** Routes override these where a page or a file needs it. */
export const commonHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

export function renderProblems(app: HttpServer, remember: RememberError): void {
  app.setErrorHandler((error: unknown, request, reply) => {
    const problem = toProblem(error);
    // Only 5xx are logged as errors.
    if (problem.status >= 500) {
      request.log.error({ err: problem.cause ?? error, code: problem.code }, problem.message);
      remember(problem, request);
    }
    return render(problem, request, reply);
  });
  app.setNotFoundHandler(() => {
    throw problems.not_found();
  });
}

function render(problem: Problem, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { retryAfterS } = problem.details;
  if (retryAfterS !== undefined) reply.header('retry-after', String(retryAfterS));
  // Fastify would close the connection, and a client that is still sending might never read the response.
  reply.removeHeader('connection');
  reply.code(problem.status);
  const { errorFields, errorPage } = request.routeOptions.config ?? {};
  const page = errorPage?.(problem, request, reply);
  if (page !== undefined) return reply.type('text/html; charset=utf-8').send(page);
  return reply.type('application/json; charset=utf-8').send(describe(problem, request.id, errorFields?.(problem)));
}

function describe(problem: Problem, requestId: string, more: Readonly<Record<string, unknown>> = {}): string {
  const { issues, fields } = problem.details;
  const common = { error: problem.code, message: problem.message, requestId, ...(issues ? { issues } : {}) };
  return JSON.stringify({ ...common, ...more, ...fields });
}

/** A path that cannot be decoded never reaches a route or its hooks. */
export function renderBadUrl(_error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  reply.headers(commonHeaders).header('x-request-id', request.id);
  void render(invalid('url', 'must be a valid URL'), request, reply);
}

const badHttp: Readonly<Record<string, Problem>> = {
  ERR_HTTP_REQUEST_TIMEOUT: problems.request_timeout(),
  HPE_HEADER_OVERFLOW: problems.headers_too_large(),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: problems.payload_too_large(),
};

/** Writes the raw response to bytes that Node could not parse as HTTP, and closes the connection. */
export function refuseBadHttp(error: Error & { readonly code?: string }, socket: Socket): void {
  // Node stores the current response on the socket. Writing a second one after its start would corrupt it.
  const current: unknown = Reflect.get(socket, '_httpMessage');
  const hasStarted = typeof current === 'object' && current !== null && Reflect.get(current, 'headersSent') === true;
  if (error.code === 'ECONNRESET' || !socket.writable || hasStarted) return void socket.destroy();
  const problem = badHttp[error.code ?? ''] ?? problems.invalid_request({ message: 'The request is not valid HTTP.' });
  const requestId = randomUUID();
  const body = describe(problem, requestId);
  socket.end(
    [
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: ${requestId}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

/** Fastify's own errors have a code. An error without a known code is internal, and its message stays private. */
function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (hasZodFastifySchemaValidationErrors(error)) return validationProblem(error);
  const { code, statusCode }: Partial<FastifyError> = error instanceof Error ? error : {};
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return problems.payload_too_large();
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return problems.unsupported_media_type();
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return invalid('body', 'must be JSON');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalid('headers.content-length', 'must be the length of the body');
    case 'ECONNRESET':
      // The client disconnected while sending its body. It is not a server error, and the response has no reader.
      return statusCode === 400
        ? problems.invalid_request({ cause: error })
        : problems.internal_error({ cause: error });
    default:
      return problems.internal_error({ cause: error });
  }
}

const maxIssues = 50;
const maxIssuesInMessage = 3;

function validationProblem(error: {
  readonly validation: FastifyError['validation'] & {};
  readonly validationContext?: string;
}): Problem {
  const part = error.validationContext ?? 'body';
  const faults = error.validation.flatMap(faultsOf);
  const issues = faults.slice(0, maxIssues).map(({ path, message }) => ({
    path: [part, ...path].join('.').slice(0, 200),
    message,
  }));
  const shown = issues.slice(0, maxIssuesInMessage).map((issue) => `${issue.path}: ${issue.message}`);
  const more = faults.length - shown.length;
  return problems.invalid_request({ message: `${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`, issues });
}

/** One for each field that the schema does not have, so that the response names it. */
function faultsOf({ instancePath, keyword, params, message = 'is not valid' }: FastifySchemaValidationError) {
  const path = instancePath.split('/').filter((segment) => segment !== '');
  if (keyword !== 'unrecognized_keys' || !Array.isArray(params.keys)) return [{ path, message }];
  return params.keys.map((key) => ({ path: [...path, String(key)], message: unknownField }));
}
