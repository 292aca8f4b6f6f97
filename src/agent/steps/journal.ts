/**
 * What a run has done, in the database, for the process that goes on with it. Every write names the fence of the run: a process that
 * has lost the run can neither begin a tool call nor finish a step.
 */
import type { Db } from '#platform/db/db.ts';
import { retry } from '#platform/resilience/retry.ts';
import type { Run } from '../runs/runstore.ts';
import { RunFenced } from '../stream/eventwriter.ts';
import type { AgentTables } from '../tables.ts';
import { type CallResult, type FinishedStep, finishCall, insertCall, insertStep } from './stepstore.ts';

const retries = { attempts: 5, baseDelayMs: 100, maxDelayMs: 1000, isRetryable: () => true };

export interface Journal {
  /** Before the tool works. */
  callStarted(call: { readonly toolCallId: string; readonly name: string }): Promise<void>;
  /** Before the result is shown. */
  callFinished(toolCallId: string, result: CallResult): Promise<void>;
  stepFinished(step: FinishedStep): Promise<void>;
}

/** All reject with RunFenced if another process executes the run. */
export function openJournal(db: Db<AgentTables>, run: Run): Journal {
  const write = async (work: () => Promise<boolean>) => {
    if (!(await retry(work, retries))) throw new RunFenced();
  };
  return {
    callStarted: (call) => write(() => insertCall(db, run, call)),
    callFinished: (toolCallId, result) => write(() => finishCall(db, run, toolCallId, result)),
    stepFinished: (step) => write(() => insertStep(db, run, step)),
  };
}
