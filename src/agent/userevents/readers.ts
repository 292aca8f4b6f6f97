/**
 * Readers of `GET /events` (docs/specification/agent.md#events). The rows are the truth, and a reader is a cursor into those
 * of its user. One query serves all readers that may have new events: those of a user who was woken and, at intervals, all.
 */
import type { FastifyReply } from 'fastify';
import { type Interval, startInterval } from '#platform/background/interval.ts';
import type { Db } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import { invalid, problems } from '#platform/problem.ts';
import type { PubSub } from '#platform/pubsub/pubsub.ts';
import {
  defaultHeartbeatEveryMs,
  defaultStalledAfterMs,
  EventConnection,
  type StreamQuota,
} from '../stream/readers.ts';
import type { AgentTables } from '../tables.ts';
import { findLastUserEvent, listUserEvents, type UserEventRow, userEventsTopic } from './usereventstore.ts';

export interface UserEventReadersOptions {
  readonly db: Db<AgentTables>;
  readonly log: Log;
  readonly pubsub: PubSub;
  readonly countStream: StreamQuota;
}

export interface UserEventReadersPace {
  readonly heartbeatEveryMs?: number;
  readonly stalledAfterMs?: number;
  /** How soon an event of another process is seen if its message is lost, or if there is no Redis. */
  readonly lookEveryMs?: number;
}

/** The most that is read for one reader, and sent to it, before its socket has to take it. */
const eventsAtOnce = 100;
const defaultLookEveryMs = 1000;
/** The longest delay that timers have, 24 days. */
const longestTimerMs = 2 ** 31 - 1;

/** Throws 400 for a malformed id. */
export function readLastUserEventId(header: string | string[] | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !/^(0|[1-9]\d{0,14})$/.test(header))
    throw invalid('headers.last-event-id', 'must be the id of an event of this stream');
  return Number(header);
}

interface Reader {
  readonly userId: string;
  readonly connection: EventConnection;
  afterSeq: number;
}

export class UserEventReaders {
  readonly #deps: UserEventReadersOptions;
  readonly #readers = new Map<string, Set<Reader>>();
  /** Readers that may have new events. */
  readonly #due = new Set<Reader>();
  readonly #intervals: readonly Interval[];
  readonly #unsubscribe: () => void;
  #delivering: Promise<void> | undefined;
  #isClosed = false;

  constructor(deps: UserEventReadersOptions, pace: UserEventReadersPace = {}) {
    const { heartbeatEveryMs = defaultHeartbeatEveryMs, stalledAfterMs = defaultStalledAfterMs } = pace;
    this.#deps = deps;
    const onError = (error: unknown) => deps.log.warn({ err: error }, 'could not send events to readers');
    this.#intervals = [
      startInterval(pace.lookEveryMs ?? defaultLookEveryMs, async () => this.#wake(this.#all()), onError),
      startInterval(
        heartbeatEveryMs,
        async () => {
          for (const { connection } of this.#all()) connection.sendHeartbeat(stalledAfterMs);
        },
        onError,
      ),
    ];
    this.#unsubscribe = deps.pubsub.subscribe(userEventsTopic, {
      onMessage: (userId) => this.#wake(this.#readers.get(userId) ?? []),
      onGap: () => this.#wake(this.#all()),
    });
  }

  /**
   * Responds with the events of the user after `lastEventId`; without one, or with one that does not exist yet, those from
   * now on. Ends when the token expires. Throws 429 `too_many_streams`.
   */
  async read(
    reply: FastifyReply,
    { userId, expiresAtMs = Number.POSITIVE_INFINITY }: { readonly userId: string; readonly expiresAtMs?: number },
    lastEventId: number | undefined,
  ): Promise<void> {
    if (this.#isClosed) throw problems.draining();
    const release = this.#deps.countStream(userId);
    const lastSeq = await findLastUserEvent(this.#deps.db, userId).catch((error: unknown) => {
      release();
      throw error;
    });
    if (reply.raw.destroyed) return release();
    const connection = EventConnection.open(reply);
    const reader = { userId, connection, afterSeq: Math.min(lastEventId ?? lastSeq, lastSeq) };
    const expiry = setTimeout(() => connection.end(), Math.min(expiresAtMs - Date.now(), longestTimerMs));
    this.#add(reader);
    connection.onClose(() => {
      clearTimeout(expiry);
      this.#remove(reader);
      release();
    });
    connection.onDrain(() => this.#wake([reader]));
    // With the id, a client that is cut off before its first event can resume too.
    connection.write(`: connected\nid: ${reader.afterSeq}\n\n`);
    if (this.#isClosed) connection.end();
    else this.#wake([reader]);
  }

  /** Ends all streams after the events so far. Clients resume them at another process. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#unsubscribe();
    for (const interval of this.#intervals) void interval.stop();
    this.#wake(this.#all());
    await this.#delivering;
    for (const { connection } of this.#all()) connection.end();
  }

  #all(): readonly Reader[] {
    return [...this.#readers.values()].flatMap((readers) => [...readers]);
  }

  #add(reader: Reader): void {
    this.#readers.set(reader.userId, (this.#readers.get(reader.userId) ?? new Set()).add(reader));
  }

  #remove(reader: Reader): void {
    const readers = this.#readers.get(reader.userId);
    readers?.delete(reader);
    if (readers?.size === 0) this.#readers.delete(reader.userId);
    this.#due.delete(reader);
  }

  #wake(readers: Iterable<Reader>): void {
    for (const reader of readers) this.#due.add(reader);
    if (this.#due.size === 0) return;
    this.#delivering ??= this.#deliverAll().finally(() => {
      this.#delivering = undefined;
      // Readers can be woken after the last check of the loop and before this.
      this.#wake([]);
    });
  }

  /** Readers that are woken during a query are in the next one. After an error, all wait for the next look. */
  async #deliverAll(): Promise<void> {
    try {
      while (this.#due.size > 0) {
        const ready = [...this.#due].filter(({ connection }) => !connection.isBlocked && !connection.isEnded);
        this.#due.clear();
        await this.#deliver(ready);
      }
    } catch (error) {
      this.#due.clear();
      this.#deps.log.warn({ err: error }, 'new events of users could not be read');
    }
  }

  async #deliver(readers: readonly Reader[]): Promise<void> {
    const cursors = [...Map.groupBy(readers, ({ userId, afterSeq }) => `${userId} ${afterSeq}`).values()];
    if (cursors.length === 0) return;
    const places = cursors.flatMap(([reader]) => reader ?? []).map(({ userId, afterSeq }) => ({ userId, afterSeq }));
    const rows = await listUserEvents(this.#deps.db, places, eventsAtOnce);
    for (const [cursor, found] of Map.groupBy(rows, (row) => row.cursor)) {
      const last = found.at(-1);
      if (last === undefined) continue;
      const text = found.map(frame).join('');
      for (const reader of cursors[cursor] ?? []) {
        reader.afterSeq = last.seq;
        if (reader.connection.write(text) && found.length === eventsAtOnce) this.#due.add(reader);
      }
    }
  }
}

function frame({ seq, event, createdAt }: UserEventRow): string {
  const { type, ...facts } = event;
  return `id: ${seq}\ndata: ${JSON.stringify({ type, ...facts, timestamp: createdAt.toISOString() })}\n\n`;
}
