/** What each user used, by day and model. */
import { type Generated, sql } from 'kysely';
import type { Db, Tx } from '#platform/db/db.ts';
import type { CostTables } from '../generation/coststore.ts';
import { addToTotals, type UsageTotalTables } from './usagetotalstore.ts';

/** With what orders in progress cost, which counts when they end. */
export interface UsageTables extends UsageTotalTables, CostTables {
  agent_usage: {
    user_id: string;
    day: string;
    model: string;
    runs: Generated<number>;
    input_tokens: Generated<number>;
    output_tokens: Generated<number>;
    images: Generated<number>;
    videos: Generated<number>;
    credits: Generated<number>;
  };
}

export interface UsageChange {
  readonly userId: string;
  readonly model: string;
  readonly runs?: number;
  readonly inputTokens?: number | null;
  readonly outputTokens?: number | null;
  readonly images?: number;
  readonly videos?: number;
  readonly credits: number;
  /** What the operator pays. Counted in the totals only. */
  readonly costUsd?: number;
}

/** Counts toward today, in UTC, in the transaction that settles the credits. */
export async function addUsage(tx: Tx<UsageTables>, change: UsageChange): Promise<void> {
  const { userId, model, runs = 0, images = 0, videos = 0, credits, costUsd = 0 } = change;
  const row = {
    runs,
    input_tokens: change.inputTokens ?? 0,
    output_tokens: change.outputTokens ?? 0,
    images,
    videos,
    credits,
  };
  await tx
    .insertInto('agent_usage')
    .values({ user_id: userId, day: sql<string>`(now() at time zone 'UTC')::date`, model, ...row })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'day', 'model']).doUpdateSet((eb) => ({
        runs: eb('agent_usage.runs', '+', eb.ref('excluded.runs')),
        input_tokens: eb('agent_usage.input_tokens', '+', eb.ref('excluded.input_tokens')),
        output_tokens: eb('agent_usage.output_tokens', '+', eb.ref('excluded.output_tokens')),
        images: eb('agent_usage.images', '+', eb.ref('excluded.images')),
        videos: eb('agent_usage.videos', '+', eb.ref('excluded.videos')),
        credits: eb('agent_usage.credits', '+', eb.ref('excluded.credits')),
      })),
    )
    .execute();
  await addToTotals(tx, {
    userId,
    model,
    runs,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    images,
    videos,
    credits,
    costUsd,
  });
}

/** From one day to another, both included; newest first. */
export function listUsage(db: Db<UsageTables>, userId: string, from: string, to: string, limit: number) {
  return db
    .selectFrom('agent_usage')
    .select([
      sql<string>`to_char(day, 'YYYY-MM-DD')`.as('day'),
      'model',
      'runs',
      'input_tokens as inputTokens',
      'output_tokens as outputTokens',
      'images',
      'videos',
      'credits',
    ])
    .where('user_id', '=', userId)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .orderBy('day', 'desc')
    .orderBy('model')
    .limit(limit)
    .execute();
}
