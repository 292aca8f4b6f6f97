/** The one place where errors become answers (CONTRACT §3: `error`, `message`, `requestId`, `issues`). */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { Problem, problems } from '../problem.ts';
import type { HttpServer } from './server.ts';

export function renderProblems(app: HttpServer): void {
  app.setErrorHandler((error: FastifyError | Problem, request, reply) => {
    const problem = toProblem(error);
    // 5xx alone count as errors.
    if (problem.status >= 500) request.log.error({ err: problem.cause ?? error, code: problem.code }, problem.message);
    return render(problem, request, reply);
  });
}

function render(problem: Problem, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { retryAfterS, issues, fields } = problem.details;
  if (retryAfterS !== undefined) reply.header('retry-after', String(retryAfterS));
  return reply.code(problem.status).send({
    error: problem.code,
    message: problem.message,
    requestId: request.id,
    ...(issues ? { issues } : {}),
    ...fields,
  });
}

/** Fastify's own errors carry a status; whatever has none, or 500 and above, is ours and stays private. */
function toProblem(error: FastifyError | Problem): Problem {
  if (error instanceof Problem) return error;
  if (hasZodFastifySchemaValidationErrors(error)) {
    const part = error.validationContext ?? 'body';
    const issues = error.validation.map((fault) => ({
      path: [part, ...fault.instancePath.split('/').filter((segment) => segment !== '')].join('.'),
      message: fault.message ?? 'is not valid',
    }));
    return problems.invalid_request({
      message: issues.map((issue) => `${issue.path}: ${issue.message}`).join('; '),
      issues,
    });
  }
  switch (error.statusCode) {
    case 413:
      return problems.payload_too_large({ cause: error });
    case 415:
      return problems.unsupported_media_type({ cause: error });
    case 503:
      return problems.draining({ cause: error });
    default:
      if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
        return problems.invalid_request({ message: 'The body is not valid JSON.', cause: error });
      }
      return problems.internal_error({ cause: error });
  }
}
