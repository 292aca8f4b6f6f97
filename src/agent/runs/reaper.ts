/**
 * Goes on with the runs of processes that died or drain, from their last finished steps. The first process that notices does it. A
 * run that was to be stopped, or has been restarted too often, ends with what its readers were shown. Also deletes expired runs.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startInterval } from '#platform/background/interval.ts';
import { removeAll } from '#platform/background/removal.ts';
import { Problem } from '#platform/problem.ts';
import { unknownUsage } from '../billing/usage.ts';
import type { AgentContext } from '../context.ts';
import { modelOf } from '../providers/models.ts';
import { isLogLost, planContinuation, type RunRecord, readRecord } from '../steps/recovery.ts';
import { lastChunk } from '../stream/chunks.ts';
import { type Execution, handOverTopic, type RunExecutor } from './execution.ts';
import { endRun } from './runs.ts';
import { beginRun, type ClaimedRun, claimDeadRuns, claimRun, deleteExpiredRuns, deleteOldStarts } from './runstore.ts';

export interface Reaper {
  /** Takes over all runs of other processes, dead or not. For the start of a process that is the only one. */
  reapAll(): Promise<void>;
  /** Ends one run of a process that does not react. */
  end(taskId: string): Promise<void>;
  close(): void;
}

const reapEveryMs = 2000;
/** Short, because the reaping process may die as well, and readers must get the end within 30 s (docs/specification/agent.md#streams). */
const reapingLeaseMs = 5000;
/**
 * Few, so that all of them begin within their reaping lease on a busy machine, and requests find a database connection beside them. The
 * next ones are claimed when these have read what they ask the model with, or after `preparingMs`.
 */
const atOnce = 10;
const preparingMs = 1000;
/** If the log does not answer for this long, the run ends without what was shown of it, so that its thread is free. */
const unreadableForMs = 2000;
const sweepEveryMs = 60_000;
const failure = { status: 'failed', error: 'The server stopped unexpectedly during the run.' } as const;

export function startReaper(deps: AgentContext, executor: RunExecutor): Reaper {
  const { log } = deps;
  const { holder } = deps.lease;
  const closing = new AbortController();

  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  /** One at a time: otherwise this process claims runs again that it is about to begin. Never rejects. */
  function reap(all: boolean): Promise<void> {
    if (next !== undefined && !all) return next;
    const reaping = last.then(() => {
      if (next === reaping) next = undefined;
      return reapNow(all);
    });
    last = reaping;
    next = reaping;
    return reaping;
  }

  async function reapNow(all: boolean): Promise<void> {
    try {
      while (!closing.signal.aborted && executor.isAccepting) {
        const claimed = await claimDeadRuns(deps.db, holder, reapingLeaseMs, all, atOnce, executor.executing);
        const started = await Promise.all(claimed.map(settle));
        if (claimed.length < atOnce) return;
        const allPrepared = Promise.all(started.map((execution) => execution?.prepared));
        await Promise.race([allPrepared, sleep(preparingMs)]);
      }
    } catch (error) {
      log.warn({ err: error }, 'runs of dead processes could not be found');
    }
  }

  /** A run that can be neither continued nor ended is claimed again after its reaping lease, and delays no other run. */
  async function settle(run: ClaimedRun): Promise<Execution | undefined> {
    try {
      const record = await readShown(run);
      const chosen = record === undefined || !mayContinue(run, record) ? undefined : modelOf(deps.models, run.model);
      if (record === undefined || chosen === undefined) {
        await endDeadRun(deps, run, record);
        return undefined;
      }
      const continuation = await planContinuation(deps, run, record);
      if (await beginRun(deps.db, run, deps.lease.leaseMs)) return await executor.start(run, chosen, continuation);
    } catch (error) {
      log.warn({ err: error }, 'a run of a dead process could not be taken over');
    }
    return undefined;
  }

  const mayContinue = (run: ClaimedRun, record: RunRecord) =>
    deps.continueRuns &&
    !run.abortRequested &&
    run.restarts <= deps.maxRestarts &&
    !record.isEnded &&
    !isLogLost(record);

  async function end(taskId: string): Promise<void> {
    const run = await claimRun(deps.db, holder, reapingLeaseMs, taskId);
    if (run !== undefined) await endDeadRun(deps, run, await readShown(run));
  }

  /** `undefined`: the log does not respond. */
  async function readShown(run: ClaimedRun): Promise<RunRecord | undefined> {
    // From now on only this process can append: anything that readers were shown later would be lost.
    await deps.eventLog.claim(run).catch((error: unknown) => log.warn({ err: error }, 'could not claim an event log'));
    for (const startedAtMs = performance.now(); ; await sleep(500)) {
      try {
        return await readRecord(deps, run);
      } catch (error) {
        // The database does not get to it, which shows nothing about the log. The run is claimed again.
        if (error instanceof Problem && error.code === 'overloaded') throw error;
        if (performance.now() - startedAtMs < unreadableForMs) continue;
        log.warn(
          { err: error },
          'ended a run of a dead process without its output, because its event log does not respond',
        );
        return undefined;
      }
    }
  }

  const onError = (error: unknown) => log.warn({ err: error }, 'dead or expired runs could not be removed');
  const unsubscribe = deps.pubsub.subscribe(handOverTopic, { onMessage: () => void reap(false) });
  const intervals = [
    startInterval(reapEveryMs, () => reap(false), onError),
    startInterval(sweepEveryMs, (stopped) => removeExpiredRuns(deps, stopped), onError),
  ];
  return {
    reapAll: () => reap(true),
    end,
    close: () => {
      closing.abort();
      unsubscribe();
      for (const interval of intervals) void interval.stop();
    },
  };
}

async function endDeadRun(deps: AgentContext, run: ClaimedRun, record: RunRecord | undefined): Promise<void> {
  const usage = record?.steps.at(-1)?.usage ?? unknownUsage;
  const outcome = run.abortRequested ? ({ status: 'aborted', error: null } as const) : failure;
  const ended = await endRun(deps, run, {
    ...outcome,
    parts: record?.message.parts() ?? [],
    metadata: record?.metadata ?? {},
    usage,
    imageOrders: [],
  });
  if (ended !== undefined) deps.metrics.runEnded(outcome.status, run.model, undefined, usage);
  if (record === undefined || record.isEnded) return;
  const seq = record.lastSeq + 1;
  const batch = { firstSeq: seq, lastSeq: seq, events: [JSON.stringify(lastChunk(outcome))], isLast: true };
  await deps.eventLog.append(run, batch).catch((error: unknown) => {
    deps.log.warn({ err: error }, 'could not append the last event of a run to its log; its row has the status');
  });
}

// Deletes runs, and the starts that repeated requests return, after the time for which they can be read.

const runsAtOnce = 500;
const startsAtOnce = 1000;

export async function removeExpiredRuns({ db, eventLog, taskTtlS }: AgentContext, stopped: AbortSignal): Promise<void> {
  const removeRuns = async (limit: number) => {
    const gone = await deleteExpiredRuns(db, taskTtlS, limit);
    // If the process dies here, streams in Redis expire.
    if (gone.length > 0) await eventLog.remove(gone);
    return gone.length;
  };
  await removeAll(runsAtOnce, removeRuns, stopped);
  await removeAll(startsAtOnce, (limit) => deleteOldStarts(db, limit), stopped);
}
