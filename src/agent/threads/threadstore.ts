/** Threads: whose they are, what users see of them, and those that are being deleted. */
import { sql } from 'kysely';
import type { Db, Tx } from '#platform/db/db.ts';
import type { ThreadChange } from '../api.ts';
import type { AgentTables } from '../tables.ts';

type Handle = Db<AgentTables> | Tx<AgentTables>;

const threadColumns = [
  'agent_threads.thread_id as threadId',
  'agent_threads.owner_id as ownerId',
  'agent_threads.title',
  'agent_threads.created_at as createdAt',
  'agent_threads.updated_at as updatedAt',
  'agent_threads.message_count as messageCount',
  'agent_threads.trashed_at as trashedAt',
  'agent_threads.temporary',
  'agent_runs.task_id as runningTaskId',
] as const;

export type Thread = NonNullable<Awaited<ReturnType<typeof findThread>>>;

/** Threads that are being deleted are not shown. */
function selectThreads(db: Handle) {
  return db
    .selectFrom('agent_threads')
    .leftJoin('agent_runs', (join) =>
      join.onRef('agent_runs.thread_id', '=', 'agent_threads.thread_id').on('agent_runs.status', '=', 'running'),
    )
    .select(threadColumns)
    .where('agent_threads.deleting_at', 'is', null);
}

export function findThread(db: Handle, threadId: string) {
  return selectThreads(db).where('agent_threads.thread_id', '=', threadId).executeTakeFirst();
}

/** Where a page of the list begins: after this thread. */
export interface ThreadPlace {
  readonly updatedAtMs: number;
  readonly threadId: string;
}

/** Newest first, without temporary threads. */
export function listThreads(
  db: Handle,
  ownerId: string,
  after: ThreadPlace | undefined,
  limit: number,
  isTrashed = false,
): Promise<readonly Thread[]> {
  return selectThreads(db)
    .where('agent_threads.owner_id', '=', ownerId)
    .where('agent_threads.trashed_at', isTrashed ? 'is not' : 'is', null)
    .where('agent_threads.temporary', '=', false)
    .where(isAfter(after))
    .orderBy('agent_threads.updated_at', 'desc')
    .orderBy('agent_threads.thread_id', 'desc')
    .limit(limit)
    .execute();
}

/** Those of them that are the owner's, in the order of the list. */
export async function findThreads(
  db: Handle,
  ownerId: string,
  threadIds: readonly string[],
): Promise<readonly Thread[]> {
  if (threadIds.length === 0) return [];
  return selectThreads(db)
    .where('agent_threads.owner_id', '=', ownerId)
    .where('agent_threads.thread_id', 'in', threadIds)
    .orderBy('agent_threads.updated_at', 'desc')
    .orderBy('agent_threads.thread_id', 'desc')
    .execute();
}

/** Threads that the list shows after the place; `undefined`: all. */
export function isAfter(after: ThreadPlace | undefined) {
  if (after === undefined) return sql<boolean>`true`;
  const updatedAt = new Date(after.updatedAtMs);
  return sql<boolean>`(agent_threads.updated_at, agent_threads.thread_id) < (${updatedAt}::timestamptz, ${after.threadId})`;
}

export interface ThreadLock {
  readonly ownerId: string;
  readonly isDeleting: boolean;
  readonly isTrashed: boolean;
  readonly isTemporary: boolean;
}

/** Locks the thread's row, and inserts it if it is missing. `temporary` applies to a new one. */
export async function lockThread(
  tx: Tx<AgentTables>,
  threadId: string,
  ownerId: string,
  temporary = false,
): Promise<ThreadLock> {
  const inserted = await tx
    .insertInto('agent_threads')
    .values({ thread_id: threadId, owner_id: ownerId, temporary })
    .onConflict((conflict) => conflict.column('thread_id').doNothing())
    .returning('owner_id as ownerId')
    .executeTakeFirst();
  if (inserted !== undefined) return { ...inserted, isDeleting: false, isTrashed: false, isTemporary: temporary };
  const thread = await lockExistingThread(tx, threadId);
  // Between the two statements, the deletion of the thread was committed.
  return thread ?? lockThread(tx, threadId, ownerId, temporary);
}

/** As `lockThread`; `undefined` if the thread is gone. For everything that a start before has set off. */
export function lockExistingThread(tx: Tx<AgentTables>, threadId: string): Promise<ThreadLock | undefined> {
  return selectOwnership(tx, threadId).forUpdate().executeTakeFirst();
}

/**
 * Excludes the removal of the thread until the transaction ends. Returns `false` if it is gone, or another user's since. A
 * late job must then write nothing about the user, who may have been erased.
 */
export async function holdThreadOf(tx: Tx<AgentTables>, threadId: string, ownerId: string): Promise<boolean> {
  return (await lockExistingThread(tx, threadId))?.ownerId === ownerId;
}

/** Also of a thread that is being deleted. */
export function findOwnership(db: Handle, threadId: string): Promise<ThreadLock | undefined> {
  return selectOwnership(db, threadId).executeTakeFirst();
}

function selectOwnership(db: Handle, threadId: string) {
  return db
    .selectFrom('agent_threads')
    .select([
      'owner_id as ownerId',
      sql<boolean>`deleting_at is not null`.as('isDeleting'),
      sql<boolean>`trashed_at is not null`.as('isTrashed'),
      'temporary as isTemporary',
    ])
    .where('thread_id', '=', threadId);
}

