import { defineProblems } from '#platform/problem.ts';
import table from './problems.json' with { type: 'json' };

/** Problems of the authentication service (docs/specification/auth.md). */
export const authProblems = defineProblems(table);
