/** Admits operators to their endpoints, and names them to what the endpoints do. */
import type { FastifyRequest } from 'fastify';
import { type AccountTables, isBlocked } from '#accounts/store.ts';
import { actorNamed, auditOf, recordAction } from '#platform/audit/audit.ts';
import type { Db } from '#platform/db/db.ts';
import { problems } from '#platform/problem.ts';
import { withDeadline } from '#platform/resilience.ts';
import { consoleProblems } from '../problems.ts';
import type { Operator, Sessions } from '../sessions.ts';
import type { NamedOperator } from './roles.ts';

export interface OperatorGuard {
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
}

const admitted = new WeakMap<FastifyRequest, Operator>();
const databaseTimeoutMs = 2000;

interface GuardContext {
  readonly db: Db<AccountTables> | undefined;
  readonly sessions: Sessions;
}

/** Throws 401 without a session, and 403 `read_only` for changes by operators who may only read. */
export function guardOperators(context: GuardContext): OperatorGuard {
  return {
    onRequest: async (request) => {
      const operator = await findOperator(context, request);
      if (operator === undefined) throw problems.unauthorized();
      if (operator.role === 'reader' && request.method !== 'GET' && request.method !== 'HEAD')
        throw consoleProblems.read_only();
      admitted.set(request, operator);
    },
  };
}

/** A block ends the sessions that began before it. */
export async function findOperator({ sessions, db }: GuardContext, request: FastifyRequest) {
  const operator = sessions.find(request.headers.cookie);
  return operator && (await isRefused(db, operator, operator.beganAt)) ? undefined : operator;
}

/** Always `false` for the holder of CONSOLE_TOKEN, and while the database is away, because operators then need the pages most. */
export async function isRefused(
  db: GuardContext['db'],
  { name }: Pick<NamedOperator, 'name'>,
  since?: Date,
): Promise<boolean> {
  if (db === undefined || name === 'console') return false;
  return withDeadline(databaseTimeoutMs, () => isBlocked(db, name, since)).catch(() => false);
}

/** Records what the operator of the request did. Without a database, there is no audit log. */
export async function recordDeed(db: GuardContext['db'], request: FastifyRequest, action: string, target: string) {
  const deed = { actor: operatorName(request), action, target, outcome: 'done' };
  if (db !== undefined) await recordAction(auditOf(db), deed);
}

/** Returns the name for the audit log. Call it only behind the guard. */
export function operatorName(request: FastifyRequest): string {
  const operator = admitted.get(request);
  if (operator === undefined) throw new Error('the route has no guard');
  return actorNamed(operator.name);
}
