/**
 * One run in the process that executes it, from its first event to the transaction that ends it. It is in one of these
 * modes:
 *
 * - `running`: the model and its tools work. May become `stopping`, `ending`, `lost`.
 * - `stopping`: an abort, the drain or a lost lease stops the work. May become `ending`, `lost`.
 * - `ending`: the message, the status and the charge are being committed. May become `ended`, `lost`.
 * - `ended`: committed, and the last event is written. Final.
 * - `lost`: another process has the run and writes how it ended. Final.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#platform/log.ts';
import { costOfTokens, UsageMeter } from '../billing/usage.ts';
import type { AgentMetrics } from '../metrics.ts';
import type { ChosenModel } from '../providers/models.ts';
import type { Run } from '../store/runstore.ts';
import { EventLogLost, EventWriter, type EventWriterDeps, RunFenced, RunTooLong } from '../stream/eventwriter.ts';
import { lastChunk } from '../stream/replay.ts';
import type { RunEventBuffers } from '../stream/runbuffers.ts';
import { assertTransition, type Transitions } from '../transitions.ts';
import type { TurnDeps } from '../turn/turn.ts';
import { endRun, isShown, type RunEnd, type RunLease, type RunsDeps } from './runs.ts';

export interface ExecutionDeps extends RunsDeps, TurnDeps {
  readonly db: RunsDeps['db'] & TurnDeps['db'];
  readonly eventLog: EventWriterDeps['eventLog'];
  readonly buffers: RunEventBuffers;
  readonly log: Log;
  readonly lease: RunLease;
  readonly metrics: AgentMetrics;
  readonly writer?: Pick<EventWriterDeps, 'windowMs' | 'maxSize'>;
}

/** Why the work stops before the model has finished. */
export class RunAborted extends Error {}
export class LeaseLost extends Error {}
export class ServerDrained extends Error {
  constructor() {
    super('The server is shutting down. Send the message again.');
  }
}

type ExecutionState =
  | { readonly mode: 'running'; readonly controller: AbortController }
  | { readonly mode: 'stopping' }
  | { readonly mode: 'ending' }
  | { readonly mode: 'ended' }
  | { readonly mode: 'lost' };

const permitted: Transitions<ExecutionState['mode']> = {
  running: ['stopping', 'ending', 'lost'],
  stopping: ['ending', 'lost'],
  ending: ['ended', 'lost'],
  ended: [],
  lost: [],
};

type Outcome =
  | (Pick<RunEnd, 'status' | 'error' | 'code'> & { readonly finishReason?: string })
  | { readonly status: 'lost' };

const emptyAnswer = { status: 'failed', error: 'The model returned nothing.', code: 'empty_answer' } as const;

const endTriesPauseMs = 500;

export class Execution {
  /** Resolves when the run is `ended` or `lost`. Never rejects. */
  readonly over: Promise<void>;
  readonly #deps: ExecutionDeps;
  readonly #run: Run;
  readonly #chosen: ChosenModel;
  readonly #usage = new UsageMeter();
  readonly #imageOrders = new Set<string>();
  readonly #startedAtMs = performance.now();
  #state: ExecutionState;

