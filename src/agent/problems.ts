import { defineProblems } from '#platform/problem.ts';
import table from './problems.json' with { type: 'json' };

/** docs/specification/agent.md. */
export const agentProblems = defineProblems(table);

// Failures of a run that are no faults of the program. `providers/failures.ts` explains those of the AI SDK too, and loads it.

/** Its message is shown to the user. */
export class RunFailure extends Error {}

/** The model has sent no token in time. */
export class FirstTokenTimeout extends Error {}
