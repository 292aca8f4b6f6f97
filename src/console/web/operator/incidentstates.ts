import type { Incident } from '#media/incidents/api.ts';
import type { ContentPlaces } from '#media/reports/api.ts';
import { plural, sinceThen } from '../parts/figures.tsx';
import reasons from '../parts/reasons.json' with { type: 'json' };
import statements from './statements.json' with { type: 'json' };

export const reasonOf = (reason: string): string => Reflect.get(reasons, reason) ?? reason;

/** The tone of each status of an incident. */
export const incidentTones: Readonly<Record<string, 'bad' | 'busy' | 'good' | 'quiet'>> = {
  open: 'busy',
  upheld: 'bad',
  cleared: 'good',
};

const states = { open: 'open', upheld: 'blocked', cleared: 'allowed' } as const;
const decisions = { dismiss: 'allowed', restrict: 'restricted', remove: 'removed' } as const;
const words = { ...states, ...decisions };

/** What applies to the content now. Only an erasure closes an incident of reported content without a decision. */
export const statusOf = ({ status, decision, origin }: Pick<Incident, 'status' | 'decision' | 'origin'>): string => {
  if (status === 'open') return states.open;
  if (decision !== null) return decisions[decision.decision];
  return isDecidable({ origin }) ? 'owner erased' : states[status];
};

export const nobody = '00000000-0000-0000-0000-000000000000';

/** Of an action of the audit log. */
export const isDecision = (action: string): boolean => /\/(decision|resolution)\b/.test(action);

/** By an action of the audit log. Earlier versions did not record it. */
export const chosenIn = (action: string): string | undefined =>
  Object.entries(words).find(([choice]) => action.endsWith(` ${choice}`))?.[1];

const recordedWithinMs = 10_000;

/** What an action of the audit log decided. Earlier versions stored only the newest statement. */
export function decisionOf({ earlier, decision, status, note, resolvedAt }: Incident, { at, action }: Deed) {
  if (resolvedAt === null) return undefined;
  const current = decision ?? { decision: status, statement: note, at: resolvedAt };
  const chosen = chosenIn(action);
  const made = [...earlier, current].find(
    (one) =>
      Math.abs(Date.parse(at) - Date.parse(one.at)) <= recordedWithinMs &&
      (chosen === undefined || words[one.decision] === chosen),
  );
  return { state: made ? words[made.decision] : chosen, isCurrent: made === current, reason: made?.statement };
}
type Deed = { readonly at: string; readonly action: string };

export const isRemoved = ({ decision }: Pick<Incident, 'decision'>): boolean => decision?.decision === 'remove';

/** Of children and intimate images. The list has the same order of priority. */
export const isUrgent = ({ status, reasons }: Pick<Incident, 'status' | 'reasons'>): boolean =>
  status === 'open' && reasons.some((reason) => reason === 'minor' || reason === 'intimate');

/** The most serious reason first. */
export const bySeverity = (reasons: readonly string[]): readonly string[] =>
  reasons.toSorted((one, other) => statements.severity.indexOf(one) - statements.severity.indexOf(other));

type Titled = Pick<Incident, 'origin' | 'list' | 'label'> & { readonly reasons: readonly string[] };

export function titleOf({ origin, list, label, reasons }: Titled): string {
  if (reasons.length > 0) return bySeverity(reasons).map(reasonOf).join(', ');
  if (origin === 'report') return 'Opened by an operator';
  if (origin === 'label') return `Flagged as ${list}`;
  return label === null ? `Matched ${list}` : `Blocked for ${label}`;
}

export type Place = Pick<Incident, 'scopeKind' | 'scopeId' | 'assetId'> &
  Partial<Pick<Incident, 'threadId' | 'shareId' | 'isShared' | 'decision' | 'isGone' | 'origin'>> &
  Partial<Pick<Stored, 'isRestricted'>>;

export const isAlbum = ({ threadId }: Pick<Incident, 'threadId'>): boolean => threadId?.startsWith('album:') ?? false;

export const runsOf = (threadId: string): string => `/operator/runs?threadId=${encodeURIComponent(threadId)}`;

/** Where the content is, in words, and where an operator sees that. `edge`: the URL of the service. */
export function placeOf(
  { scopeKind, scopeId, threadId = null, assetId, decision = null, ...one }: Place,
  edge?: string,
) {
  const { shareId, isShared, isGone, origin, isRestricted = decision?.decision === 'restrict' } = one;
  const gone = isRemoved({ decision }) ? 'Removed' : isGone ? 'Deleted' : undefined;
  if (isShared) return { words: 'On a shared page', href: edge && `${edge}/s/${shareId}` };
  if (isAlbum({ threadId })) return { words: gone ? `${gone} from an album` : 'In an album', href: undefined };
  const thread = threadId ?? (scopeKind === 'thread' ? scopeId : null);
  if (thread?.startsWith('mcp-')) return { words: 'Made over MCP', href: undefined };
  if (thread !== null)
    return { words: gone ? `${gone} from a conversation` : 'In a conversation', href: runsOf(thread) };
  const isBlocked = origin !== undefined && !isDecidable({ origin });
  if (gone || isBlocked) return { words: gone ?? 'Blocked', href: undefined };
  if (scopeKind === 'feed' && isRestricted) return { words: 'Hidden from Explore', href: undefined };
  if (scopeKind === 'feed') return { words: 'Published in Explore', href: `/explore/${assetId}` };
  const words = {
    library: 'In the library of its owner',
    generation: 'Ordered without a conversation',
    '': 'Its owner was erased',
  }[scopeKind];
  return { words: words ?? `In the scope ${scopeKind}`, href: undefined };
}

export const peopleOf = (count: number): string => plural(count, 'person', 'people');

export type Stored = ContentPlaces['places'][number];
/** `isCopy`: a decision about the incident of the page reaches it. */
export type Other = Stored | (Incident & { readonly isCopy?: boolean });
export const isUndecided = (one: Other): boolean => !('id' in one) || one.status === 'open';

/** What a decision about an incident can include: open incidents, files with an earlier decision, and those without an incident. */
export function othersIn({ places, incidents }: ContentPlaces, { id, assetId }: Pick<Incident, 'id' | 'assetId'>) {
  const about = incidents.filter((one) => one.id !== id && isDecidable(one));
  const rest = places.flatMap((place): readonly Other[] => {
    const known = about.find((one) => one.assetId === place.assetId);
    if (place.assetId === assetId || known?.status === 'open') return [];
    if (known) return [{ ...known, isCopy: place.isCopy }];
    return place.isCopy || place.isRestricted ? [] : [place];
  });
  return [...about.filter(isUndecided), ...rest];
}

/** The owner appealed, and no decision has answered. */
export const isAppealOpen = ({ appeal, resolvedAt }: Pick<Incident, 'appeal' | 'resolvedAt'>): boolean =>
  appeal !== undefined && (resolvedAt === null || Date.parse(appeal.at) > Date.parse(resolvedAt));

/** What another decision overrides, in words. */
export function knownOf(incident: Incident): string {
  const { reports, resolvedAt, appeal } = incident;
  const reported = reports > 0 ? `reported by ${peopleOf(reports)}` : 'not reported';
  if (resolvedAt === null) return reported;
  const answered = appeal && !isAppealOpen(incident) ? ', after an appeal' : '';
  return `${reported}, ${statusOf(incident)} ${sinceThen(resolvedAt)}${answered}`;
}

/** Reported and flagged content is still there, and needs a decision with a statement. */
export const isDecidable = ({ origin }: Pick<Incident, 'origin'>): boolean => origin === 'report' || origin === 'label';
