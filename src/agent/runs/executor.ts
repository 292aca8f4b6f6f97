/**
 * The runs of this process: begun, kept alive by one lease renewal for all of them, aborted, drained. A run that is lost
 * to another process stops without a word: whoever has it now tells how it ended.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { startInterval } from '#platform/background/interval.ts';
import type { Log } from '#platform/log.ts';
import type { Chunk } from '../stream/chunks.ts';
import { createEmission, type EmissionDeps, Fenced, LogFull, LogLost } from '../stream/eventwriter.ts';
import type { EventLog } from '../eventlog/eventlog.ts';
import { explainFailure } from '../providers/failures.ts';
import type { Feeds } from '../stream/runbuffer.ts';
import type { TurnEnd } from '../turn/loop.ts';
import { doneIn } from '../billing/references.ts';
import { lastChunk } from '../stream/replay.ts';
import { endRun, type Holding, type Run, type RunEnd, type RunsDeps } from './runs.ts';
import { renewLeases } from '../store/runstore.ts';

/** What a run does: everything between its first and its last event. */
export type Conduct = (
  run: Run,
  hands: {
    readonly signal: AbortSignal;
    readonly emit: (chunk: Chunk) => Promise<void>;
  },
) => Promise<TurnEnd>;

export interface RunningDeps extends RunsDeps {
  readonly eventLog: EventLog;
  readonly feeds: Feeds;
  readonly log: Log;
  readonly holding: Holding;
  readonly emission?: Pick<EmissionDeps, 'windowMs' | 'maxBytes'>;
}

export interface Running {
  /** `label` goes into the answer's metadata: which model, and whether it is a stand-in. */
  begin(run: Run, label: Readonly<Record<string, unknown>>, conduct: Conduct): void;
  /** As soon as may be, where the run is ours; nothing otherwise. */
  abort(taskId: string): void;
  /** Waits for what runs; what is still alive after `withinMs` fails. */
  drain(withinMs: number): Promise<void>;
  close(): void;
}

class Aborted extends Error {}
class Lost extends Error {}
class Drained extends Error {
  constructor() {
    super('The server is shutting down; please send the message again.');
  }
}

type Ending = Pick<RunEnd, 'status' | 'error'> | { readonly status: 'lost' };

interface Current {
  readonly controller: AbortController;
  readonly over: Promise<void>;
}

const endTriesPauseMs = 500;

export function createRunning(deps: RunningDeps): Running {
  const { log, holding } = deps;
  const current = new Map<string, Current>();
  let renewedAtMs = performance.now();
  let isDrained = false;
  const renewal = startInterval(holding.leaseMs / 3, renew, (error) => {
    log.warn({ err: error }, 'the leases of runs could not be renewed');
    // Another process that can reach the database takes them over from now on.
    if (performance.now() - renewedAtMs < holding.leaseMs) return;
    for (const { controller } of current.values()) controller.abort(new Lost());
  });

  async function renew(): Promise<void> {
    if (current.size === 0) renewedAtMs = performance.now();
    if (current.size === 0) return;
    const askedAtMs = performance.now();
    const asked = [...current];
    const renewed = await renewLeases(deps.db, holding.holder, [...current.keys()], holding.leaseMs);
    const kept = new Map(renewed.map((row) => [row.taskId, row]));
    renewedAtMs = askedAtMs;
    for (const [taskId, { controller }] of asked) {
      const row = kept.get(taskId);
      if (row === undefined) controller.abort(new Lost());
      else if (row.abortRequested) controller.abort(new Aborted());
    }
  }

  async function carryOut(
    run: Run,
    label: Readonly<Record<string, unknown>>,
    conduct: Conduct,
    signal: AbortSignal,
  ): Promise<void> {
    const feed = deps.feeds.own(run);
    const emission = createEmission({ eventLog: deps.eventLog, feed, ...deps.emission }, run);
    const metadata: Record<string, unknown> = { ...label };
    let end: Ending;
    try {
      await emission.emit({
        type: 'start',
        messageId: run.messageId,
        messageMetadata: { ...label, taskId: run.taskId },
      });
      const turn = await untilAborted(signal, conduct(run, { signal, emit: emission.emit }));
      if (turn.status === 'completed') metadata.finishReason = turn.finishReason;
      end = turn.status === 'completed' ? { status: 'completed', error: null } : turn;
    } catch (error) {
      end = judgeFailure(error, log);
    }
    // What was shown to nobody must not count as answered: the last batch may find the log gone, or in other hands.
    const lost = await emission.finish();
    if (lost !== undefined && end.status !== 'lost') end = judgeFailure(lost, log);
    if (end.status === 'lost') return feed.disown();
    const parts = emission.parts();
    const ended = await endPatiently(run, { ...end, parts, metadata, done: doneIn(run.taskId, parts) });
    if (ended) await emission.end(lastChunk(end));
    else feed.disown();
  }

  /** For as long as one lease: after that it is the reaper's to end, wherever that is. */
  async function endPatiently(run: Run, end: RunEnd): Promise<boolean> {
    for (const startedAtMs = performance.now(); ; ) {
      try {
        return await endRun(deps, run, end);
      } catch (error) {
        log.warn({ err: error }, 'the end of a run could not be written');
        if (performance.now() - startedAtMs > holding.leaseMs) return false;
        await sleep(endTriesPauseMs);
      }
    }
  }

  return {
    begin(run, label, conduct) {
      if (current.size === 0) renewedAtMs = performance.now();
      const controller = new AbortController();
      // Let in before the draining, and begun after its time was up: nobody else would end it.
      if (isDrained) controller.abort(new Drained());
      const over = carryOut(run, label, conduct, controller.signal)
        .catch((error: unknown) => log.error({ err: error }, 'a run broke'))
        .finally(() => current.delete(run.taskId));
      current.set(run.taskId, { controller, over });
    },
    abort: (taskId) => current.get(taskId)?.controller.abort(new Aborted()),
    async drain(withinMs) {
      const tooLong = setTimeout(() => {
        isDrained = true;
        for (const { controller } of current.values()) controller.abort(new Drained());
      }, withinMs);
      while (current.size > 0) await Promise.all([...current.values()].map(({ over }) => over));
      clearTimeout(tooLong);
    },
    close: () => void renewal.stop(),
  };
}

function judgeFailure(error: unknown, log: Log): Ending {
  if (error instanceof Lost || error instanceof Fenced) return { status: 'lost' };
  if (error instanceof Aborted) return { status: 'aborted', error: null };
  if (error instanceof Drained || error instanceof LogLost || error instanceof LogFull) {
    return { status: 'failed', error: error.message };
  }
  log.error({ err: error }, 'a run failed');
  return { status: 'failed', error: explainFailure(error) };
}

/** Whatever hangs, an abort ends it: tools and providers may be deaf to signals. */
async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const pass = () => reject(signal.reason);
  signal.addEventListener('abort', pass, { once: true });
  if (signal.aborted) pass();
  work.catch(() => undefined);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', pass);
  }
}
