/** Reads the audit log, newest first. */
import { sql } from 'kysely';
import type { Db } from '../db/db.ts';
import type { AuditTables, OperatorAction } from './audit.ts';

export interface ShownAction extends OperatorAction {
  readonly at: string;
  readonly requestId: string | null;
}

export interface ActionSearch {
  readonly limit: number;
  /** The page before ended at this action. */
  readonly before?: number | undefined;
  /** Only actions on this user. */
  readonly userId?: string | undefined;
  /** Only actions of this operator. Ignores case. */
  readonly actor?: string | undefined;
  /** Only actions that contain this text. Ignores case. */
  readonly action?: string | undefined;
}

export interface FoundActions {
  readonly actions: readonly ShownAction[];
  /** Where the next page begins. `null`: the search has reached the end. */
  readonly next: number | null;
}

/**
 * The number of actions among which one page looks for matches: the hash of a user has its own salt in each row, so no index
 * finds it. A page can be empty although there are more.
 */
const examinedActions = 20_000;

type Row = Omit<AuditTables['operator_actions'], 'at' | 'action_id'> & { readonly at: Date; readonly id: number };

export async function findActions(db: Db<AuditTables>, search: ActionSearch): Promise<FoundActions> {
  const { limit, before, userId, actor, action } = search;
  const examined = sql`select * from operator_actions
    ${before === undefined ? sql`` : sql`where action_id < ${before}`} order by action_id desc limit ${examinedActions}`;
  const conditions = [
    sql`true`,
    ...(actor === undefined ? [] : [sql`lower(actor) = ${actor.toLowerCase()}`]),
    ...(action === undefined ? [] : [sql`strpos(lower(action), ${action.toLowerCase()}) > 0`]),
    ...(userId === undefined
      ? []
      : [
          sql`target like 'sha256 %' and split_part(target, ' ', 3)
            = encode(sha256(convert_to(split_part(target, ' ', 2) || ' ' || ${userId}::text, 'UTF8')), 'hex')`,
        ]),
  ];
  const { rows } = await sql<Row>`
    select action_id as id, at, actor, action, target, outcome, request_id from (${examined}) as examined
    where ${sql.join(conditions, sql` and `)} order by action_id desc limit ${limit + 1}`.execute(db);
  const actions = rows.slice(0, limit).map(toShown);
  if (rows.length > limit) return { actions, next: rows[limit - 1]?.id ?? null };
  const { rows: ends } = await sql<{ next: number | null }>`
    select case when count(*) = ${examinedActions} then min(action_id) end as next from (${examined}) as examined`.execute(
    db,
  );
  return { actions, next: ends[0]?.next ?? null };
}

const toShown = ({ at, actor, action, target, outcome, request_id: requestId }: Row): ShownAction => ({
  at: at.toISOString(),
  actor,
  action,
  target,
  outcome,
  requestId,
});
