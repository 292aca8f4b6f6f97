/**
 * One run in the process that executes it, from its first event to the transaction that ends it. It is in one of these
 * modes:
 *
 * - `running`: the model and its tools work. May become `stopping`, `ending`, `lost`.
 * - `stopping`: an abort, the drain or a lost lease stops the work. May become `ending`, `lost`.
 * - `ending`: the message, the status and the charge are being committed. May become `ended`, `lost`.
 * - `ended`: committed, and the last event is written. Final.
 * - `lost`: another process has the run, or gets it because this one drains, and goes on with it. Final.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Interval, startInterval } from '#platform/background/interval.ts';
import { createGate } from '#platform/concurrency.ts';
import type { Log } from '#platform/log.ts';
import { Problem } from '#platform/problem.ts';
import { costOfTokens, UsageMeter } from '../billing/usage.ts';
import type { AgentContext } from '../context.ts';
import type { ChosenModel } from '../providers/models.ts';
import { answerOf } from '../records/answers.ts';
import type { Continuation } from '../steps/recovery.ts';
import { type Journal, openJournal } from '../steps/stepstore.ts';
import { type Chunk, lastChunk, replayParts } from '../stream/chunks.ts';
import { EventLogLost, EventWriter, RunFenced, RunTooLong } from '../stream/eventwriter.ts';
import { assertTransition, type Transitions } from '../stream/runbuffer.ts';
import { endRun, isShown, type RunEnd } from './runs.ts';
import { type Run, releaseRun, renewLeases } from './runstore.ts';

/** Each message is empty: runs of other processes are to be continued. */
export const handOverTopic = 'hand-over';

/** Why the work stops before the model has finished. */
class RunAborted extends Error {}
class LeaseLost extends Error {}
class ServerDrained extends Error {
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

const permittedStates: Transitions<ExecutionState['mode']> = {
  running: ['stopping', 'ending', 'lost'],
  stopping: ['ending', 'lost'],
  ending: ['ended', 'lost'],
  ended: [],
  lost: [],
};

type Ended = Pick<RunEnd, 'status' | 'error' | 'code' | 'answer' | 'approvals'> & { readonly finishReason?: string };

/** `drained` and `stalled`: a process goes on with the run, unless AGENT_CONTINUE_RUNS is off. */
type Outcome =
  | Ended
  | { readonly status: 'lost' }
  | { readonly status: 'drained'; readonly error: string }
  | { readonly status: 'stalled'; readonly error: string };

const emptyAnswer = { status: 'failed', error: 'The model returned nothing.', code: 'empty_answer' } as const;

const endTriesPauseMs = 500;
/** An end is a long transaction. When many runs end at once, requests find a database connection beside these. */
const ends = createGate({ width: 4, maxWaiting: Number.POSITIVE_INFINITY, waitTimeoutMs: 60_000 });
/** Codes of failures that a later try may not meet. */
const passing: ReadonlySet<string> = new Set(['overloaded', 'engine_unavailable', 'draining']);

export class Execution {
  /** Resolves when the run is `ended` or `lost`. Never rejects. */
  readonly over: Promise<void>;
  readonly #preparing = Promise.withResolvers<void>();
  readonly #deps: AgentContext;
  readonly #run: Run;
  readonly #chosen: ChosenModel;
  /** Of a run that another process has begun, or that goes on in a message. */
  readonly #continuation: Continuation | undefined;
  readonly #journal: Journal;
  readonly #usage = new UsageMeter();
  readonly #imageOrders = new Set<string>();
  readonly #startedAtMs = performance.now();
  #state: ExecutionState;

