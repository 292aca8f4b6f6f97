/**
 * Runs that wait for the run in progress of their thread (docs/specification/agent.md#busy-threads). Their credits are reserved, and
 * their questions come into the thread when they start. Any process starts the next one when a run has ended.
 */
import { closeCredits } from '#accounts/ledger/credits.ts';
import { type Interval, startInterval } from '#platform/background/interval.ts';
import { transaction } from '#platform/db/db.ts';
import { Problem } from '#platform/problem.ts';
import type { AgentContext } from '../context.ts';
import { publishRunEnd, publishRunStart, publishVideoFailures } from '../events.ts';
import type { ServingContext } from '../servingcontext.ts';
import { lockExistingThread } from '../threads/threadstore.ts';
import { openQueued, queueTopic } from './runs.ts';
import * as store from './runstore.ts';

/** Wake-ups can be lost. */
const lookEveryMs = 2000;
const atOnce = 100;

export function startQueue(deps: ServingContext): { stop(): Promise<void> } {
  const onError = (error: unknown) => deps.log.warn({ err: error }, 'queued runs could not be started');
  const unsubscribe = deps.pubsub.subscribe(queueTopic, {
    onMessage: (threadId) => void startNext(deps, threadId).catch(onError),
  });
  const looking: Interval = startInterval(
    lookEveryMs,
    async () => {
      for (const threadId of await store.listIdleQueues(deps.db, atOnce)) await startNext(deps, threadId);
    },
    onError,
  );
  return {
    stop: () => {
      unsubscribe();
      return looking.stop();
    },
  };
}

/** Starts the first queued run of a thread that has none in progress. One that cannot start fails, and the next one follows. */
export async function startNext(deps: ServingContext, threadId: string): Promise<void> {
  while (deps.executor.isAccepting) {
    let next: store.QueuedRun | undefined;
    try {
      const started = await transaction(deps.db, async (tx) => {
        const thread = await lockExistingThread(tx, threadId);
        if (thread === undefined || thread.isDeleting || (await store.findRunningOf(tx, threadId)) !== undefined)
          return undefined;
        const waiting = await store.listQueued(tx, threadId);
        next = waiting[0];
        if (next === undefined) return undefined;
        const chosen = deps.models.pick(next.model);
        const isInterrupted = waiting.slice(1).some(({ interrupts }) => interrupts);
        const canceled = await openQueued(deps, tx, next);
        const run = await store.markStarted(tx, next.taskId, deps.lease, isInterrupted);
        if (run === undefined) throw new Error('a queued run has vanished from its locked thread');
        await publishVideoFailures(deps, tx, canceled);
        await publishRunStart(deps, tx, run);
        return { run, chosen, isInterrupted };
      });
      if (started === undefined) return;
      await deps.executor.start(started.run, started.chosen);
      if (!started.isInterrupted) return;
      deps.executor.abort(started.run.taskId);
      return;
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500 || next === undefined) throw error;
      await endQueued(deps, next, { status: 'failed', error: error.message });
    }
  }
}

/** Ends a run that has not started, free of charge. `false`: it has started or ended in the meantime. */
export async function endQueued(
  deps: AgentContext,
  run: store.Run,
  outcome: { readonly status: 'failed' | 'aborted'; readonly error: string | null },
): Promise<boolean> {
  return transaction(deps.db, async (tx) => {
    await lockExistingThread(tx, run.threadId);
    if (!(await store.markEnded(tx, { ...run, status: 'queued' }, outcome))) return false;
    const settlement = await closeCredits(tx, run.taskId);
    await publishRunEnd(deps, tx, run, { ...outcome, parts: [], videos: [], isChanged: false, settlement });
    return true;
  });
}

/** The thread is to be deleted. */
export async function endAllQueued(deps: AgentContext, threadId: string): Promise<void> {
  for (const run of await store.listQueued(deps.db, threadId))
    await endQueued(deps, run, { status: 'aborted', error: null });
}
