/** A worker process that kills.test.ts kills. It prints when it starts a job, then hangs or finishes. */
import { sql } from 'kysely';
import { z } from 'zod';
import { openDatabase } from '#platform/db/open.ts';
import type { JobInsertion, Queue } from '#platform/jobs/jobs.ts';
import { createJobs } from '#platform/jobs/queueing.ts';
import { createLog } from '#platform/log.ts';

export const killedQueue: Queue<{ readonly word: string }> = {
  name: 'test/killed',
  payload: z.object({ word: z.string() }),
};

export interface KillOrders {
  readonly databaseUrl: string;
  readonly dataDir: string;
  /** `start`: the worker holds the job from its insertion. */
  readonly enqueue: boolean | 'start';
  readonly hang: boolean;
}

async function work({ databaseUrl, dataDir, enqueue, hang }: KillOrders): Promise<void> {
  const log = createLog({ level: 'silent' });
  const database = await openDatabase({ url: databaseUrl, dataDir, migrations: [], log });
  const jobs = createJobs({ database, log });
  if (enqueue === true) await jobs.enqueue(database.queries(), killedQueue, { word: 'once' });
  const handler = async ({ attempt }: { readonly attempt: number }) => {
    console.log(`attempt ${attempt}`);
    if (hang) await new Promise(() => undefined);
    setTimeout(async () => {
      await jobs.stop();
      console.log('depths', JSON.stringify(await jobs.depths()));
      await database.close();
    }, 200);
  };
  jobs.work(killedQueue, handler, { concurrency: 1 });
  if (enqueue === 'start') {
    const insert = async ({ statement }: JobInsertion) => {
      await sql`with one as (select), job as (${statement('one')}) select`.execute(database.queries());
      return true;
    };
    await jobs.start(killedQueue, { word: 'once' }, insert);
  }
  // Its own timers do not keep the process alive.
  setInterval(() => undefined, 1000);
  console.log('working');
}

const [, , orders] = process.argv;
if (orders?.startsWith('{')) await work(JSON.parse(orders));
