/**
 * Runs that nobody works on any more: their instance died. Whoever notices first ends them as failed, with what their
 * readers were shown; they are never run again by themselves, as tools cost credits. Also: what has expired goes.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { UIMessage } from 'ai';
import { startInterval } from '#platform/background/interval.ts';
import type { Log } from '#platform/log.ts';
import type { Chunk } from '../stream/chunks.ts';
import type { EventLog } from '../eventlog/eventlog.ts';
import { createFold } from '../stream/messageassembler.ts';
import { doneIn } from '../billing/references.ts';
import { lastChunk } from '../stream/replay.ts';
import { endRun, type Run, type RunsDeps } from './runs.ts';
import { claimOrphans, deleteExpiredRuns } from '../store/runstore.ts';

export interface ReapingDeps extends RunsDeps {
  readonly eventLog: EventLog;
  readonly log: Log;
}

export interface Reaping {
  /** Ends whatever runs in other hands, dead or not: for a start that knows itself to be alone. */
  reapAll(): Promise<void>;
  close(): void;
}

const reapEveryMs = 2000;
/** Short: who takes a run over may die as well, and its readers are told within 30 s all the same (docs/specification/agent.md#streams). */
const reapingLeaseMs = 5000;
const atOnce = 50;
/** After that a run ends without what was shown of it, as its log does not answer; its thread is not held for a log. */
const unreadableForMs = 2000;
const sweepEveryMs = 60_000;
const failure = { status: 'failed', error: 'The server that was running this stopped unexpectedly.' } as const;

export function startReaping(deps: ReapingDeps): Reaping {
  const { log } = deps;
  // Not the holder of our own runs: those whose lease ran out are reaped like anybody's.
  const holder = randomUUID();

  async function reap(all = false): Promise<void> {
    try {
      for (let claimed = await claim(all); claimed.length > 0; claimed = await claim(all)) {
        await Promise.all(claimed.map(end));
      }
    } catch (error) {
      log.warn({ err: error }, 'runs of a dead instance could not be looked for');
    }
  }

  const claim = (all: boolean) => claimOrphans(deps.db, holder, reapingLeaseMs, all, atOnce);

  /** One that cannot be ended is claimed again when our own lease on it has run out, and holds up no other. */
  async function end(run: Run): Promise<void> {
    try {
      await endOrphan(deps, run, await readShown(run));
    } catch (error) {
      log.warn({ err: error }, 'a run of a dead instance could not be ended');
    }
  }

  async function readShown(run: Run): Promise<Shown> {
    // First nobody else may append any more: what is shown after we looked would be lost.
    await deps.eventLog.claim(run).catch((error: unknown) => log.warn({ err: error }, 'a log could not be claimed'));
    for (const startedAtMs = performance.now(); ; await sleep(500)) {
      try {
        return await foldLog(deps, run);
      } catch (error) {
        if (performance.now() - startedAtMs < unreadableForMs) continue;
        log.warn({ err: error }, 'a run of a dead instance ends without what it had shown, as its log does not answer');
        return { parts: [], metadata: {}, lastSeq: undefined };
      }
    }
  }

  async function sweep(): Promise<void> {
    const gone = await deleteExpiredRuns(deps.db, deps.ttlS);
    if (gone.length > 0) await deps.eventLog.remove(gone);
  }

  const onError = (error: unknown) => log.warn({ err: error }, 'dead or expired runs could not be removed');
  const intervals = [startInterval(reapEveryMs, reap, onError), startInterval(sweepEveryMs, sweep, onError)];
  return {
    reapAll: () => reap(true),
    close: () => intervals.forEach((interval) => void interval.stop()),
  };
}

interface Shown {
  readonly parts: UIMessage['parts'];
  readonly metadata: Readonly<Record<string, unknown>>;
  /** `undefined`: the log has its end, or cannot be given one. */
  readonly lastSeq: number | undefined;
}

async function endOrphan(deps: ReapingDeps, run: Run, { parts, metadata, lastSeq }: Shown): Promise<void> {
  await endRun(deps, run, { ...failure, parts, metadata, done: doneIn(run.taskId, parts) });
  if (lastSeq === undefined) return;
  const batch = {
    firstSeq: lastSeq + 1,
    lastSeq: lastSeq + 1,
    events: [JSON.stringify(lastChunk(failure))],
    isLast: true,
  };
  await deps.eventLog.append(run, batch).catch((error: unknown) => {
    deps.log.warn({ err: error }, 'the end of a run could not be told in its log; its row tells it');
  });
}

async function foldLog(deps: ReapingDeps, run: Run): Promise<Shown> {
  const fold = createFold();
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
        fold.add(chunk);
        if ('messageMetadata' in chunk) metadata = { ...metadata, ...(chunk.messageMetadata as object) };
      }
    }
    if (batches.length === 0) return { parts: fold.parts(), metadata, lastSeq: ended ? undefined : lastSeq };
  }
}