/** `temporary: false` keeps a temporary thread. Returns the owner; `undefined` if there is no such thread. */
export async function updateThread(
  tx: Tx<AgentTables>,
  threadId: string,
  { title, trashed, temporary }: ThreadChange,
): Promise<string | undefined> {
  const row = await tx
    .updateTable('agent_threads')
    .set({
      ...(title !== undefined && { title, title_source: 'user' }),
      ...(trashed !== undefined && { trashed_at: trashed ? sql<Date>`coalesce(trashed_at, now())` : null }),
      ...(temporary === false && { temporary }),
    })
    .where('thread_id', '=', threadId)
    .where('deleting_at', 'is', null)
    .returning('owner_id as ownerId')
    .executeTakeFirst();
  return row?.ownerId;
}

const trashDays = 30;
/** Of a temporary thread, since its last message. */
const temporaryHours = 24;
const hasExpired = sql<boolean>`(trashed_at < now() - make_interval(days => ${trashDays})
  or (temporary and updated_at < now() - make_interval(hours => ${temporaryHours}))) and deleting_at is null`;

/** Owners of temporary threads, and of threads in the trash, whose time is over. */
export async function listOwnersOfExpired(db: Handle, limit: number): Promise<readonly string[]> {
  const { rows } = await sql<{ ownerId: string }>`
    select distinct owner_id as "ownerId" from agent_threads where ${hasExpired} limit ${limit}`.execute(db);
  return rows.map(({ ownerId }) => ownerId);
}

/** Whether the thread has its first answer and no title but its first words. */
export async function wantsTitle(tx: Tx<AgentTables>, threadId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('agent_threads')
    .select('thread_id')
    .where((eb) => eb.and({ thread_id: threadId, title_source: 'words', message_count: 2 }))
    .executeTakeFirst();
  return row !== undefined;
}

/** A title that a model made of a conversation with this message. Returns the owner; `undefined` if a user has set one, or the message is gone. */
export async function setModelTitle(
  tx: Tx<AgentTables>,
  threadId: string,
  messageId: string,
  title: string,
): Promise<string | undefined> {
  const row = await tx
    .updateTable('agent_threads')
    .set({ title, title_source: 'model' })
    .where((eb) => eb.and({ thread_id: threadId, title_source: 'words' }))
    .where('deleting_at', 'is', null)
    .where((eb) =>
      eb.exists(
        eb.selectFrom('agent_messages').select('id').where('thread_id', '=', threadId).where('id', '=', messageId),
      ),
    )
    .returning('owner_id as ownerId')
    .executeTakeFirst();
  return row?.ownerId;
}

/** Hides one thread of the owner, or all, or those whose time is over. Returns those that were not hidden before. */
export async function hideThreads(
  tx: Tx<AgentTables>,
  ownerId: string,
  threadId: string | undefined,
  deletesAssets: boolean,
  isOnlyExpired = false,
): Promise<readonly string[]> {
  // Locked in one order, so that two calls do not wait for each other.
  const { rows } = await sql<{ threadId: string; isNew: boolean }>`
    with hidden as (
      select thread_id, deleting_at is null as is_new from agent_threads
      where owner_id = ${ownerId} and (${threadId ?? null}::text is null or thread_id = ${threadId ?? null}::text)
        ${isOnlyExpired ? sql`and ${hasExpired}` : sql``}
      order by thread_id for update
    )
    update agent_threads
    set deleting_at = coalesce(deleting_at, clock_timestamp()), deletes_assets = deletes_assets or ${deletesAssets}
    from hidden where agent_threads.thread_id = hidden.thread_id
    returning hidden.thread_id as "threadId", hidden.is_new as "isNew"`.execute(tx);
  return rows.filter(({ isNew }) => isNew).map((row) => row.threadId);
}

export interface HiddenThread {
  readonly threadId: string;
  readonly ownerId: string;
  readonly deletesAssets: boolean;
}

/** Those of the owner that are being deleted, or one of them. */
export function listHiddenThreads(
  db: Handle,
  ownerId: string,
  threadId: string | undefined,
  limit: number,
): Promise<readonly HiddenThread[]> {
  return db
    .selectFrom('agent_threads')
    .select(['thread_id as threadId', 'owner_id as ownerId', 'deletes_assets as deletesAssets'])
    .where('owner_id', '=', ownerId)
    .where('deleting_at', 'is not', null)
    .$if(threadId !== undefined, (query) => query.where('thread_id', '=', String(threadId)))
    .orderBy('deleting_at')
    .limit(limit)
    .execute();
}

/** The runs of the thread, those too that are known only by their messages. */
export async function listTaskIds(db: Handle, threadId: string): Promise<readonly string[]> {
  const { rows } = await sql<{ taskId: string }>`
    select task_id as "taskId" from agent_runs where thread_id = ${threadId}
    union select task_id from agent_messages where thread_id = ${threadId} and task_id is not null
    union select task_id from agent_branch_messages join agent_branches using (branch_id)
    where agent_branches.thread_id = ${threadId} and task_id is not null`.execute(db);
  return rows.map(({ taskId }) => taskId);
}

/** Removes the rows of a hidden thread, which has to be locked. */
export async function removeThread(tx: Tx<AgentTables>, threadId: string): Promise<void> {
  await tx.deleteFrom('agent_runs').where('thread_id', '=', threadId).execute();
  await tx.deleteFrom('agent_messages').where('thread_id', '=', threadId).execute();
  await sql`delete from agent_branches where thread_id = ${threadId}`.execute(tx);
  await tx.deleteFrom('agent_threads').where('thread_id', '=', threadId).execute();
}

// Queries of the search in threads. Each of them reads a bounded number of bytes.

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
  db: Db<AgentTables>,
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
    where owner_id = ${ownerId} and deleting_at is null and trashed_at is null and not temporary and ${isAfter(after)}
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
  db: Db<AgentTables>,
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
