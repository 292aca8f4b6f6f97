/**
 * A process that sweeps and is killed on the way: `node sweeping.ts <Orders as JSON>`. Prints how much it removed when it
 * lives to see it.
 */
import { interrupted } from './interruption.fixture.ts';
import { type Orders, openRecords } from './registering.child.ts';
import { sweepAll, sweepDeps } from './sweeping.fixture.ts';

export type SweepOrders = Omit<Orders, 'request'> & {
  /** How old everything is by then. */
  readonly laterMs: number;
};

async function obey({ killAt, dataDir, laterMs, databaseUrl }: SweepOrders): Promise<void> {
  const database = await openRecords({ databaseUrl, dataDir });
  let calls = 0;
  const deps = interrupted(sweepDeps(database, dataDir, laterMs), ({ call }) => {
    if (call.startsWith('before') && ++calls === killAt) process.kill(process.pid, 'SIGKILL');
  });
  const found = await sweepAll(deps);
  console.log(String(found.filter(({ fate }) => fate === 'removed').length));
  await database.close();
}

const [, program, orders] = process.argv;
if (program === import.meta.filename && orders !== undefined) await obey(JSON.parse(orders));
