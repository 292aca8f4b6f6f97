/** The last step of a registration, an import and a copy: a drafted row becomes readable, or is blocked. */
import type { StoredAsset } from '../assets/assetstore.ts';
import type { Bytes, ScreeningContext } from '../context.ts';
import type { Finding } from '../screening/incidentstore.ts';
import type { Match } from '../screening/screening.ts';

export interface PublishingSteps {
  /** Why the bytes are blocked. `undefined`: they can be shown. */
  readonly match: Match | undefined;
  readonly finding: Omit<Finding, 'match'>;
  /** The object that a block removes. `undefined`: it stays. */
  readonly object?: Omit<Bytes, 'etag'>;
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
export async function publishDraft(
  deps: ScreeningContext,
  steps: PublishingSteps,
): Promise<StoredAsset | 'blocked' | undefined> {
  const { match, finding } = steps;
  if (match !== undefined) {
    const bytes = steps.object && { ...steps.object, etag: finding.etag };
    // Before the block: from then on, any call may remove the object.
    const evidenceUntil = bytes && (await deps.quarantine?.keep(bytes, finding.digests.sha256, match));
    if (!(await steps.block({ ...finding, match, evidenceUntil }))) return undefined;
    deps.countIncident?.(match);
    return 'blocked';
  }
  // A refusal that finished before the draft was written has removed the object; a later one finds the draft.
  if (!(await steps.isUnchanged())) return undefined;
  return steps.markReady();
}
