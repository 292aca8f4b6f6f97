import { randomUUID } from 'node:crypto';
import type { KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { openTestDatabase } from '../../../test/database.fixture.ts';
import type { Database } from '../db/db.ts';
import { createLog } from '../log.ts';
import type { JobTables } from './jobs.ts';
import { insertJob } from './rows.ts';
import { startWorker, type Worker } from './working.ts';

let database: Database;
const workers: Worker[] = [];
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop(0)));
  await database.close();
});

/** Calls `act` before the result of the first statement is returned. */
function onFirstResult(act: () => Promise<void>): Database {
  let isFirst = true;
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (isFirst) {
        isFirst = false;
        await act();
      }
      return result;
    },
  };
  return { ...database, queries: <Tables>() => database.queries<Tables>().withPlugin(plugin) };
}

it('claims a job whose wake-up comes in any microtask after a claim without jobs', async () => {
  const log = createLog({ level: 'silent' });
  const microtasks = Array.from({ length: 40 }, (_, index) => index);
  const handled = new Set<number>();
  for (const microtask of microtasks) {
    const queue = { name: `test/${randomUUID()}`, payload: z.object({}) };
    const wakeLater = async () => {
      for (let left = microtask; left > 0; left--) await undefined;
      worker.wake();
    };
    const claimed = onFirstResult(async () => {
      await insertJob(database.queries<JobTables>(), queue, {}, {});
      void wakeLater();
    });
    const deps = { database: claimed, log, holder: 'test', leaseMs: 60_000, wakeAfterCommit: () => undefined };
    const worker = startWorker(deps, queue, async () => void handled.add(microtask), { concurrency: 1 });
    workers.push(worker);
    worker.wake();
  }
  await expect.poll(() => microtasks.filter((microtask) => !handled.has(microtask))).toEqual([]);
});
