/**
 * The audit log records who did what to whom, when, and with which outcome, for everything that only an operator may do. The rows
 * are in the database, and `npm run audit` shows them. They contain no secrets and no content of users. Users are identified by a salted
 * hash, so an erasure leaves no trace, and a reader who knows an id can still look for it.
 */
import { createHash, randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import { type Generated, sql } from 'kysely';
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

interface OperatorAction {
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
export const commandActor = (): string => actorNamed(userInfo().username) || 'unnamed';

/** The log takes these characters and this length. */
export const actorNamed = (name: string): string => name.replaceAll(/[^\w.@-]/g, '_').slice(0, 64);

/** Returns `sha256 <salt> <digest of "<salt> <id>">`. Each call uses a new salt. */
export function hashedTarget(id: string): string {
  const salt = randomBytes(16).toString('hex');
  return `sha256 ${salt} ${createHash('sha256').update(`${salt} ${id}`).digest('hex')}`;
}

/** Returns `<what> sha256 …`, with a hash of each person, by id or address, whom an action on something concerns. */
export const targetOn = (what: string, ...people: readonly string[]): string =>
  [what, ...people.slice(0, 10).map(hashedTarget)].join(' ');

// Reads the audit log, newest first.

export interface ShownAction extends OperatorAction {
  readonly at: string;
  /** The hash of the first person whom it concerns. */
  readonly subject: string | null;
  readonly requestId: string | null;
}

interface ActionSearch {
  readonly limit: number;
  /** The page before ended at this action. */
  readonly before?: number | undefined;
  /** Only actions that concern this user, by id or address. */
  readonly userId?: string | undefined;
  readonly address?: string | null;
  /** Only actions of this operator. Ignores case. */
  readonly actor?: string | undefined;
  /** Only actions that contain this text. Ignores case. */
  readonly action?: string | undefined;
  /** Only actions on this target, such as `incident <id>`. */
  readonly target?: string | undefined;
  /** Days in UTC, both included. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

interface FoundActions {
  readonly actions: readonly ShownAction[];
  /** Where the next page begins. `null`: the search has reached the end. */
  readonly next: number | null;
}

/**
 * The number of actions among which one page looks for matches: the hash of a user has its own salt in each row, so no index
 * finds it. A page can be empty although there are more.
 */
const examinedActions = 20_000;

type Row = Omit<ShownAction, 'at'> & { readonly at: Date; readonly id: number };

export async function findActions(db: Db<AuditTables>, search: ActionSearch): Promise<FoundActions> {
  const { limit, before, userId, address = null, actor, action, target, from, to } = search;
  const examined = sql`select * from operator_actions
    ${before === undefined ? sql`` : sql`where action_id < ${before}`} order by action_id desc limit ${examinedActions}`;
  const conditions = [
    sql`true`,
    ...(from === undefined ? [] : [sql`at >= ${from}::date::timestamp at time zone 'UTC'`]),
    ...(to === undefined ? [] : [sql`at < (${to}::date + 1)::timestamp at time zone 'UTC'`]),
    ...(actor === undefined ? [] : [sql`lower(actor) = ${actor.toLowerCase()}`]),
    ...(target === undefined ? [] : [sql`split_part(target, ' sha256 ', 1) = ${target}`]),
    ...(action === undefined ? [] : [sql`strpos(lower(action), ${action.toLowerCase()}) > 0`]),
    ...(userId === undefined
      ? []
      : [
          sql`exists (select from regexp_matches(target, 'sha256 ([0-9a-f]+) ([0-9a-f]+)', 'g') as hash, unnest(${[userId, address?.toLowerCase() ?? null]}::text[]) as one
            where hash[2] = encode(sha256(convert_to(hash[1] || ' ' || one, 'UTF8')), 'hex'))`,
        ]),
  ];
  const { rows } = await sql<Row>`
    select action_id as id, at, actor, action, split_part(target, ' sha256 ', 1) as target, outcome, request_id as "requestId",
      substring(target from 'sha256 [0-9a-f]+ [0-9a-f]+') as subject from (${examined}) as examined
    where ${sql.join(conditions, sql` and `)} order by action_id desc limit ${limit + 1}`.execute(db);
  const actions = rows.slice(0, limit).map(toShown);
  if (rows.length > limit) return { actions, next: rows[limit - 1]?.id ?? null };
  const { rows: ends } = await sql<{ next: number | null }>`
    select case when count(*) = ${examinedActions} then min(action_id) end as next from (${examined}) as examined`.execute(
    db,
  );
  return { actions, next: ends[0]?.next ?? null };
}

const toShown = ({ at, id: _id, ...row }: Row): ShownAction => ({ ...row, at: at.toISOString() });
