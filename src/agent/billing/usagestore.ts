/** What each user used, by day and model. */
import { sql } from 'kysely';
import { type Db, hasChanged, inCamelCase, type Tx } from '#platform/db/db.ts';
import type { UsageTotals } from '../operatorapi.ts';
import type { AgentTables } from '../tables.ts';

/** With what orders in progress cost, which counts when they end. */
export interface UsageChange {
  readonly userId: string;
  readonly model: string;
  readonly runs?: number;
  readonly inputTokens?: number | null;
  readonly outputTokens?: number | null;
  readonly images?: number;
  readonly videos?: number;
  readonly credits: number;
  /** What the operator pays. */
  readonly costUsd?: number;
}

/** Counts toward today, in UTC, in the transaction that settles the credits: for the user, and in the totals of all users. */
export async function addUsage(tx: Tx<AgentTables>, change: UsageChange): Promise<void> {
  const { userId, model, runs = 0, images = 0, videos = 0, credits, costUsd = 0 } = change;
  const inputTokens = change.inputTokens ?? 0;
  const outputTokens = change.outputTokens ?? 0;
  const day = sql`(now() at time zone 'UTC')::date`;
  const sums = sql`${runs}, ${inputTokens}, ${outputTokens}, ${credits}, ${costUsd}`;
  await sql`
    with day_of_user as (
      insert into agent_usage as known (user_id, day, model, ${columnsOf(sumColumns)}, images, videos)
      values (${userId}, ${day}, ${model}, ${sums}, ${images}, ${videos})
      on conflict (user_id, day, model) do update set ${addedTo([...sumColumns, 'images', 'videos'])}
    ),
    month_of_user as (
      insert into agent_usage_months as known (user_id, month, ${columnsOf(sumColumns)})
      values (${userId}, date_trunc('month', now() at time zone 'UTC')::date, ${sums})
      on conflict (user_id, month) do update set ${addedTo(sumColumns)}
    )
    insert into agent_usage_totals as known (day, model, plan, slot, ${columnsOf(sumColumns)}, images, videos)
    values (${day}, ${model}, coalesce((select plan from user_profiles where id = ${userId}), 'free'),
      abs(hashtext(${userId}::text)::bigint) % 16, ${sums}, ${images}, ${videos})
    on conflict (day, model, plan, slot) do update set ${addedTo([...sumColumns, 'images', 'videos'])}`.execute(tx);
}

const sumColumns = ['runs', 'input_tokens', 'output_tokens', 'credits', 'cost_usd'] as const;
const columnsOf = (names: readonly string[]) => sql.join(names.map((name) => sql.ref(name)));
const addedTo = (names: readonly string[]) =>
  sql.join(names.map((name) => sql`${sql.ref(name)} = ${sql.ref(`known.${name}`)} + ${sql.ref(`excluded.${name}`)}`));

/** From one day to another, both included; newest first. `costUsd` is for operators only. */
export function listUsage(db: Db<AgentTables>, userId: string, from: string, to: string, limit: number) {
  return db
    .selectFrom('agent_usage')
    .select([
      sql<string>`to_char(day, 'YYYY-MM-DD')`.as('day'),
      ...inCamelCase('model runs input_tokens output_tokens images videos credits'),
      costColumn,
    ])
    .where('user_id', '=', userId)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .orderBy('day', 'desc')
    .orderBy('model')
    .limit(limit)
    .execute();
}

const costColumn = sql<number>`round(cost_usd::numeric, 6)::float8`.as('costUsd');

// What all users used, for operators. Each change updates the sums, so that no call reads the rows of every user.

type UsageTotal = UsageTotals['days'][number];

/** From one day to another, both included; newest first. */
export async function listTotals(db: Db<AgentTables>, from: string, to: string): Promise<UsageTotal[]> {
  const { rows } = await sql<UsageTotal>`
    select to_char(day, 'YYYY-MM-DD') as day, model, plan, sum(runs)::bigint as runs,
      sum(input_tokens)::bigint as "inputTokens", sum(output_tokens)::bigint as "outputTokens",
      sum(images)::bigint as images, sum(videos)::bigint as videos, sum(credits)::bigint as credits,
      round(sum(cost_usd)::numeric, 6)::float8 as "costUsd"
    from agent_usage_totals where day between ${from}::date and ${to}::date
    group by day, model, plan order by day desc, model, plan`.execute(db);
  return rows;
}

type Spender = Omit<UsageTotal, 'day' | 'model' | 'plan'> & { readonly userId: string };

/** The sums of months have no files. Those of the days of a user do. */
const filesOfMonth = (kind: 'images' | 'videos') => sql<number>`(
  select coalesce(sum(${sql.ref(kind)}), 0)::bigint from agent_usage
  where agent_usage.user_id = agent_usage_months.user_id
    and day >= month and day < (month + interval '1 month'))`;

/** The users who spent the most credits in the month that begins at `month`. */
export function listSpenders(
  db: Db<AgentTables>,
  month: string,
  order: 'credits' | 'cost',
  limit: number,
): Promise<Spender[]> {
  return db
    .selectFrom('agent_usage_months')
    .select([
      ...(['user_id as userId', 'runs', 'input_tokens as inputTokens', 'output_tokens as outputTokens'] as const),
      'credits',
      filesOfMonth('images').as('images'),
      filesOfMonth('videos').as('videos'),
      costColumn,
    ])
    .where('month', '=', month)
    .orderBy(order === 'cost' ? 'cost_usd' : 'credits', 'desc')
    .orderBy('user_id')
    .limit(limit)
    .execute();
}

// Canceled orders and runs that were free, by user and day.

const today = sql<string>`(now() at time zone 'UTC')::date`;

/** Counts one more. `false`: the user has had `max` of them today. Concurrent transactions of a user wait for each other. */
export async function takeFreeCancel(tx: Tx<AgentTables>, userId: string, max: number): Promise<boolean> {
  if (max === 0) return false;
  return tx
    .insertInto('agent_free_cancels')
    .values({ user_id: userId, day: today, count: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'day'])
        .doUpdateSet((eb) => ({ count: eb('agent_free_cancels.count', '+', 1) }))
        .where('agent_free_cancels.count', '<', max),
    )
    .$call(hasChanged);
}
