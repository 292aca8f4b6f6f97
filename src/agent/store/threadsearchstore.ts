/** Queries of the search in threads. Each of them reads a bounded number of bytes. */
import { sql } from 'kysely';
import type { Db } from '#platform/db/db.ts';
import type { RunTables } from './runstore.ts';
import { isAfter, type ThreadPlace } from './threadstore.ts';

/** A thread that may be found. */
export interface Candidate {
  readonly threadId: string;
  readonly updatedAt: Date;
  readonly messageBytes: number;
  /** The words that its title does not have. */
  readonly lacking: readonly string[];
}

/** Newest first. */
export async function listCandidates(
  db: Db<RunTables>,
  ownerId: string,
  words: readonly string[],
  after: ThreadPlace | undefined,
  limit: number,
): Promise<readonly Candidate[]> {
  const { rows } = await sql<Candidate>`
    select thread_id as "threadId", updated_at as "updatedAt", message_bytes::float8 as "messageBytes",
      array(
        select word from unnest(${words}::text[]) as word where strpos(lower(normalize(title, NFKC)), word) = 0
      ) as lacking
    from agent_threads
    where owner_id = ${ownerId} and deleting_at is null and trashed_at is null and ${isAfter(after)}
    order by updated_at desc, thread_id desc limit ${limit}`.execute(db);
  return rows;
}

/** Messages of one thread, both included. */
export interface MessageRange {
  readonly threadId: string;
  readonly from: number;
  readonly to: number;
}

/** The words that occur in the messages, by thread. */
export async function findWords(
  db: Db<RunTables>,
  words: readonly string[],
  ranges: readonly MessageRange[],
): Promise<readonly { readonly threadId: string; readonly word: string }[]> {
  const [ids, froms, tos] = [ranges.map((r) => r.threadId), ranges.map((r) => r.from), ranges.map((r) => r.to)];
  const { rows } = await sql<{ threadId: string; word: string }>`
    select distinct message.thread_id as "threadId", word
    from unnest(${ids}::text[], ${froms}::bigint[], ${tos}::bigint[]) as range (thread_id, from_seq, to_seq)
    join agent_messages as message
      on message.thread_id = range.thread_id and message.seq between range.from_seq and range.to_seq
    cross join unnest(${words}::text[]) as word
    where strpos(message.search_text, word) > 0`.execute(db);
  return rows;
}
