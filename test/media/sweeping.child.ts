/** A process that sweeps and is killed on the way; its outcome is how much it removed. */
import { type CrashOrders, obey } from '../crashes/dying.fixture.ts';
import { interrupted } from './interruption.fixture.ts';
import { sweepAll, sweepDeps } from './sweeping.fixture.ts';

interface SweepOrders extends CrashOrders {
  /** How old everything is by then. */
  readonly laterMs: number;
}

await obey<SweepOrders>(import.meta.filename, async ({ dataDir, laterMs }, database, interrupt) => {
  const found = await sweepAll(interrupted(sweepDeps(database, dataDir, laterMs), interrupt));
  return String(found.filter(({ fate }) => fate === 'removed').length);
});
