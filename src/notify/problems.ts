import { defineProblems } from '#platform/problem.ts';
import table from './problems.json' with { type: 'json' };

/** The messages of docs/specification/notify.md#notify-endpoints are fixed, and have no full stop. */
export const notifyProblems = defineProblems(table);
