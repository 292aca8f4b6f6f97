/** The metric of incidents. */
import { Counter, type Registry } from '@prometheus-io/client';
import type { Match } from '../screening/screening.ts';

/** Call it for each incident that this process records. Lists and labels of the classifier share one value each: it names them freely. */
export type CountIncident = (match: Match) => void;

export function measureIncidents(registry: Registry): CountIncident {
  const counter = new Counter({
    name: 'media_incidents_total',
    help: 'Uploads, imports and copies that screening blocked.',
    labelNames: ['list'],
    registers: [registry],
  });
  return ({ check, list }) => counter.inc({ list: check === 'classifier' || check === 'label' ? check : list });
}
