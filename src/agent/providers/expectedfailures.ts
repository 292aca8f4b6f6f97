/** Failures of a run that are no faults of the program. `failures.ts` explains those of the AI SDK too, and loads it. */

/** Its message is shown to the user. */
export class RunFailure extends Error {}

/** The model has sent no token in time. */
export class FirstTokenTimeout extends Error {}
