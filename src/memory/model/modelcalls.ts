/** Calls the language model for an entity, within its calls of the day and a time limit. */
import type { Entity } from '../api.ts';
import type { JudgingContext } from '../context.ts';
import type { Since } from '../memories/entitystore.ts';
import { takeCall } from './callstore.ts';
import { AnswerRejected, type ModelAnswer, type Question } from './languagemodel.ts';
import type { Purpose } from './metrics.ts';

/** The entity has had its calls of the day. */
export class CallsUsedUp extends Error {
  constructor() {
    super('The entity has used up its calls of the memory model for today.');
    this.name = 'CallsUsedUp';
  }
}

/** `since`: when the work began. Rejects with CallsUsedUp, EntityErased, and as `MemoryModel.ask`. */
export async function callModel<Answer>(
  { db, model, modelMetrics, dailyCalls, modelTimeoutMs }: JudgingContext,
  purpose: Purpose,
  entity: Entity,
  question: Question<Answer>,
  since: Since,
  signal?: AbortSignal,
): Promise<ModelAnswer<Answer>> {
  if (!(await takeCall(db, entity, dailyCalls, since))) {
    modelMetrics.called(purpose, 'capped');
    throw new CallsUsedUp();
  }
  const timeout = AbortSignal.timeout(modelTimeoutMs);
  const startedAtMs = performance.now();
  try {
    const result = await model.ask(question, signal === undefined ? timeout : AbortSignal.any([signal, timeout]));
    modelMetrics.called(purpose, 'answered', performance.now() - startedAtMs, result.usage);
    return result;
  } catch (error) {
    const isRejected = error instanceof AnswerRejected;
    const durationMs = performance.now() - startedAtMs;
    modelMetrics.called(purpose, isRejected ? 'rejected' : 'failed', durationMs, isRejected ? error.usage : undefined);
    throw error;
  }
}
