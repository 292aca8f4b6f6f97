/** What all users used, for operators. Each change updates the sums, so that no call reads the rows of every user. */
import { type Generated, sql } from 'kysely';
import type { Db, Tx } from '#platform/db/db.ts';

export interface UsageTotalTables {
  agent_usage_totals: {
    day: string;
    model: string;
    plan: string;
    slot: number;
    runs: Generated<number>;
    input_tokens: Generated<number>;
    output_tokens: Generated<number>;
    images: Generated<number>;
    videos: Generated<number>;
    credits: Generated<number>;
    cost_usd: Generated<number>;
  };
  agent_usage_months: {
    user_id: string;
    month: string;
    runs: Generated<number>;
    input_tokens: Generated<number>;
    output_tokens: Generated<number>;
    credits: Generated<number>;
    cost_usd: Generated<number>;
  };
}

export interface CountedUsage {
  readonly userId: string;
  readonly model: string;
  readonly runs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly images: number;
  readonly videos: number;
  readonly credits: number;
  /** In US dollars, what the operator pays. */
  readonly costUsd: number;
}

/** In the transaction that counts the usage of the user. */
export async function addToTotals(tx: Tx<UsageTotalTables>, usage: CountedUsage): Promise<void> {
  const { userId, model, runs, inputTokens, outputTokens, images, videos, credits, costUsd } = usage;
  await sql`
    with month_of_user as (
      insert into agent_usage_months as known (user_id, month, runs, input_tokens, output_tokens, credits, cost_usd)
      values (${userId}, date_trunc('month', now() at time zone 'UTC')::date, ${runs}, ${inputTokens}, ${outputTokens}, ${credits}, ${costUsd})
      on conflict (user_id, month) do update set runs = known.runs + excluded.runs,
        input_tokens = known.input_tokens + excluded.input_tokens,
        output_tokens = known.output_tokens + excluded.output_tokens, credits = known.credits + excluded.credits,
        cost_usd = known.cost_usd + excluded.cost_usd
    )
    insert into agent_usage_totals as known
      (day, model, plan, slot, runs, input_tokens, output_tokens, images, videos, credits, cost_usd)
    values ((now() at time zone 'UTC')::date, ${model},
      coalesce((select plan from user_profiles where id = ${userId}), 'free'), abs(hashtext(${userId}::text)::bigint) % 16,
      ${runs}, ${inputTokens}, ${outputTokens}, ${images}, ${videos}, ${credits}, ${costUsd})
    on conflict (day, model, plan, slot) do update set runs = known.runs + excluded.runs,
      input_tokens = known.input_tokens + excluded.input_tokens,
      output_tokens = known.output_tokens + excluded.output_tokens, images = known.images + excluded.images,
      videos = known.videos + excluded.videos, credits = known.credits + excluded.credits,
      cost_usd = known.cost_usd + excluded.cost_usd`.execute(tx);
}

export interface UsageTotal extends Omit<CountedUsage, 'userId'> {
  readonly day: string;
  readonly plan: string;
}

/** From one day to another, both included; newest first. */
export async function listTotals(db: Db<UsageTotalTables>, from: string, to: string): Promise<UsageTotal[]> {
  const { rows } = await sql<UsageTotal>`
    select to_char(day, 'YYYY-MM-DD') as day, model, plan, sum(runs)::bigint as runs,
      sum(input_tokens)::bigint as "inputTokens", sum(output_tokens)::bigint as "outputTokens",
      sum(images)::bigint as images, sum(videos)::bigint as videos, sum(credits)::bigint as credits,
      round(sum(cost_usd)::numeric, 6)::float8 as "costUsd"
    from agent_usage_totals where day between ${from}::date and ${to}::date
    group by day, model, plan order by day desc, model, plan`.execute(db);
  return rows;
}

export interface Spender {
  readonly userId: string;
  readonly runs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly credits: number;
  readonly costUsd: number;
}

/** The users who spent the most credits in the month that begins at `month`. */
export function listSpenders(db: Db<UsageTotalTables>, month: string, limit: number): Promise<Spender[]> {
  return db
    .selectFrom('agent_usage_months')
    .select([
      ...(['user_id as userId', 'runs', 'input_tokens as inputTokens', 'output_tokens as outputTokens'] as const),
      'credits',
      sql<number>`round(cost_usd::numeric, 6)::float8`.as('costUsd'),
    ])
    .where('month', '=', month)
    .orderBy('credits', 'desc')
    .orderBy('user_id')
    .limit(limit)
    .execute();
}
