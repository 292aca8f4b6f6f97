/** The finished steps of runs in progress, and the tool calls of their current step. */
import type { UIMessage } from 'ai';
import { type RawBuilder, sql } from 'kysely';
import type { Db, Tx } from '#platform/db/db.ts';
import { retry } from '#platform/resilience.ts';
import type { Run } from '../runs/runstore.ts';
import { RunFenced } from '../stream/eventwriter.ts';
import type { AgentTables, TokenUsage } from '../tables.ts';

type Handle = Db<AgentTables> | Tx<AgentTables>;

export interface FinishedStep {
  /** Counts from 1. */
  readonly step: number;
  readonly parts: UIMessage['parts'];
  readonly usage: TokenUsage;
  /** The fallback that answered. */
  readonly answeredBy: string | null;
}

export type CallResult = { readonly output: unknown } | { readonly error: string };

export function listSteps(db: Handle, taskId: string): Promise<readonly FinishedStep[]> {
  return db
    .selectFrom('agent_steps')
    .select(['step', 'parts', 'usage', 'answered_by as answeredBy'])
    .where('task_id', '=', taskId)
    .orderBy('step')
    .execute();
}

export type RecordedCall = Awaited<ReturnType<typeof listCalls>>[number];

export function listCalls(db: Handle, taskId: string) {
  return db
    .selectFrom('agent_step_calls')
    .select(['tool_call_id as toolCallId', 'name', 'is_finished as isFinished', 'output', 'error'])
    .where('task_id', '=', taskId)
    .execute();
}

/** The run has ended. */
export async function deleteSteps(tx: Tx<AgentTables>, taskId: string): Promise<void> {
  await tx
    .with('calls', (query) => query.deleteFrom('agent_step_calls').where('task_id', '=', taskId))
    .deleteFrom('agent_steps')
    .where('task_id', '=', taskId)
    .execute();
}

// What a run has done, in the database, for the process that goes on with it. Every write names the fence of the run: a process that
// has lost the run can neither begin a tool call nor finish a step.

const retries = { attempts: 5, baseDelayMs: 100, maxDelayMs: 1000, isRetryable: () => true };

export interface Journal {
  /** Before the tool works. */
  callStarted(call: { readonly toolCallId: string; readonly name: string }): Promise<void>;
  /** Before the result is shown. */
  callFinished(toolCallId: string, result: CallResult): Promise<void>;
  stepFinished(step: FinishedStep): Promise<void>;
}

/** All may be repeated, and reject with RunFenced if another process executes the run. */
export function openJournal(db: Db<AgentTables>, { taskId, fence }: Run): Journal {
  // The run's row is locked during the write, so a process that takes the run over waits for it, and vice versa.
  const held = sql`with run as (
    select task_id from agent_runs where task_id = ${taskId} and fence = ${fence} and status = 'running' for share
  )`;
  const write = async (statement: RawBuilder<unknown>) => {
    const { rows } = await retry(() => statement.execute(db), retries);
    if (rows.length === 0) throw new RunFenced();
  };
  return {
    callStarted: ({ toolCallId, name }) =>
      write(sql`
        ${held}
        insert into agent_step_calls (task_id, tool_call_id, name)
        select task_id, ${toolCallId}::text, ${name}::text from run
        on conflict (task_id, tool_call_id) do update set name = excluded.name
        returning tool_call_id`),
    callFinished: (toolCallId, result) => {
      const output = 'output' in result ? JSON.stringify({ value: result.output }) : null;
      const error = 'error' in result ? result.error : null;
      return write(sql`
        ${held}
        update agent_step_calls set is_finished = true, output = ${output}::jsonb, error = ${error}::text
        from run where agent_step_calls.task_id = run.task_id and tool_call_id = ${toolCallId}
        returning tool_call_id`);
    },
    stepFinished: ({ step, parts, usage, answeredBy }) =>
      write(sql`
        ${held}
        insert into agent_steps (task_id, step, parts, usage, answered_by)
        select task_id, ${step}::integer, ${JSON.stringify(parts)}::jsonb, ${JSON.stringify(usage)}::jsonb, ${answeredBy}::text
        from run
        on conflict (task_id, step) do update set parts = excluded.parts
        returning step`),
  };
}
