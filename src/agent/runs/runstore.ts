/** Runs: their rows, leases and ends, the queue of a thread, and starts with an `Idempotency-Key`. */
import { sql } from 'kysely';
import { deleteBatch, findOverdueS } from '#platform/background/removal.ts';
import { type Db, hasChanged, inCamelCase, json, type Tx } from '#platform/db/db.ts';
import { currentScope } from '#platform/telemetry/trace.ts';
import type { AgentTables, EndedStatus, Question, RunOptions, RunRecord, RunStatus } from '../tables.ts';

/** Neither queued nor running. */
export const isOver = ({ status }: { readonly status: RunStatus }): boolean =>
  status !== 'queued' && status !== 'running';

type Handle = Db<AgentTables> | Tx<AgentTables>;

/** All times are the database's, because the clocks of processes may differ. */
const now = sql<Date>`clock_timestamp()`;
const later = (ms: number) => sql<Date>`clock_timestamp() + make_interval(secs => ${ms / 1000})`;

const runColumns = inCamelCase(
  'task_id thread_id owner_id message_id status error error_code fence epoch_ms created_at',
  'updated_at model credits replayed options',
);

export type Run = NonNullable<Awaited<ReturnType<typeof findRun>>>;

interface NewRun {
  readonly taskId: string;
  readonly threadId: string;
  readonly ownerId: string;
  readonly messageId: string;
  readonly model: string;
  /** What the run costs. */
  readonly credits: number;
  readonly holder: string;
  readonly leaseMs: number;
  /** The run waits for the run in progress of its thread. */
  readonly queued?: QueuedStart | undefined;
  /** It goes on in an earlier message, and so many events of its stream repeat that. */
  readonly replayed?: number;
  readonly options?: RunOptions | undefined;
}

export interface QueuedStart {
  readonly question: Question;
  readonly rewindTo: string | null;
  /** Goes before those that only wait. */
  readonly interrupts: boolean;
}

/** Of the request or the job that is handled now. */
export function currentTrace() {
  const scope = currentScope();
  return scope === undefined
    ? null
    : sql<string>`${json({ requestId: scope.requestId, traceId: scope.trace.traceId })}`;
}

export function insertRun(tx: Tx<AgentTables>, run: NewRun) {
  return tx
    .insertInto('agent_runs')
    .values({
      task_id: run.taskId,
      thread_id: run.threadId,
      owner_id: run.ownerId,
      message_id: run.messageId,
      model: run.model,
      credits: run.credits,
      status: run.queued === undefined ? 'running' : 'queued',
      ...(run.queued && {
        question: JSON.stringify(run.queued.question),
        rewind_to: run.queued.rewindTo,
        interrupts: run.queued.interrupts,
        queued_at: now,
      }),
      replayed: run.replayed ?? null,
      holder: run.holder,
      options: run.options === undefined ? null : sql`${json(run.options)}`,
      trace: currentTrace(),
      lease_expires_at: later(run.leaseMs),
      epoch_ms: sql<number>`floor(extract(epoch from clock_timestamp()) * 1000)::bigint`,
    })
    .returning(runColumns)
    .executeTakeFirstOrThrow();
}

/** Neither expired nor unknown. A running one does not expire (docs/specification/agent.md#runs). */
export function findRun(db: Handle, taskId: string, ttlS: number) {
  return db
    .selectFrom('agent_runs')
    .select(runColumns)
    .where('task_id', '=', taskId)
    .where(sql<boolean>`(ended_at is null or ended_at > clock_timestamp() - make_interval(secs => ${ttlS}))`)
    .executeTakeFirst();
}

const runsOf = (db: Handle, threadId: string) =>
  db.selectFrom('agent_runs').select(runColumns).where('thread_id', '=', threadId);

/** The newest run of the thread that has ended, unless it is expired. */
export const findLastOf = (db: Handle, threadId: string, ttlS: number) =>
  runsOf(db, threadId)
    .where(sql<boolean>`ended_at > clock_timestamp() - make_interval(secs => ${ttlS})`)
    .orderBy('ended_at', 'desc')
    .limit(1)
    .executeTakeFirst();

