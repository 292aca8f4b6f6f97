import type { Incident } from '#media/incidents/api.ts';
import { countOf } from '../parts/figures.tsx';
import { reasonOf } from '../parts/reasons.ts';

/** The tone of each status of an incident. */
export const incidentTones: Readonly<Record<string, 'bad' | 'busy' | 'good' | 'quiet'>> = {
  open: 'busy',
  upheld: 'bad',
  cleared: 'good',
};

export function titleOf({
  origin,
  list,
  label,
  reasons,
}: Pick<Incident, 'origin' | 'list' | 'label'> & { readonly reasons: readonly string[] }): string {
  if (reasons.length > 0) return `${reasons.map(reasonOf).join(', ')}`;
  if (origin === 'label') return `Flagged as ${list}`;
  return label === null ? `Matched ${list}` : `Blocked for ${label}`;
}

export const peopleOf = (count: number): string => (count === 1 ? '1 person' : `${countOf(count)} people`);

/** Reported and flagged content is still there, and needs a decision with a statement. */
export const isDecidable = ({ origin }: Pick<Incident, 'origin'>): boolean => origin === 'report' || origin === 'label';
