/**
 * The audit log: who did what to whom, when, and how it ended, for everything that only an operator may do. Rows of the
 * database, shown by `npm run audit`. Never with a secret or content; persons are named by a salted hash, so that an
 * erasure leaves no trace, and whoever knows the id can still check it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import type { Generated } from 'kysely';
import type { Db } from '../db/db.ts';
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
  /** A command, or method and route. */
  readonly action: string;
  readonly target: string;
  readonly outcome: string;
}

/** Handles know the tables of their service; these lie in the same database. */
type Handle = Db<AuditTables>;
export const auditOf = <Tables>(db: Db<Tables>): Handle => db as unknown as Handle;

/** Who tells it holds the key of the call: it is believed as far as that. */
export const operatorHeader = 'x-operator';

export async function recordAction(db: Handle, action: OperatorAction): Promise<void> {
  const row = { ...action, request_id: currentScope()?.requestId ?? null };
  await db.insertInto('operator_actions').values(row).execute();
}

/** For commands that reach the database themselves; a deed that throws is recorded too. */
export async function audited<T>(
  db: Handle,
  { action, target }: Pick<OperatorAction, 'action' | 'target'>,
  deed: () => Promise<T>,
): Promise<T> {
  const record = (outcome: string) => recordAction(db, { actor: commandActor(), action, target, outcome });
  try {
    const result = await deed();
    await record('done');
    return result;
  } catch (error) {
    await record(error instanceof Problem ? error.code : 'failed');
    throw error;
  }
}

/** The account that a command runs under. */
export function commandActor(): string {
  return (
    userInfo()
      .username.replaceAll(/[^\w.@-]/g, '_')
      .slice(0, 64) || 'unnamed'
  );
}

/** `sha256 <salt> <digest of "<salt> <id>">`: another one each time. */
export function hashedTarget(id: string): string {
  const salt = randomBytes(16).toString('hex');
  return `sha256 ${salt} ${createHash('sha256').update(`${salt} ${id}`).digest('hex')}`;
}

export interface ShownAction extends OperatorAction {
  readonly at: string;
  readonly requestId: string | null;
}

/** The newest first. */
export async function listActions(db: Handle, limit: number): Promise<readonly ShownAction[]> {
  const rows = await db.selectFrom('operator_actions').selectAll().orderBy('action_id', 'desc').limit(limit).execute();
  return rows.map(({ at, actor, action, target, outcome, request_id: requestId }) => ({
    at: at.toISOString(),
    actor,
    action,
    target,
    outcome,
    requestId,
  }));
}
