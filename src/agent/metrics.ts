/** The agent's metrics (docs/monitoring.md). Models are configured and tools are built in, so every label is bounded. */
import { Counter, Gauge, Histogram, type Registry } from '@prometheus-io/client';
import type { TokenUsage } from './tables.ts';

const counter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
  new Counter({ name, help, labelNames: [...labelNames], registers: [] });

export class AgentMetrics {
  readonly #runs = counter('agent_runs_total', 'Runs that have ended.', ['status', 'model']);
  readonly #tokens = counter('agent_tokens_total', 'Tokens as providers report them.', ['model', 'direction']);
  readonly #toolCalls = counter('agent_tool_calls_total', 'Tool calls that have ended.', ['tool', 'status']);
  readonly #withoutMemory = counter(
    'agent_turns_without_memory_total',
    'Turns that continued without memories, because the memory service did not answer in time.',
    [],
  );
  readonly #firstToken = new Histogram({
    name: 'agent_first_token_seconds',
    help: 'From the start of a turn to the first token of its model.',
    buckets: [0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300],
    registers: [],
  });
  readonly #runSeconds = new Histogram({
    name: 'agent_run_seconds',
    help: 'From the start of a run to the commit of its end.',
    buckets: [1, 2, 5, 10, 20, 40, 80, 160, 320, 640, 1800],
    registers: [],
  });
  readonly #inFlight = new Gauge({
    name: 'agent_runs_in_flight',
    help: 'Runs that this process executes.',
    registers: [],
  });

  register(registry: Registry): void {
    const counters = [this.#runs, this.#tokens, this.#toolCalls, this.#withoutMemory];
    for (const metric of [...counters, this.#firstToken, this.#runSeconds, this.#inFlight])
      registry.registerMetric(metric);
  }

  runStarted(): void {
    this.#inFlight.inc();
  }

  /** The execution in this process is over, whether or not it has ended the run. */
  executionEnded(): void {
    this.#inFlight.dec();
  }

  runEnded(status: string, model: string, durationMs: number | undefined, usage: TokenUsage): void {
    this.#runs.inc({ status, model });
    if (durationMs !== undefined) this.#runSeconds.observe(durationMs / 1000);
    this.tokensUsed(model, usage);
  }

  tokensUsed(model: string, usage: TokenUsage): void {
    this.#tokens.inc({ model, direction: 'input' }, usage.inputTokens ?? 0);
    this.#tokens.inc({ model, direction: 'output' }, usage.outputTokens ?? 0);
  }

  firstToken(durationMs: number): void {
    this.#firstToken.observe(durationMs / 1000);
  }

  turnedWithoutMemory(): void {
    this.#withoutMemory.inc();
  }

  toolCalled(tool: string, status: 'completed' | 'failed'): void {
    this.#toolCalls.inc({ tool, status });
  }
}
