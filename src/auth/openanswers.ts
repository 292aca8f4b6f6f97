/** The only chooser of where answers are kept. */
import type { Database } from '#platform/db/db.ts';
import { type Answers, databaseAnswers } from './answers.ts';
import { createMemoryAnswers } from './memoryanswers.ts';

export function openAnswers(database: Database): Answers {
  return database.driver === 'pglite' ? createMemoryAnswers() : databaseAnswers(database);
}
