/**
 * Ends the runs of processes that died: as failed, with what their readers were shown. The first process that notices
 * does it. A run is never executed again, because its tools cost credits. Also deletes expired runs.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { UIMessage } from 'ai';
import { startInterval } from '#platform/background/interval.ts';
import type { Log } from '#platform/log.ts';
import { unknownUsage } from '../billing/usage.ts';
import type { EventLog } from '../eventlog/eventlog.ts';
import type { AgentMetrics } from '../metrics.ts';
import { claimDeadRuns, claimRun, type Run } from '../store/runstore.ts';
import type { Chunk } from '../stream/chunks.ts';
import { MessageAssembler } from '../stream/messageassembler.ts';
import { lastChunk } from '../stream/replay.ts';
import { removeExpiredRuns } from './retention.ts';
import { endRun, type RunsDeps } from './runs.ts';

export interface ReaperDeps extends RunsDeps {
  readonly metrics: AgentMetrics;
  readonly eventLog: EventLog;
  readonly log: Log;
}

export interface Reaper {
  /** Ends all runs of other processes, dead or not. For the start of a process that is the only one. */
  reapAll(): Promise<void>;
  /** Ends one run of a process that does not react. */
  end(taskId: string): Promise<void>;
  close(): void;
}

const reapEveryMs = 2000;
/**
 * Short, because the reaping process may die as well, and readers must get the end within 30 s
 * (docs/specification/agent.md#streams).
 */
const reapingLeaseMs = 5000;
const atOnce = 50;
/** If the log does not answer for this long, the run ends without what was shown of it, so that its thread is free. */
const unreadableForMs = 2000;
const sweepEveryMs = 60_000;
const failure = { status: 'failed', error: 'The server stopped unexpectedly during the run.' } as const;

export function startReaper(deps: ReaperDeps): Reaper {
  const { log } = deps;
  // Different from the executor's holder, so that runs of this process whose lease ran out are reaped too.
  const holder = randomUUID();

  const closing = new AbortController();

  async function reap(all: boolean): Promise<void> {
    try {
      while (!closing.signal.aborted) {
        const claimed = await claim(all);
        if (claimed.length === 0) return;
        await Promise.all(claimed.map(end));
      }
    } catch (error) {
      log.warn({ err: error }, 'runs of dead processes could not be found');
    }
  }

  const claim = (all: boolean) => claimDeadRuns(deps.db, holder, reapingLeaseMs, all, atOnce);

  /** A run that cannot be ended is claimed again after its reaping lease, and delays no other run. */
  async function end(run: Run): Promise<void> {
    try {
      await endDeadRun(deps, run, await readShown(run));
    } catch (error) {
      log.warn({ err: error }, 'a run of a dead process could not be ended');
    }
  }

  async function takeOver(taskId: string): Promise<void> {
    const run = await claimRun(deps.db, holder, reapingLeaseMs, taskId);
    if (run !== undefined) await end(run);
  }

  async function readShown(run: Run): Promise<Shown> {
    // From now on only this process can append: anything that readers were shown later would be lost.
    await deps.eventLog.claim(run).catch((error: unknown) => log.warn({ err: error }, 'could not claim an event log'));
    for (const startedAtMs = performance.now(); ; await sleep(500)) {
      try {
        return await readMessage(deps, run);
      } catch (error) {
        if (performance.now() - startedAtMs < unreadableForMs) continue;
        log.warn(
          { err: error },
          'ended a run of a dead process without its output, because its event log does not respond',
        );
        return { parts: [], metadata: {}, lastSeq: undefined };
      }
    }
  }

  const onError = (error: unknown) => log.warn({ err: error }, 'dead or expired runs could not be removed');
  const intervals = [
    startInterval(reapEveryMs, () => reap(false), onError),
    startInterval(sweepEveryMs, (stopped) => removeExpiredRuns(deps, stopped), onError),
  ];
  return {
    reapAll: () => reap(true),
    end: takeOver,
    close: () => {
      closing.abort();
      for (const interval of intervals) void interval.stop();
    },
  };
}

interface Shown {
  readonly parts: UIMessage['parts'];
  readonly metadata: Readonly<Record<string, unknown>>;
  /** `undefined` if the log has its last event already, or does not answer. */
  readonly lastSeq: number | undefined;
}

async function endDeadRun(deps: ReaperDeps, run: Run, { parts, metadata, lastSeq }: Shown): Promise<void> {
  const ended = await endRun(deps, run, {
    ...failure,
    parts,
    metadata,
    usage: unknownUsage,
    imageOrders: [],
  });
  if (ended !== undefined) deps.metrics.runEnded(failure.status, run.model, undefined, unknownUsage);
  if (lastSeq === undefined) return;
  const batch = {
    firstSeq: lastSeq + 1,
    lastSeq: lastSeq + 1,
    events: [JSON.stringify(lastChunk(failure))],
    isLast: true,
  };
  await deps.eventLog.append(run, batch).catch((error: unknown) => {
    deps.log.warn({ err: error }, 'could not append the last event of a run to its log; its row has the status');
  });
}

async function readMessage(deps: ReaperDeps, run: Run): Promise<Shown> {
  const message = new MessageAssembler();
  let metadata: Record<string, unknown> = {};
  let lastSeq = 0;
  let ended = false;
  for (;;) {
    const batches = await deps.eventLog.read(run, lastSeq);
    for (const batch of batches) {
      lastSeq = batch.lastSeq;
      ended ||= batch.isLast;
      for (const event of batch.events) {
        const chunk = JSON.parse(event) as Chunk;
        message.add(chunk);
        if ('messageMetadata' in chunk) metadata = { ...metadata, ...(chunk.messageMetadata as object) };
      }
    }
    if (batches.length === 0) return { parts: message.parts(), metadata, lastSeq: ended ? undefined : lastSeq };
  }
}
