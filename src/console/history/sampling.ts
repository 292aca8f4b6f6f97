/** Looks at all services every 15 seconds, and adds what they counted to the history. */

import { type Interval, startInterval } from '#platform/background/interval.ts';
import type { Clock } from '#platform/clock.ts';
import type { Db } from '#platform/db/db.ts';
import type { Log } from '#platform/log.ts';
import { inspectServices } from '../overview.ts';
import { readReports } from './counting.ts';
import { addSample, type HistoryTables } from './samplestore.ts';

export interface SamplingDeps {
  readonly db: Db<HistoryTables>;
  readonly clock: Clock;
  readonly services: Readonly<Record<string, string>>;
  readonly log: Log;
  /** For tests. */
  readonly sampleEveryMs?: number;
}

const sampleEveryMs = 15_000;

/** The first sample is taken after an interval, when the services of this process have started. */
export function startSampling(deps: SamplingDeps): Interval {
  const everyMs = deps.sampleEveryMs ?? sampleEveryMs;
  const sample = () => takeSample(deps, everyMs / 2);
  const onError = (error: unknown) => deps.log.warn({ err: error }, 'cannot add a sample to the history');
  return startInterval(everyMs, async () => void (await sample()), onError);
}

/** `false`: another process took one less than `leastMs` earlier. */
export async function takeSample({ db, clock, services }: SamplingDeps, leastMs: number): Promise<boolean> {
  const reports = await inspectServices(services);
  return addSample(db, { readAt: new Date(clock.now()), ...readReports(reports) }, leastMs);
}
