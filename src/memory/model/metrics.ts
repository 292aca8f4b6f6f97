/** Metrics of the language model of memories (docs/monitoring.md). All labels are bounded. */
import { Counter, Histogram, type Registry } from '@prometheus-io/client';
import type { ModelUsage } from './languagemodel.ts';

export type Purpose = 'judge' | 'extract';
/** `rejected`: the answer was unusable. `capped`: the entity has had its calls of the day, and none was made. */
export type CallOutcome = 'answered' | 'rejected' | 'failed' | 'capped';

export class ModelMetrics {
  readonly #calls = new Counter({
    name: 'memory_model_calls_total',
    help: 'Calls to the language model of memories.',
    labelNames: ['purpose', 'outcome'],
    registers: [],
  });
  readonly #tokens = new Counter({
    name: 'memory_model_tokens_total',
    help: 'Tokens as the provider reports them.',
    labelNames: ['purpose', 'direction'],
    registers: [],
  });
  readonly #seconds = new Histogram({
    name: 'memory_model_seconds',
    help: 'From a call to its complete answer.',
    labelNames: ['purpose'],
    buckets: [0.5, 1, 2, 4, 8, 15, 30, 60],
    registers: [],
  });
  readonly #verdicts = new Counter({
    name: 'memory_verdicts_total',
    help: 'Verdicts on pairs of memories that took effect.',
    labelNames: ['verdict'],
    registers: [],
  });

  register(registry: Registry): void {
    registry.registerMetric(this.#calls);
    registry.registerMetric(this.#tokens);
    registry.registerMetric(this.#seconds);
    registry.registerMetric(this.#verdicts);
  }

  called(purpose: Purpose, outcome: CallOutcome, durationMs?: number, usage?: ModelUsage): void {
    this.#calls.inc({ purpose, outcome });
    if (durationMs !== undefined) this.#seconds.observe({ purpose }, durationMs / 1000);
    if (usage === undefined) return;
    this.#tokens.inc({ purpose, direction: 'input' }, usage.inputTokens);
    this.#tokens.inc({ purpose, direction: 'output' }, usage.outputTokens);
  }

  judged(verdict: 'keep_both' | 'same' | 'replaces'): void {
    this.#verdicts.inc({ verdict });
  }
}
