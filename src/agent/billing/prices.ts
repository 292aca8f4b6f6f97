/** What the agent's work costs, in credits (docs/specification/agent.md#credits). A run costs what its model costs. */
import type { Plan } from '#accounts/api.ts';

export const imageCost = 2;
export const videoCost = 40;

export const plansWithoutVideo: readonly Plan[] = ['free'];
