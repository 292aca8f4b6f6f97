/** The events that users hear of, numbered for each user in the order of their commits. */
import { sql } from 'kysely';
import { type Interval, startInterval } from '#platform/background/interval.ts';
import { deleteBatch, findOverdueS, removeAll } from '#platform/background/removal.ts';
import { afterCommit, type Db, json, type Tx } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import type { PubSub } from '#platform/pubsub/pubsub.ts';
import type { AgentTables, UserEvent } from '../tables.ts';

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

interface UserEventCursor {
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
  const old = sql`created_at < now() - make_interval(secs => ${maxAgeS})`;
  return deleteBatch(db, 'agent_user_events', ['user_id', 'seq'], sql`${old} order by created_at limit ${limit}`);
}

// Publishes events to their user in the transaction of the change that they report, as webhooks do. After the commit, the
// readers of all processes are woken; a reader that is not woken finds the event at its next look.

export interface UserEvents {
  /** Locks the events of the user until the commit. Call it last, when the transaction holds all of its other locks. */
  publish<Tables>(tx: Tx<Tables>, userId: string, events: readonly UserEvent[]): Promise<void>;
}

/** Each message is the id of a user who has new events. */
export const userEventsTopic = 'user-events';

export function createUserEvents(pubsub: Pick<PubSub, 'publish'>): UserEvents {
  return {
    publish: async (tx, userId, events) => {
      if (events.length === 0) return;
      await insertUserEvents(tx, userId, events);
      afterCommit(() => pubsub.publish(userEventsTopic, userId));
    },
  };
}

// Deletes events after the hour in which they can be read again (docs/specification/agent.md#events).

export const keptForS = 3600;
const deleteEveryMs = 60_000;
const atOnce = 5000;

export function startDeletingOldEvents({ db, log }: { readonly db: Db<AgentTables>; readonly log: Log }): Interval {
  return startInterval(
    deleteEveryMs,
    (stopped) => deleteExpired(db, stopped),
    (error) => log.warn({ err: error }, 'old events of users could not be deleted'),
  );
}

export async function deleteExpired(db: Db<AgentTables>, stopped: AbortSignal): Promise<void> {
  await removeAll(atOnce, (limit) => deleteOldUserEvents(db, keptForS, limit), stopped);
}