export const findRunningOf = (db: Handle, threadId: string) =>
  runsOf(db, threadId).where('status', '=', 'running').executeTakeFirst();

/** Those of the runs that are there; a run of a deleted thread is not. */
export function listRuns(db: Handle, taskIds: readonly string[]) {
  return db
    .selectFrom('agent_runs')
    .select(runColumns)
    .where(sql<boolean>`task_id = any(${taskIds}::uuid[])`)
    .execute();
}

/** The holder sees the request at its next renewal. */
export async function requestAbort(db: Handle, taskId: string): Promise<void> {
  await db
    .updateTable('agent_runs')
    .set({ abort_requested: true, updated_at: now })
    .where((eb) => eb.and({ task_id: taskId, status: 'running', abort_requested: false }))
    .execute();
}

/** A blocked user's runs stop too, so a block needs no call to the processes that execute them. */
const isToStop = sql<boolean>`abort_requested
  or exists (select from user_profiles where id = owner_id and blocked_at is not null)`;

/**
 * One statement for all runs that a process executes. Runs that are missing in the result are lost. A run that a transaction has locked, such
 * as the one that ends it, keeps its lease: if the statement waited, every other run would wait for it. A row whose commit was not confirmed
 * is not renewed, so its lease runs out. A lease that ran out is renewed unless another process has the run: this one was slow.
 */
export function renewLeases(db: Handle, holder: string, taskIds: readonly string[], leaseMs: number) {
  const held = (from: Pick<Handle, 'selectFrom'>) =>
    from
      .selectFrom('agent_runs')
      .where('holder', '=', holder)
      .where(sql<boolean>`task_id = any(${taskIds}::uuid[])`)
      // Not a run that was released.
      .where((eb) => eb.and({ status: 'running', handed_over: false }));
  return db
    .with('free', (from) => held(from).select('task_id').forNoKeyUpdate().skipLocked())
    .with('renewed', (from) =>
      from
        .updateTable('agent_runs')
        .from('free')
        .set({ lease_expires_at: later(leaseMs) })
        .whereRef('agent_runs.task_id', '=', 'free.task_id'),
    )
    .with('rows', (from) => held(from).select(['task_id as taskId', isToStop.as('abortRequested')]))
    .selectFrom('rows')
    .selectAll()
    .execute();
}

/** Begins a claimed run, under a lease. `false`: it has ended, or was claimed again. */
export async function beginRun(
  db: Handle,
  { taskId, fence }: Pick<Run, 'taskId' | 'fence'>,
  leaseMs: number,
): Promise<boolean> {
  return db
    .updateTable('agent_runs')
    .set({ lease_expires_at: later(leaseMs), handed_over: false })
    .where((eb) => eb.and({ task_id: taskId, fence, status: 'running' }))
    .$call(hasChanged);
}

/** A run that this process has taken over. */
export type ClaimedRun = Awaited<ReturnType<typeof claimDeadRuns>>[number];

const claimedColumns = [...runColumns, 'restarts', 'abort_requested as abortRequested'] as const;

/** Only runs that began count as restarted: not those that were handed over, or claimed by a process that was too slow to begin. */
const claim = (holder: string, leaseMs: number) => ({
  holder,
  fence: sql<number>`fence + 1`,
  lease_expires_at: later(leaseMs),
  restarts: sql<number>`restarts + case when handed_over then 0 else 1 end`,
  handed_over: true,
});

/**
 * Takes over runs whose lease ran out, except `executing`, or with `all`, all runs of other holders. Concurrent calls never claim the
 * same run.
 */
export function claimDeadRuns(
  db: Handle,
  holder: string,
  leaseMs: number,
  all: boolean,
  limit: number,
  executing: readonly string[] = [],
) {
  return db
    .with(
      // Materialized: a plan that evaluates it again for each row would claim more than `limit`.
      (dead) => dead('dead').materialized(),
      (query) =>
        query
          .selectFrom('agent_runs')
          .select('task_id')
          .where('status', '=', 'running')
          .$if(all, (dead) => dead.where('holder', '<>', holder))
          // Also runs that this holder claimed and could not end.
          .$if(!all, (dead) =>
            dead.where('lease_expires_at', '<=', now).where(sql<boolean>`task_id <> all(${executing}::uuid[])`),
          )
          .orderBy('lease_expires_at')
          .limit(limit)
          .forUpdate()
          .skipLocked(),
    )
    .updateTable('agent_runs')
    .set(claim(holder, leaseMs))
    .where('status', '=', 'running')
    .where('task_id', 'in', (eb) => eb.selectFrom('dead').select('task_id'))
    .returning(claimedColumns)
    .execute();
}

