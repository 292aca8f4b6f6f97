/** Applies the decisions of operators to a judgement: what they cleared passes. */
import type { Db } from '#platform/db/db.ts';
import type { MediaTables } from '../tables.ts';
import { findClearedLabels, isCleared } from './incidentstore.ts';
import type { Hit, Label } from './labels.ts';
import type { Judgement, Match } from './screening.ts';

export interface Verdict {
  /** The content is blocked. `undefined`: it can be shown, at least to its owner. */
  readonly match?: Match | undefined;
  readonly labels: readonly Label[];
  /** The rule that restricts or flags the content. */
  readonly hit?: Hit | undefined;
}

/**
 * A cleared match of a list clears no label, and a cleared label clears no list. `label` is called after a cleared match,
 * because a match ends the other checks.
 */
export async function decideBy(
  db: Db<MediaTables>,
  sha256: string,
  judgement: Judgement,
  label = async (): Promise<Judgement> => judgement,
): Promise<Verdict> {
  const { match } = judgement;
  if (match !== undefined && !(await isCleared(db, sha256))) return { match, labels: judgement.labels };
  const { labels, hits } = match === undefined ? judgement : await label();
  if (hits.length === 0) return { labels };
  const cleared = await findClearedLabels(db, sha256);
  const hit = hits.find((each) => !cleared.has(each.label));
  if (hit?.action !== 'block') return { labels, hit };
  return { labels, match: { check: 'label', list: hit.label, listed: null, distance: null } };
}
