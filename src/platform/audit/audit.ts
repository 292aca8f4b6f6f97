/**
 * The audit log records who did what to whom, when, and with which outcome, for everything that only an operator may do. The rows
 * are in the database, and `npm run audit` shows them. They contain no secrets and no content. Users are identified by a salted
 * hash, so an erasure leaves no trace, and a reader who knows an id can still look for it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import type { Generated } from 'kysely';
import type { Db, Tx } from '../db/db.ts';
import { Problem } from '../problem.ts';
import { currentScope } from '../telemetry/trace.ts';

export interface AuditTables {
  operator_actions: {
    action_id: Generated<number>;
    at: Generated<Date>;
    actor: string;
    action: string;
    target: string;
    outcome: string;
    request_id: string | null;
  };
}

export interface OperatorAction {
  readonly actor: string;
  /** A command, or a method and route. */
  readonly action: string;
  readonly target: string;
  readonly outcome: string;
}

/** Handles are typed with the tables of their service. The audit tables are in the same database. */
type Handle = Db<AuditTables>;
export const auditOf = <Tables>(db: Db<Tables> | Tx<Tables>): Handle => db as unknown as Handle;

/** The name in this header is as trustworthy as the key that the request carries. */
export const operatorHeader = 'x-operator';

export async function recordAction(db: Handle, action: OperatorAction): Promise<void> {
  const row = { ...action, request_id: currentScope()?.requestId ?? null };
  await db.insertInto('operator_actions').values(row).execute();
}

/** Records a command that accesses the database directly. A command that throws is recorded too. */
export async function audited<T>(
  db: Handle,
  {
    action,
    target: requested,
    targetOf,
  }: Pick<OperatorAction, 'action' | 'target'> & {
    /** The target, if only the result has it. */
    readonly targetOf?: (result: T) => string;
  },
  work: () => Promise<T>,
): Promise<T> {
  const record = (outcome: string, target = requested) =>
    recordAction(db, { actor: commandActor(), action, target, outcome });
  try {
    const result = await work();
    await record('done', targetOf?.(result));
    return result;
  } catch (error) {
    await record(error instanceof Problem ? error.code : 'failed');
    throw error;
  }
}

/** Returns the operating system account that runs the command. */
export function commandActor(): string {
  return (
    userInfo()
      .username.replaceAll(/[^\w.@-]/g, '_')
      .slice(0, 64) || 'unnamed'
  );
}

/** Returns `sha256 <salt> <digest of "<salt> <id>">`. Each call uses a new salt. */
export function hashedTarget(id: string): string {
  const salt = randomBytes(16).toString('hex');
  return `sha256 ${salt} ${createHash('sha256').update(`${salt} ${id}`).digest('hex')}`;
}
