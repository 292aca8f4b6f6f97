/** Replaced versions of threads. A version is either in agent_messages or here, so each change moves it in one transaction. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Db, Tx } from '#platform/db/db.ts';
import type { AgentTables } from '../tables.ts';
import type { StoredMessage } from './messagestore.ts';

type Handle = Db<AgentTables> | Tx<AgentTables>;

/** Of a thread. Older branches are dropped. */
const most = { branches: 100, bytes: 32 * 1024 * 1024 };

const columns = sql.raw(
  'thread_id, id, resource_id, role, parts, metadata, created_at, seq, bytes, task_id, search_text',
);

/** Moves the message with this number, and all after it, to a branch. The thread has to be locked. */
export async function branchOff(tx: Tx<AgentTables>, threadId: string, seq: number): Promise<void> {
  await sql`
    with branch as (
      insert into agent_branches (branch_id, thread_id, after_seq, first_seq, bytes)
      select ${randomUUID()}, ${threadId},
        coalesce((select max(seq) from agent_messages where thread_id = ${threadId} and seq < ${seq}), 0),
        min(seq), sum(bytes)
      from agent_messages where thread_id = ${threadId} and seq >= ${seq} having count(*) > 0
      returning branch_id
    ), dropped as (
      delete from agent_messages where thread_id = ${threadId} and seq >= ${seq} returning *
    ), kept as (
      insert into agent_branch_messages (branch_id, ${columns})
      select branch.branch_id, ${columns} from dropped cross join branch
    )
    update agent_threads
    set message_count = message_count - (select count(*) from dropped),
      message_bytes = message_bytes - (select coalesce(sum(bytes), 0) from dropped)
    where thread_id = ${threadId}`.execute(tx);
  await sql`
    delete from agent_branches using (
      select branch_id, row_number() over newest as place, sum(bytes) over newest as total
      from agent_branches where thread_id = ${threadId}
      window newest as (order by created_at desc, branch_id)
    ) as counted
    where agent_branches.branch_id = counted.branch_id and counted.place > 1
      and (counted.place > ${most.branches} or counted.total > ${most.bytes})`.execute(tx);
}

export interface Fork {
  /** The message of the thread with which its version begins. */
  readonly messageId: string;
  readonly seq: number;
  /** The other versions. */
  readonly branches: readonly { readonly branchId: string; readonly firstSeq: number; readonly createdAt: string }[];
}

/** The messages that have other versions, in the order of the thread. Branches of branches are not among them. */
export async function listForks(db: Handle, threadId: string): Promise<readonly Fork[]> {
  const { rows } = await sql<Fork>`
    select message.id as "messageId", message.seq, json_agg(
      json_build_object('branchId', branch.branch_id, 'firstSeq', branch.first_seq, 'createdAt', branch.created_at)
      order by branch.first_seq
    ) as branches
    from agent_branches as branch
    join lateral (
      select id, seq from agent_messages
      where thread_id = ${threadId} and seq > branch.after_seq order by seq limit 1
    ) as message on true
    where branch.thread_id = ${threadId} and (branch.after_seq = 0 or exists (
      select from agent_messages where thread_id = ${threadId} and seq = branch.after_seq
    ))
    group by message.id, message.seq order by message.seq`.execute(db);
  return rows;
}

/** A page of the messages of all branches, by number: at most `bytes`, but at least one. */
export async function listReplaced(db: Handle, threadId: string, afterSeq: number, bytes: number) {
  const { rows } = await sql<Omit<StoredMessage, 'metadata'> & { readonly branchId: string; readonly seq: number }>`
    select branch_id as "branchId", id, role, parts, created_at as "createdAt", seq
    from (
      select *, sum(message.bytes) over (order by seq) - message.bytes as before
      from agent_branch_messages as message
      where branch_id in (select branch_id from agent_branches where thread_id = ${threadId}) and seq > ${afterSeq}
    ) as page
    where before < ${bytes} order by seq`.execute(db);
  return rows;
}

/** `undefined`: the thread has no such branch at its present messages. */
export async function findPlace(tx: Tx<AgentTables>, threadId: string, branchId: string): Promise<number | undefined> {
  const { rows } = await sql<{ afterSeq: number }>`
    select after_seq as "afterSeq" from agent_branches as branch
    where thread_id = ${threadId} and branch_id = ${branchId} and (after_seq = 0 or exists (
      select from agent_messages where thread_id = ${threadId} and seq = branch.after_seq
    ))`.execute(tx);
  return rows[0]?.afterSeq;
}

/** The messages after those that stay must have been moved away. The thread has to be locked. */
export async function moveBack(tx: Tx<AgentTables>, threadId: string, branchId: string): Promise<void> {
  await sql`
    with restored as (
      insert into agent_messages (${columns})
      select ${columns} from agent_branch_messages where branch_id = ${branchId}
      returning bytes
    )
    update agent_threads
    set message_count = message_count + (select count(*) from restored),
      message_bytes = message_bytes + (select coalesce(sum(bytes), 0) from restored)
    where thread_id = ${threadId}`.execute(tx);
  await sql`delete from agent_branches where branch_id = ${branchId}`.execute(tx);
}
