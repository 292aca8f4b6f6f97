/**
 * A process that copies one asset and is killed on the way: `node copying.ts <Orders as JSON>`. Prints the outcome when it
 * lives to see it.
 */
import { type CopyOf, copyDeps, copyOutcome } from './copying.fixture.ts';
import { interrupted } from './interruption.fixture.ts';
import { type Orders, openRecords } from './registering.child.ts';

export interface CopyOrders extends Omit<Orders, 'request'> {
  readonly what: CopyOf;
}

async function obey(orders: CopyOrders): Promise<void> {
  const database = await openRecords(orders);
  let calls = 0;
  const deps = interrupted(copyDeps(database, orders.dataDir), ({ call }) => {
    if (call.startsWith('before') && ++calls === orders.killAt) process.kill(process.pid, 'SIGKILL');
  });
  console.log(await copyOutcome(deps, orders.what));
  await database.close();
}

const [, program, orders] = process.argv;
if (program === import.meta.filename && orders !== undefined) await obey(JSON.parse(orders));
