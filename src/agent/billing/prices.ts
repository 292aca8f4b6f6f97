/** What the agent's work costs, in credits (docs/specification/agent.md#credits). A run costs what its model costs. */
export const pictureCost = 2;
export const videoCost = 40;