/** Takes over one run, from whichever process has it. `undefined`: it has ended. */
export function claimRun(db: Handle, holder: string, leaseMs: number, taskId: string) {
  return db
    .updateTable('agent_runs')
    .set(claim(holder, leaseMs))
    .where((eb) => eb.and({ task_id: taskId, status: 'running' }))
    .returning(claimedColumns)
    .executeTakeFirst();
}

/** Ends the lease, so that another process goes on with the run at once. `false`: another process has it already. */
export async function releaseRun(db: Handle, { taskId, fence }: Pick<Run, 'taskId' | 'fence'>): Promise<boolean> {
  return db
    .updateTable('agent_runs')
    .set({ lease_expires_at: now, handed_over: true })
    .where((eb) => eb.and({ task_id: taskId, fence, status: 'running' }))
    .$call(hasChanged);
}

/** Prevents the run's end until the transaction is over. `false` if it has ended, or another process executes it. */
export async function holdRun(tx: Tx<AgentTables>, { taskId, fence }: Pick<Run, 'taskId' | 'fence'>): Promise<boolean> {
  const row = await tx
    .selectFrom('agent_runs')
    .select('task_id')
    .where((eb) => eb.and({ task_id: taskId, fence, status: 'running' }))
    .forShare()
    .executeTakeFirst();
  return row !== undefined;
}

interface RunOutcome {
  readonly status: EndedStatus;
  readonly error: string | null;
  readonly code?: string | undefined;
}

/** `false` if it has ended before, or another process executes it. */
export async function markEnded(
  tx: Tx<AgentTables>,
  run: Pick<Run, 'taskId' | 'fence' | 'status'>,
  { status, error, code }: RunOutcome,
): Promise<boolean> {
  return tx
    .updateTable('agent_runs')
    .set({ status, error, error_code: code ?? null, updated_at: now, ended_at: now })
    .where((eb) => eb.and({ task_id: run.taskId, fence: run.fence, status: run.status }))
    .$call(hasChanged);
}

/** Of a run that has ended. */
export async function recordRun(tx: Tx<AgentTables>, taskId: string, record: RunRecord): Promise<void> {
  await tx
    .updateTable('agent_runs')
    .set({ record: sql`${json(record)}` })
    .where('task_id', '=', taskId)
    .execute();
}

/** Deletes runs that ended longer ago than `ttlS`, with their events in the database, and returns their ids. */
export async function deleteExpiredRuns(db: Handle, ttlS: number, limit: number): Promise<readonly string[]> {
  // Materialized, as in claimDeadRuns. The index on `ended_at` is used, because now() is constant.
  const { rows } = await sql<{ taskId: string }>`
    with expired as materialized (
      select task_id from agent_runs where ended_at < now() - make_interval(secs => ${ttlS})
      order by ended_at limit ${limit} for update skip locked
    ), events as (
      delete from agent_events using expired where agent_events.task_id = expired.task_id
    )
    delete from agent_runs using expired where agent_runs.task_id = expired.task_id
    returning agent_runs.task_id as "taskId"`.execute(db);
  return rows.map(({ taskId }) => taskId);
}

export const findOverdueRunsS = (db: Db<AgentTables>, ttlS: number) =>
  findOverdueS(db, sql`ended_at`, sql`agent_runs`, ttlS);

// The runs that wait for the run in progress of their thread.

export type QueuedRun = Awaited<ReturnType<typeof listQueued>>[number];

