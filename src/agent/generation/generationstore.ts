/** The rows of orders of images, and the videos of a user as generations. */
import { sql } from 'kysely';
import { type Db, inCamelCase, json, type Tx } from '#platform/db/db.ts';
import { createdAtUs, isBelow, type Place } from '#platform/db/paging.ts';
import type { JobInsertion } from '#platform/jobs/jobs.ts';
import type { Failure } from '../api.ts';
import { currentTrace } from '../runs/runstore.ts';
import type { AgentTables, GenerationStatus, ImageInput, OrderOrigin } from '../tables.ts';

type Handle = Db<AgentTables> | Tx<AgentTables>;

const columns = [
  'generation_id as id',
  ...inCamelCase('owner_id origin model price input scope_kind scope_id status credits created_at ordered_at ended_at'),
  createdAtUs,
] as const;

const items = sql<readonly StoredItem[]>`(
  select coalesce(jsonb_agg(jsonb_build_object('index', index, 'status', item.status, 'assetId', asset_id, 'failure', failure)
    order by index), '[]')
  from agent_generation_items item where item.generation_id = agent_generations.generation_id
)`.as('items');

export type StoredGeneration = NonNullable<Awaited<ReturnType<typeof lockGeneration>>>;

interface StoredItem {
  readonly index: number;
  readonly status: GenerationStatus;
  readonly assetId: string | null;
  readonly failure: Failure | null;
}

export interface NewGeneration {
  readonly id: string;
  readonly ownerId: string;
  readonly origin: OrderOrigin;
  readonly model: string;
  readonly price: number;
  readonly input: ImageInput;
  readonly scopeKind: string;
  readonly scopeId: string;
  readonly count: number;
}

/** Inserts a generation with its job. If this process runs the job at once, orders are being sent from the commit on. */
export async function insertGeneration(
  tx: Tx<AgentTables>,
  order: NewGeneration,
  { isClaimed, statement }: JobInsertion,
): Promise<void> {
  const { id, ownerId, origin, model, price, input, scopeKind, scopeId, count } = order;
  await sql`
    with generation as (
      insert into agent_generations (generation_id, owner_id, origin, model, price, input, scope_kind, scope_id, trace,
        status, ordered_at)
      values (${id}, ${ownerId}, ${origin}, ${model}, ${price}, ${json(input)}, ${scopeKind}, ${scopeId}, ${currentTrace()},
        'running', ${isClaimed ? sql`clock_timestamp()` : null})
      returning generation_id
    ), job as (${statement('generation')})
    insert into agent_generation_items (generation_id, index, status)
    select generation_id, index, 'running' from generation, generate_series(0, ${count}::int - 1) as index`.execute(tx);
}

export function findGeneration(db: Handle, id: string) {
  return db
    .selectFrom('agent_generations')
    .select(columns)
    .select(items)
    .where('generation_id', '=', id)
    .executeTakeFirst();
}

