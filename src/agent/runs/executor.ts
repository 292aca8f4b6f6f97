/**
 * Executes the runs of this process: starts them, renews the leases of all of them in one statement, aborts and drains
 * them. The executor is in one of these modes:
 *
 * - `accepting`: starts runs. May become `draining`.
 * - `draining`: runs go on. Other processes start those that wait. May become `drained`.
 * - `drained`: the time for draining is over; runs that start now are handed over at once. Final.
 */
import { type Interval, startInterval } from '#platform/background/interval.ts';
import type { AgentContext } from '../context.ts';
import type { ChosenModel } from '../providers/models.ts';
import type { Continuation } from '../steps/recovery.ts';
import { assertTransition, type Transitions } from '../transitions.ts';
import { Execution, LeaseLost, RunAborted, ServerDrained } from './execution.ts';
import { type Run, renewLeases } from './runstore.ts';

type ExecutorMode = 'accepting' | 'draining' | 'drained';

const permitted: Transitions<ExecutorMode> = {
  accepting: ['draining'],
  draining: ['drained'],
  drained: [],
};

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
      (error) => this.#onRenewalFailed(error),
    );
  }

  /** Whether this process may look for runs to execute. */
  get isAccepting(): boolean {
    return this.#mode === 'accepting';
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
    if (this.#mode === 'accepting') this.#become('draining');
    const timer = setTimeout(() => {
      if (this.#mode !== 'drained') this.#become('drained');
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
    const taskIds = executions.map(([taskId]) => taskId);
    const renewed = await renewLeases(db, lease.holder, taskIds, lease.leaseMs);
    const rows = new Map(renewed.map((row) => [row.taskId, row]));
    this.#renewedAtMs = requestedAtMs;
    for (const [taskId, execution] of executions) {
      const row = rows.get(taskId);
      if (row === undefined) execution.stop(new LeaseLost());
      else if (row.abortRequested) execution.stop(new RunAborted());
    }
  }

  #onRenewalFailed(error: unknown): void {
    this.#deps.log.warn({ err: error }, 'the leases of runs could not be renewed');
    // From now on another process that reaches the database may take these runs over.
    if (performance.now() - this.#renewedAtMs >= this.#deps.lease.leaseMs) this.#stopAll(() => new LeaseLost());
  }

  #stopAll(reason: () => LeaseLost | ServerDrained): void {
    for (const execution of this.#executions.values()) execution.stop(reason());
  }

  #become(next: ExecutorMode): void {
    assertTransition('run executor', permitted, this.#mode, next);
    this.#mode = next;
  }
}
