/** Loads the merging of memories for the first addition, because its words of many languages take memory. */

export const loadMerging = () => import('./finding.ts');
