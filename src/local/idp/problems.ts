import { defineProblems } from '#platform/problem.ts';
import table from './problems.json' with { type: 'json' };

/** GoTrue's errors by `error_code`, in its own format (`{ code, error_code, msg }`). */
export const idpProblems = defineProblems(table);
