import { defineProblems } from '#platform/problem.ts';
import table from './problems.json' with { type: 'json' };

export const consoleProblems = defineProblems(table);
