import { defineProblems } from '#platform/problem.ts';
import table from './problems.json' with { type: 'json' };

/** docs/specification/memory.md. */
export const memoryProblems = defineProblems(table);
