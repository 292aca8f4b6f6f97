/**
 * A process that deletes a video and a picture and is killed on the way: `node deleting.ts <Orders as JSON>`. Prints the
 * outcome when it lives to see it.
 */
import { type Deed, type DeletionOf, deletionOutcome, removalDeps } from './deleting.fixture.ts';
import { interrupted } from './interruption.fixture.ts';
import { type Orders, openRecords } from './registering.child.ts';

export interface DeletionOrders extends Omit<Orders, 'request'> {
  readonly deed: Deed;
  readonly what: DeletionOf;
}

async function obey(orders: DeletionOrders): Promise<void> {
  const database = await openRecords(orders);
  let calls = 0;
  const deps = interrupted(removalDeps(database, orders.dataDir), ({ call }) => {
    if (call.startsWith('before') && ++calls === orders.killAt) process.kill(process.pid, 'SIGKILL');
  });
  console.log(await deletionOutcome(deps, orders.deed, orders.what));
  await database.close();
}

const [, program, orders] = process.argv;
if (program === import.meta.filename && orders !== undefined) await obey(JSON.parse(orders));