/** Locks the row. Its items are read after it, since the statement that waits for a lock does not see what it waited for. */
export function lockGeneration(tx: Tx<AgentTables>, id: string) {
  return tx
    .selectFrom('agent_generations')
    .select(columns)
    .where('generation_id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

/** Notes that orders are being sent. `undefined`: they were sent before, or the generation has ended. */
export function markOrdered(db: Handle, id: string) {
  return db
    .updateTable('agent_generations')
    .set({ ordered_at: sql<Date>`clock_timestamp()` })
    .where((eb) => eb.and({ generation_id: id, status: 'running' }))
    .where('ordered_at', 'is', null)
    .returning(columns)
    .returning(
      sql<number>`(
        select count(*)::int from agent_generation_items item where item.generation_id = agent_generations.generation_id
      )`.as('count'),
    )
    .executeTakeFirst();
}

/** An item that is not over. */
export async function endItem(
  db: Handle,
  { id, index }: { readonly id: string; readonly index: number },
  end:
    | { readonly status: 'completed'; readonly assetId: string }
    | { readonly status: 'failed'; readonly failure: Failure; readonly answer?: string | undefined },
): Promise<void> {
  await db
    .updateTable('agent_generation_items')
    .set({
      status: end.status,
      asset_id: 'assetId' in end ? end.assetId : null,
      failure: 'failure' in end ? sql`${json(end.failure)}` : null,
      answer: ('answer' in end ? end.answer : undefined) ?? null,
    })
    .where((eb) => eb.and({ generation_id: id, index, status: 'running' }))
    .execute();
}

/** Ends a generation that is running, with its `items` that are. The caller has locked the row. */
export async function endGeneration(
  tx: Tx<AgentTables>,
  id: string,
  status: GenerationStatus,
  credits: number,
  items: readonly StoredItem[],
): Promise<void> {
  await sql`
    with ended as (
      update agent_generation_items item set status = one.status, asset_id = one."assetId", failure = one.failure
      from jsonb_to_recordset(${json(items)}) as one(index int, status text, "assetId" uuid, failure jsonb)
      where generation_id = ${id} and item.index = one.index and item.status = 'running'
    )
    update agent_generations set status = ${status}, credits = ${credits}, ended_at = clock_timestamp(),
      input = case when input->>'mask' like 'data:%' then input - 'mask' else input end
    where generation_id = ${id}`.execute(tx);
}

/** The runs of a user that are in flight, and the orders without a run. */
export async function countInFlightOf(tx: Tx<AgentTables>, ownerId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select (select count(*) from agent_runs where owner_id = ${ownerId} and status = 'running')
      + (select count(*) from agent_generations where owner_id = ${ownerId}::uuid and status = 'running')
      + (select count(*) from agent_videos where resource_id = ${ownerId} and origin <> 'run' and status in ('queued', 'processing'))
      as count`.execute(tx);
  return rows[0]?.count ?? 0;
}

/** Orders of images after `after`, newest first. */
export function listGenerations(
  db: Handle,
  ownerId: string,
  status: GenerationStatus | undefined,
  after: Place | undefined,
  limit: number,
) {
  return db
    .selectFrom('agent_generations')
    .select(columns)
    .select(items)
    .where('owner_id', '=', ownerId)
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'running'))
    .where(isBelow('generation_id', after))
    .orderBy('created_at', 'desc')
    .orderBy('generation_id', 'desc')
    .limit(limit)
    .execute();
}

// The images of an order, until it ends: their model, what they cost the operator, and why they failed.

/** A fallback of the model changes what the image costs. The image counts for the model that was requested. */
export async function noteImage(
  db: Handle,
  { reference, scope }: { readonly reference: string; readonly scope: string },
  { id, costUsd = null }: { readonly id: string; readonly costUsd?: number | null | undefined },
): Promise<void> {
  await db
    .insertInto('agent_image_costs')
    .values({ reference, scope, model: id, cost_usd: costUsd })
    .onConflict((conflict) => conflict.column('reference').doUpdateSet({ cost_usd: costUsd }))
    .execute();
}

/** `answer`: the failure in the words of the provider. */
export async function noteFailure(db: Handle, reference: string, answer: string | undefined): Promise<void> {
  await db
    .updateTable('agent_image_costs')
    .set({ answer: answer ?? null })
    .where('reference', '=', reference)
    .execute();
}

export interface NotedImage {
  readonly reference: string;
  readonly model: string | null;
  readonly costUsd: number;
  readonly answer: string | null;
}

/** Ends the order: forgets its images, and returns them. */
export async function takeImages(tx: Tx<AgentTables>, scope: string): Promise<readonly NotedImage[]> {
  const { rows } = await sql<NotedImage>`
    delete from agent_image_costs where scope = ${scope}
    returning reference, model, coalesce(cost_usd, 0) as "costUsd", answer`.execute(tx);
  return rows;
}

export const costOf = (images: readonly Pick<NotedImage, 'costUsd'>[]): number =>
  images.reduce((sum, { costUsd }) => sum + costUsd, 0);
