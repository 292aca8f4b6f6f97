/** Writes down what operators do over HTTP, once it is decided how it ended and before they are told. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Db } from '../db/db.ts';
import type { HttpServer } from '../http/httpserver.ts';
import type { Log } from '../log.ts';
import { auditOf, operatorHeader, recordAction } from './audit.ts';

interface AuditingDeps<Tables> {
  readonly db: Db<Tables>;
  readonly log: Log;
  /** Of a route: nobody but operators call it. */
  readonly isOperators: (url: string, method: string) => boolean;
  /** What a request acts on; `undefined`: it changes nothing. Without content, and persons as a hash. */
  readonly targetOf: (request: FastifyRequest) => string | undefined;
}

/** Before the routes are added; those of others are left as they are. */
export function auditOperators<Tables>(app: HttpServer, deps: AuditingDeps<Tables>): void {
  const { db, log, isOperators, targetOf } = deps;
  const writeDown = async (request: FastifyRequest, reply: FastifyReply) => {
    // A stranger who guesses at keys does not fill the table.
    if (reply.statusCode === 401 || reply.statusCode === 403) return;
    const target = targetOf(request);
    if (target === undefined) return;
    const { method, routeOptions, headers } = request;
    const action = `${method} ${routeOptions.url}`;
    const outcome = String(reply.statusCode);
    await recordAction(auditOf(db), { actor: actorIn(headers[operatorHeader]), action, target, outcome }).catch(
      (error: unknown) => log.error({ err: error }, 'what an operator did could not be written down'),
    );
  };
  app.addHook('onRoute', (route) => {
    if (isOperators(route.url, String(route.method))) route.onSend = writeDown;
  });
}

function actorIn(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[\w.@-]{1,64}$/.test(header) ? header : 'unnamed';
}
