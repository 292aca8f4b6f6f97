/** How often the language model is called for an entity. */
import { sql } from 'kysely';
import { type Db, hasChanged, transaction } from '#platform/db/db.ts';
import { type Entity, fieldsOf } from '../api.ts';
import type { JudgingContext } from '../context.ts';
import { assertNotErased, type Since } from '../memories/entitystore.ts';
import type { MemoryTables } from '../tables.ts';
import { AnswerRejected, type ModelAnswer, type Question } from './languagemodel.ts';

/**
 * Counts a call before it is made. Returns `false` if the entity has had `limit` calls today, in UTC. Throws EntityErased
 * if the entity was erased since the work began, because the row contains its id.
 */
function takeCall(db: Db<MemoryTables>, entity: Entity, limit: number, since: Since): Promise<boolean> {
  const today = sql<string>`(now() at time zone 'UTC')::date`;
  const calls = sql<number>`case when memory_model_calls.day = excluded.day then memory_model_calls.calls + 1 else 1 end`;
  return transaction(db, async (tx) => {
    await assertNotErased(tx, entity, since);
    return tx
      .insertInto('memory_model_calls')
      .values({ ...fieldsOf(entity), day: today, calls: 1 })
      .onConflict((conflict) =>
        conflict
          .columns(['entity_type', 'entity_id'])
          .doUpdateSet({ day: today, calls })
          .where(sql<boolean>`memory_model_calls.day <> excluded.day or memory_model_calls.calls < ${limit}`),
      )
      .$call(hasChanged);
  });
}

// Calls the language model for an entity, within its calls of the day and a time limit.

/** The entity has had its calls of the day. */
export class CallsUsedUp extends Error {
  override readonly name = 'CallsUsedUp';
}

/** `since`: when the work began. Rejects with CallsUsedUp, EntityErased, and as `MemoryModel.ask`. */
export async function callModel<Answer>(
  { db, model, calls, dailyCalls, modelTimeoutMs }: JudgingContext,
  purpose: 'judge' | 'extract',
  entity: Entity,
  question: Question<Answer>,
  since: Since,
  signal?: AbortSignal,
): Promise<ModelAnswer<Answer>> {
  if (!(await takeCall(db, entity, dailyCalls, since))) {
    calls.inc({ purpose, outcome: 'capped' });
    throw new CallsUsedUp('The entity has used up its calls of the memory model for today.');
  }
  const timeout = AbortSignal.timeout(modelTimeoutMs);
  try {
    const result = await model.ask(question, signal === undefined ? timeout : AbortSignal.any([signal, timeout]));
    calls.inc({ purpose, outcome: 'answered' });
    return result;
  } catch (error) {
    calls.inc({ purpose, outcome: error instanceof AnswerRejected ? 'rejected' : 'failed' });
    throw error;
  }
}