  constructor(deps: ExecutionDeps, run: Run, chosen: ChosenModel) {
    const controller = new AbortController();
    this.#deps = deps;
    this.#run = run;
    this.#chosen = chosen;
    this.#state = { mode: 'running', controller };
    this.over = this.#execute(controller.signal).catch((error: unknown) =>
      deps.log.error({ err: error }, 'the execution of a run failed unexpectedly'),
    );
  }

  /** running → stopping; does nothing in any other mode. */
  stop(reason: RunAborted | LeaseLost | ServerDrained): void {
    if (this.#state.mode !== 'running') return;
    const { controller } = this.#state;
    this.#become({ mode: 'stopping' });
    controller.abort(reason);
  }

  async #execute(signal: AbortSignal): Promise<void> {
    const { buffers, eventLog, writer: bounds } = this.#deps;
    const buffer = buffers.own(this.#run);
    try {
      await this.#workAndEnd(new EventWriter({ eventLog, buffer, ...bounds }, this.#run), signal);
    } finally {
      // If the last event is missing, the process that ends the run writes it.
      buffer.release();
    }
  }

  async #workAndEnd(writer: EventWriter, signal: AbortSignal): Promise<void> {
    const { log, metrics } = this.#deps;
    const worked = await this.#work(writer, signal);
    // The last batch may find the log lost, or the run in other hands: readers then lack a part of the answer.
    const unwritten = await writer.finish();
    const written = unwritten === undefined || worked.status === 'lost' ? worked : await outcomeOf(unwritten, log);
    const outcome = written.status === 'completed' && !writer.parts().some(isShown) ? emptyAnswer : written;
    if (outcome.status !== 'lost') {
      this.#become({ mode: 'ending' });
      const metadata = await this.#commitEnd(writer, outcome);
      if (metadata !== undefined) {
        this.#become({ mode: 'ended' });
        const durationMs = performance.now() - this.#startedAtMs;
        metrics.runEnded(outcome.status, this.#run.model, durationMs, this.#usage.total());
        return writer.close(lastChunk(outcome, metadata));
      }
    }
    this.#become({ mode: 'lost' });
  }

  async #work(writer: EventWriter, signal: AbortSignal): Promise<Outcome> {
    const { messageId, taskId } = this.#run;
    const { label } = this.#chosen;
    try {
      await writer.write({ type: 'start', messageId, messageMetadata: { ...label, taskId } });
      // The AI SDK is loaded for the first run.
      const { runTurn } = await import('../turn/turn.ts');
      const turn = await untilAborted(
        signal,
        runTurn(this.#deps, {
          run: this.#run,
          chosen: this.#chosen,
          writer,
          usage: this.#usage,
          imageOrders: this.#imageOrders,
          signal,
        }),
      );
      return turn.status === 'completed' ? { ...turn, error: null } : turn;
    } catch (error) {
      return await outcomeOf(error, this.#deps.log);
    }
  }

  /** Retries for as long as one lease; after that the reaper of any process ends the run. */
  async #commitEnd(writer: EventWriter, { status, error, code, finishReason }: Exclude<Outcome, { status: 'lost' }>) {
    const parts = writer.parts();
    const answeredBy = this.#usage.answeredBy();
    const metadata = {
      ...this.#chosen.label,
      ...(answeredBy !== undefined && { answeredBy }),
      ...(finishReason !== undefined && { finishReason }),
    };
    const imageOrders = [...this.#imageOrders];
    const usage = this.#usage.total();
    const costUsd = costOfTokens(this.#chosen, usage);
    for (const startedAtMs = performance.now(); ; ) {
      try {
        const end = { status, error, code, parts, metadata, usage, imageOrders, costUsd };
        return await endRun(this.#deps, this.#run, end);
      } catch (cause) {
        this.#deps.log.warn({ err: cause }, 'the end of a run could not be committed');
        if (performance.now() - startedAtMs > this.#deps.lease.leaseMs) return undefined;
        await sleep(endTriesPauseMs);
      }
    }
  }

  #become(next: ExecutionState): void {
    assertTransition('execution of a run', permitted, this.#state.mode, next.mode);
    this.#state = next;
  }
}

async function outcomeOf(error: unknown, log: Log): Promise<Outcome> {
  if (error instanceof LeaseLost || error instanceof RunFenced) return { status: 'lost' };
  if (error instanceof RunAborted) return { status: 'aborted', error: null };
  if (error instanceof EventLogLost) log.warn({ err: error }, 'a run failed, because its events could not be stored');
  if (error instanceof ServerDrained || error instanceof EventLogLost || error instanceof RunTooLong) {
    return { status: 'failed', error: error.message };
  }
  log.error({ err: error }, 'a run failed');
  return { status: 'failed', error: await explain(error, log) };
}

/** A run must end even if the files of the program were deleted, so that nothing more can be loaded. */
async function explain(error: unknown, log: Log): Promise<string> {
  try {
    const { explainFailure } = await import('../providers/failures.ts');
    return explainFailure(error);
  } catch (cause) {
    log.error({ err: cause }, 'the program cannot load its own files; restart it');
    return 'The server cannot continue this run.';
  }
}

/** An abort ends the run even if a tool or a provider ignores its signal. */
async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  work.catch(() => undefined);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