  constructor(deps: AgentContext, run: Run, chosen: ChosenModel, continuation?: Continuation) {
    const controller = new AbortController();
    const last = continuation?.record.steps.at(-1);
    if (last !== undefined) this.#usage.restore(last.usage, last.answeredBy ?? undefined);
    this.#continuation = continuation;
    this.#journal = openJournal(deps.db, run);
    this.#deps = deps;
    this.#run = run;
    this.#chosen = chosen;
    this.#state = { mode: 'running', controller };
    this.over = this.#execute(controller.signal)
      .catch((error: unknown) => deps.log.error({ err: error }, 'the execution of a run failed unexpectedly'))
      .finally(this.#preparing.resolve);
  }

  /** Resolves when everything that the model is asked with has been read, or when the run is over. Never rejects. */
  get prepared(): Promise<void> {
    return this.#preparing.promise;
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
    const record = this.#continuation?.record;
    const buffer = buffers.own(this.#run, record?.batches);
    try {
      await this.#workAndEnd(new EventWriter({ eventLog, buffer, ...bounds }, this.#run, record), signal);
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
    const goesOn = written.status === 'drained' || written.status === 'stalled';
    if (goesOn && this.#deps.continueRuns) {
      // After an overload, the rest of the lease is the pause before the next try.
      if (written.status === 'drained') await this.#handOver();
      return this.#become({ mode: 'lost' });
    }
    const ended = goesOn ? ({ ...written, status: 'failed' } as const) : written;
    const outcome = ended.status === 'completed' && !writer.parts().some(isShown) ? emptyAnswer : ended;
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

  /** If the database does not respond, another process goes on with the run after its lease. */
  async #handOver(): Promise<void> {
    const { db, pubsub, log } = this.#deps;
    try {
      if (await releaseRun(db, this.#run)) pubsub.publish(handOverTopic, '');
    } catch (error) {
      log.warn({ err: error }, 'a run could not be handed over');
    }
  }

  /** What readers get before the model is asked: the start, or the sign that the run goes on. */
  async #open(writer: EventWriter): Promise<void> {
    const { messageId, taskId, replayed } = this.#run;
    const start: Chunk = { type: 'start', messageId, messageMetadata: { ...this.#chosen.label, taskId } };
    const { record, chunks, kept } = this.#continuation ?? {};
    const lastSeq = record?.lastSeq ?? 0;
    if (replayed !== null && record?.steps.length === 0) {
      await writer.replay(replayParts(messageId, record.prior).slice(lastSeq));
      if (lastSeq <= replayed) await writer.write(start);
      return;
    }
    if (lastSeq === 0) await writer.write(start);
    for (const chunk of [...(chunks ?? []), ...(kept?.chunks ?? [])]) await writer.write(chunk);
    if (kept === undefined) return;
    await writer.flush();
    const answeredBy = this.#usage.answeredBy() ?? null;
    const parts = writer.stepParts();
    await this.#journal.stepFinished({ step: kept.step, parts, usage: this.#usage.total(), answeredBy });
    await writer.write({ type: 'finish-step' });
  }

  async #work(writer: EventWriter, signal: AbortSignal): Promise<Outcome> {
    try {
      await this.#open(writer);
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
          journal: this.#journal,
          earlier: this.#continuation?.earlier ?? [],
          takenIds: this.#continuation?.takenIds ?? new Set(),
          answered: this.#continuation?.answered ?? new Map(),
          onPrepared: this.#preparing.resolve,
        }),
      );
      return turn.status === 'completed' ? { ...turn, error: null } : turn;
    } catch (error) {
      return await outcomeOf(error, this.#deps.log);
    }
  }

  /** Retries for as long as one lease; after that the reaper of any process ends the run. */
  async #commitEnd(writer: EventWriter, { status, error, code, answer, finishReason, approvals }: Ended) {
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
        const times = this.#usage;
        const end = { status, error, code, answer, parts, metadata, usage, times, imageOrders, approvals, costUsd };
        return await ends.run(() => endRun(this.#deps, this.#run, end));
      } catch (cause) {
        this.#deps.log.warn({ err: cause }, 'the end of a run could not be committed');
        if (performance.now() - startedAtMs > this.#deps.lease.leaseMs) return undefined;
        await sleep(endTriesPauseMs);
      }
    }
  }

  #become(next: ExecutionState): void {
    assertTransition('execution of a run', permittedStates, this.#state.mode, next.mode);
    this.#state = next;
  }
}

async function outcomeOf(error: unknown, log: Log): Promise<Outcome> {
  if (error instanceof LeaseLost || error instanceof RunFenced) return { status: 'lost' };
  if (error instanceof RunAborted) return { status: 'aborted', error: null };
  if (error instanceof EventLogLost) log.warn({ err: error }, 'a run failed, because its events could not be stored');
  if (error instanceof ServerDrained) return { status: 'drained', error: error.message };
  if (error instanceof EventLogLost || error instanceof RunTooLong) {
    return { status: 'failed', error: error.message };
  }
  if (error instanceof Problem && passing.has(error.code)) {
    log.warn({ err: error }, 'a run could not continue, because an engine did not respond');
    return { status: 'stalled', error: error.message };
  }
  log.error({ err: error }, 'a run failed');
  return { status: 'failed', error: await explain(error, log), answer: answerOf(error) };
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

// Executes the runs of this process: starts them, renews the leases of all of them in one statement, aborts and drains
// them. The executor is in one of these modes:
//
// - `accepting`: starts runs. May become `draining`.
// - `draining`: runs go on. Other processes start those that wait. May become `drained`.
// - `drained`: the time for draining is over; runs that start now are handed over at once. Final.

type ExecutorMode = 'accepting' | 'draining' | 'drained';

export class RunExecutor {
  readonly #deps: AgentContext;
  readonly #executions = new Map<string, Execution>();
  readonly #renewal: Interval;
  #mode: ExecutorMode = 'accepting';
  #renewedAtMs = performance.now();

  constructor(deps: AgentContext) {
    this.#deps = deps;
    this.#renewal = startInterval(
      deps.lease.leaseMs / 3,
      () => this.#renewLeases(),
      (error) => deps.log.warn({ err: error }, 'the leases of runs could not be renewed'),
    );
  }

  /** Whether this process may look for runs to execute. */
  get isAccepting(): boolean {
    return this.#mode === 'accepting';
  }

  get executing(): readonly string[] {
    return [...this.#executions.keys()];
  }

  /** Executes a run that this process has a new lease of. */
  async start(run: Run, chosen: ChosenModel, continuation?: Continuation): Promise<Execution> {
    // This process had the run before, and lost it.
    const former = this.#executions.get(run.taskId);
    former?.stop(new LeaseLost());
    if (former !== undefined) await former.over;
    if (this.#executions.size === 0) this.#renewedAtMs = performance.now();
    const execution = new Execution(this.#deps, run, chosen, continuation);
    this.#executions.set(run.taskId, execution);
    this.#deps.metrics.runStarted();
    void execution.over.then(() => {
      this.#executions.delete(run.taskId);
      this.#deps.metrics.executionEnded();
    });
    // The request was accepted before the drain, and no other process would end its run.
    if (this.#mode === 'drained') execution.stop(new ServerDrained());
    return execution;
  }

  /** Stops the run if this process executes it. */
  abort(taskId: string): void {
    this.#executions.get(taskId)?.stop(new RunAborted());
  }

  /** Waits for all runs. Those that are still alive after `withinMs` are handed over; without AGENT_CONTINUE_RUNS they end as failed. */
  async drain(withinMs: number): Promise<void> {
    if (this.#mode === 'accepting') this.#mode = 'draining';
    const timer = setTimeout(() => {
      this.#mode = 'drained';
      this.#stopAll(() => new ServerDrained());
    }, withinMs);
    while (this.#executions.size > 0) await Promise.all([...this.#executions.values()].map(({ over }) => over));
    clearTimeout(timer);
  }

  close(): void {
    void this.#renewal.stop();
  }

  async #renewLeases(): Promise<void> {
    if (this.#executions.size === 0) {
      this.#renewedAtMs = performance.now();
      return;
    }
    const requestedAtMs = performance.now();
    const executions = [...this.#executions];
    const { db, lease } = this.#deps;
    const renewed = await renewLeases(db, lease.holder, this.executing, lease.leaseMs).catch((error: unknown) => {
      // Another process may have these runs, unless this renewal began early and failed because this process stood still.
      if (requestedAtMs - this.#renewedAtMs >= lease.leaseMs) this.#stopAll(() => new LeaseLost());
      throw error;
    });
    const rows = new Map(renewed.map((row) => [row.taskId, row]));
    this.#renewedAtMs = requestedAtMs;
    for (const [taskId, execution] of executions) {
      const row = rows.get(taskId);
      if (row === undefined) execution.stop(new LeaseLost());
      else if (row.abortRequested) execution.stop(new RunAborted());
    }
  }

  #stopAll(reason: () => LeaseLost | ServerDrained): void {
    for (const execution of this.#executions.values()) execution.stop(reason());
  }
}
