/** The last step of a registration, an import and a copy: a drafted row becomes readable, or is blocked. */

import type { StoredAsset } from '../assets/assetstore.ts';
import type { Finding } from '../screening/incidentstore.ts';
import type { Match } from '../screening/screening.ts';

export interface PublishingSteps {
  /** What the screening of the bytes found; `undefined`: they can be shown. */
  readonly match: Match | undefined;
  readonly finding: Omit<Finding, 'match'>;
  /** Makes the row unreadable for good and records the incident. `false`: the row has changed. */
  readonly block: (finding: Finding) => Promise<boolean>;
  /** Whether the object still has the bytes that were inspected. */
  readonly isUnchanged: () => Promise<boolean>;
  /** `undefined`: the row has changed. */
  readonly markReady: () => Promise<StoredAsset | undefined>;
}

/**
 * The row was drafted before: a process that dies here leaves nothing readable. `undefined`: the row or the object has
 * changed, and everything has to be read again. Throws as the steps do.
 */
export async function publishDraft(steps: PublishingSteps): Promise<StoredAsset | 'blocked' | undefined> {
  const { match } = steps;
  if (match !== undefined) return (await steps.block({ ...steps.finding, match })) ? 'blocked' : undefined;
  // A refusal that finished before the draft was written has removed the object; a later one finds the draft.
  if (!(await steps.isUnchanged())) return undefined;
  return steps.markReady();
}
