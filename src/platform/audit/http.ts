/** Records what operators do over HTTP, after the outcome is known and before the response is sent. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Db } from '../db/db.ts';
import type { HttpServer } from '../http/httpserver.ts';
import type { Log } from '../log.ts';
import { auditOf, hashedTarget, operatorHeader, recordAction } from './audit.ts';

interface AuditingOptions<Tables> {
  readonly db: Db<Tables>;
  readonly log: Log;
  /** Reports whether only operators can call the route. */
  readonly isOperators: (url: string, method: string) => boolean;
  /** Returns what a request acts on, or `undefined` if it changes nothing. The result contains no content, and users as a hash. */
  readonly targetOf: (request: FastifyRequest, answer: unknown) => string | undefined | Promise<string | undefined>;
  /** Returns a word for what the operator chose. The action ends with it. */
  readonly choiceOf?: (request: FastifyRequest) => string | undefined;
}

/** Call this before the routes are added. Routes that are not for operators are unaffected. */
export function auditOperators<Tables>(app: HttpServer, deps: AuditingOptions<Tables>): void {
  const { db, log, isOperators, targetOf, choiceOf } = deps;
  const recordRequest = async (request: FastifyRequest, reply: FastifyReply, answer: unknown) => {
    // Rejected callers must not be able to fill the table.
    if (reply.statusCode === 401 || reply.statusCode === 403) return;
    const target = await targetOf(request, answer);
    if (target === undefined) return;
    const { method, routeOptions, headers } = request;
    const choice = choiceOf?.(request);
    const action = `${method} ${routeOptions.url}${choice === undefined ? '' : ` ${choice}`}`;
    const outcome = String(reply.statusCode);
    await recordAction(auditOf(db), { actor: actorOf(headers), action, target, outcome }).catch((error: unknown) =>
      log.error({ err: error }, 'cannot record an action in the audit log'),
    );
  };
  app.addHook('onRoute', (route) => {
    if (isOperators(route.url, String(route.method))) route.onSend = recordRequest;
  });
}

/** The user whom the parameters or the body of a request name. `undefined`: the request is not valid. */
export function userTarget(form: z.ZodType<{ readonly userId: string }>, naming: unknown): string | undefined {
  const { data } = form.safeParse(naming);
  return data && hashedTarget(data.userId);
}

/** Returns the name of the operator in whose name a server makes the request. */
export function actorOf(headers: FastifyRequest['headers']): string {
  const header = headers[operatorHeader];
  return typeof header === 'string' && /^[\w.@-]{1,64}$/.test(header) ? header : 'unnamed';
}
