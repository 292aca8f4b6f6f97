/** The events that users hear of, numbered for each user in the order of their commits. */
import { sql } from 'kysely';
import { findOverdueS } from '#platform/background/removal.ts';
import { type Db, json, type Tx } from '#platform/db/db.ts';
import type { AgentTables } from '../tables.ts';
import type { UserEvent } from '../userevent.ts';

/** Locks the position of the user until the transaction ends, so it should be the last lock that the transaction takes. */
export async function insertUserEvents<Tables>(
  tx: Tx<Tables>,
  userId: string,
  events: readonly UserEvent[],
): Promise<void> {
  await sql`
    with position as (
      insert into agent_user_event_positions (user_id, last_seq) values (${userId}::uuid, ${events.length}::bigint)
      on conflict (user_id)
        do update set last_seq = agent_user_event_positions.last_seq + excluded.last_seq
      returning last_seq
    )
    insert into agent_user_events (user_id, seq, event)
    select ${userId}::uuid, position.last_seq - ${events.length}::bigint + numbered.place, numbered.event
    from position, jsonb_array_elements(${json(events)}) with ordinality as numbered (event, place)`.execute(tx);
}

/** 0 for a user without events. */
export async function findLastUserEvent(db: Db<AgentTables>, userId: string): Promise<number> {
  const row = await db
    .selectFrom('agent_user_event_positions')
    .select('last_seq as lastSeq')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return Number(row?.lastSeq ?? 0);
}

export interface UserEventCursor {
  readonly userId: string;
  readonly afterSeq: number;
}

export interface UserEventRow {
  /** The index of the cursor. */
  readonly cursor: number;
  readonly seq: number;
  readonly event: UserEvent;
  readonly createdAt: Date;
}

/** The next events of many cursors in one query: at most `limit` for each, in order. */
export async function listUserEvents(
  db: Db<AgentTables>,
  cursors: readonly UserEventCursor[],
  limit: number,
): Promise<readonly UserEventRow[]> {
  const { rows } = await sql<UserEventRow>`
    select (cursors.place - 1)::integer as cursor, found.seq, found.event, found.created_at as "createdAt"
    from unnest(
      ${cursors.map(({ userId }) => userId)}::uuid[], ${cursors.map(({ afterSeq }) => afterSeq)}::bigint[]
    ) with ordinality as cursors (user_id, after_seq, place)
    cross join lateral (
      select seq, event, created_at from agent_user_events
      where user_id = cursors.user_id and seq > cursors.after_seq
      order by seq
      limit ${limit}
    ) as found
    order by cursors.place, found.seq`.execute(db);
  return rows;
}

export const findOverdueUserEventsS = (db: Db<AgentTables>, maxAgeS: number) =>
  findOverdueS(db, sql`created_at`, sql`agent_user_events`, maxAgeS);

/** Deletes events that are older than `maxAgeS`, and returns how many. */
export async function deleteOldUserEvents(db: Db<AgentTables>, maxAgeS: number, limit: number): Promise<number> {
  // Materialized: a plan that evaluates it again for each row would exceed `limit`.
  const { numAffectedRows = 0n } = await sql`
    with old as materialized (
      select user_id, seq from agent_user_events
      where created_at < now() - make_interval(secs => ${maxAgeS})
      order by created_at
      limit ${limit}
      for update skip locked
    )
    delete from agent_user_events as event using old where event.user_id = old.user_id and event.seq = old.seq`.execute(
    db,
  );
  return Number(numAffectedRows);
}
