import { createGates } from '#platform/concurrency/gates.ts';

/**
 * Starts of runs and of tool calls lock the row of their user. Those that wait for each other must not take the connections of
 * other users.
 */
export const starts = createGates({ width: 1, maxWaiting: 1000, waitTimeoutMs: 10_000 });