/** In the order in which they start: those that interrupt come first. */
export function listQueued(db: Handle, threadId: string) {
  return db
    .selectFrom('agent_runs')
    .select([...runColumns, 'question', 'rewind_to as rewindTo', 'interrupts'])
    .where((eb) => eb.and({ thread_id: threadId, status: 'queued' }))
    .orderBy('interrupts', 'desc')
    .orderBy('queued_at')
    .execute();
}

export async function hasQueued(db: Handle, threadId: string): Promise<boolean> {
  const row = await db
    .selectFrom('agent_runs')
    .select('task_id')
    .where((eb) => eb.and({ thread_id: threadId, status: 'queued' }))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Threads with queued runs and no run in progress. */
export async function listIdleQueues(db: Handle, limit: number): Promise<readonly string[]> {
  const { rows } = await sql<{ threadId: string }>`
    select distinct thread_id as "threadId" from agent_runs as waiting
    where status = 'queued' and not exists (
      select from agent_runs where thread_id = waiting.thread_id and status = 'running'
    ) limit ${limit}`.execute(db);
  return rows.map(({ threadId }) => threadId);
}

/** The thread has to be locked. `isAborted`: the run is to be stopped at once, because another one interrupts it. */
export function markStarted(
  tx: Tx<AgentTables>,
  taskId: string,
  lease: { readonly holder: string; readonly leaseMs: number },
  isAborted: boolean,
) {
  return tx
    .updateTable('agent_runs')
    .set({
      status: 'running',
      holder: lease.holder,
      lease_expires_at: later(lease.leaseMs),
      updated_at: now,
      abort_requested: isAborted,
      question: null,
      rewind_to: null,
    })
    .where((eb) => eb.and({ task_id: taskId, status: 'queued' }))
    .returning(runColumns)
    .executeTakeFirst();
}

// The starts of runs that came with an `Idempotency-Key`.

export interface KeyedStart {
  readonly userId: string;
  readonly key: string;
  readonly bodyDigest: string;
}

export interface Started {
  readonly taskId: string;
  readonly threadId: string;
  readonly queued: boolean;
}

/** docs/specification/agent.md#idempotent-starts */
const keptForHours = 24;
const isRetained = sql<boolean>`created_at > clock_timestamp() - make_interval(hours => ${keptForHours})`;

/** The start that used the key within the last 24 hours. */
export function findStart(db: Db<AgentTables>, { userId, key }: KeyedStart) {
  return db
    .selectFrom('agent_starts')
    .select(['body_digest as bodyDigest', 'task_id as taskId', 'thread_id as threadId', 'queued'])
    .where((eb) => eb.and({ user_id: userId, key }))
    .where(isRetained)
    .executeTakeFirst();
}

/** Waits for another transaction that takes the key. `false`: that was committed. */
export async function takeKey(
  tx: Tx<AgentTables>,
  start: KeyedStart,
  started: Omit<Started, 'queued'>,
): Promise<boolean> {
  const { userId, key, bodyDigest } = start;
  await tx
    .deleteFrom('agent_starts')
    .where((eb) => eb.and({ user_id: userId, key }))
    .where(sql<boolean>`not (${isRetained})`)
    .execute();
  return tx
    .insertInto('agent_starts')
    .values({ user_id: userId, key, body_digest: bodyDigest, task_id: started.taskId, thread_id: started.threadId })
    .onConflict((conflict) => conflict.columns(['user_id', 'key']).doNothing())
    .$call(hasChanged);
}

/** The run of the key waits for another one. */
export async function markStartQueued(tx: Tx<AgentTables>, { userId, key }: KeyedStart): Promise<void> {
  await tx
    .updateTable('agent_starts')
    .set({ queued: true })
    .where((eb) => eb.and({ user_id: userId, key }))
    .execute();
}

/** Returns how many. */
export async function deleteOldStarts(db: Db<AgentTables>, limit: number): Promise<number> {
  const old = sql`created_at < now() - make_interval(hours => ${keptForHours})`;
  return deleteBatch(db, 'agent_starts', ['user_id', 'key'], sql`${old} order by created_at limit ${limit}`);
}

export const findOverdueStartsS = (db: Db<AgentTables>) =>
  findOverdueS(db, sql`created_at`, sql`agent_starts`, keptForHours * 3600);
