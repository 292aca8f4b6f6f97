import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { databaseEngines } from '../../../test/database.fixture.ts';
import { type Database, type Db, transaction } from '../db/db.ts';
import { createLog } from '../log.ts';
import { type Job, type Jobs, type JobTables, LaneFull, LeaseLost, type Queue } from './jobs.ts';
import { createJobs } from './queueing.ts';

const log = createLog({ level: 'silent' });
const patience = { timeout: 20_000, interval: 20 };

for (const engine of databaseEngines) {
  describe.skipIf(engine.missing)(`jobs that move to another queue, on ${engine.name}`, () => {
    type Numbered = { readonly n: number };
    let database: Database;
    let db: Db<JobTables>;
    let jobs: Jobs;
    let long: Queue<Numbered>;
    let short: Queue<Numbered>;
    beforeAll(async () => {
      database = await engine.open();
      db = database.queries<JobTables>();
    });
    beforeEach(() => {
      jobs = createJobs({ database, log });
      const common = { payload: z.object({ n: z.int() }), maxAttempts: 3, retryAfterMs: 1, isRoundRobin: true };
      long = { ...common, name: `test/${randomUUID()}` };
      short = { ...common, name: `test/${randomUUID()}`, movesTo: long.name };
    });
    afterEach(() => jobs.stop({ drainMs: 0 }));
    afterAll(() => database.close());

    const move = (job: Job<Numbered>) => transaction(db, (tx) => job.move(tx));
    const enqueue = (n: number, options = {}) =>
      transaction(db, (tx) => jobs.enqueue(tx, short, { n }, { lane: 'one', ...options }));
    const statusOf = async (jobId: string) => (await jobs.find(jobId))?.status;
    const one = { concurrency: 1 };

    it('keep their id, their payload and all attempts', async () => {
      const { jobId } = await enqueue(7, { key: 'a' });
      jobs.work(short, move, one);
      const run: Job<Numbered>[] = [];
      jobs.work(long, async (job) => void run.push(job), one);
      await expect.poll(() => statusOf(jobId), patience).toBe('done');
      expect(run).toMatchObject([{ jobId, payload: { n: 7 }, attempt: 1 }]);
      const rows = await db
        .selectFrom('jobs')
        .select(['queue', 'status'])
        .where('queue', 'in', [short.name, long.name])
        .execute();
      expect(rows.map(({ status }) => status)).toEqual(['done', 'done']);
    });

    it('are postponed with all their attempts, and hold no worker until they are due', async () => {
      const { jobId } = await enqueue(1, { key: 'a' });
      await enqueue(2, { key: 'b' });
      const seen: [number, number][] = [];
      const postponeOrFail = async (job: Job<Numbered>) => {
        const { n } = job.payload;
        const times = seen.push([n, job.attempt]);
        // More failures than attempts, each after work that was done.
        if (n === 1 && times < 12) {
          if (times % 3 === 0) throw new Error('failed');
          await transaction(db, (tx) => job.postpone(tx, 30));
        }
      };
      jobs.work(short, postponeOrFail, one);
      await expect.poll(() => statusOf(jobId), patience).toBe('done');
      // The other job had its turn in the first pause.
      expect(seen.findIndex(([n]) => n === 2)).toBe(1);
      expect(Math.max(...seen.map(([, attempt]) => attempt))).toBeLessThan(3);
    });

    it('are not postponed if another worker holds them', async () => {
      const { jobId } = await enqueue(1);
      const outcomes: unknown[] = [];
      jobs.work(
        short,
        async (job) => {
          await db
            .updateTable('jobs')
            .set({ fence: job.attempt + 5 })
            .where('job_id', '=', jobId)
            .execute();
          outcomes.push(await transaction(db, (tx) => job.postpone(tx, 1)).catch((error: unknown) => error));
        },
        one,
      );
      await expect.poll(() => outcomes, patience).toHaveLength(1);
      expect(outcomes[0]).toBeInstanceOf(LeaseLost);
    });

    it('are found by their key, and count in their lane', async () => {
      const { jobId } = await enqueue(1, { key: 'a', maxInLane: 2 });
      jobs.work(short, move, one);
      const waits = () => db.selectFrom('jobs').select('job_id').where('queue', '=', long.name).execute();
      await expect.poll(waits, patience).toEqual([{ job_id: jobId }]);
      await jobs.stop();
      expect(await enqueue(1, { key: 'a', maxInLane: 1 })).toEqual({ jobId, created: false });
      expect(await jobs.enqueue(db, short, { n: 1 }, { key: 'a', lane: 'one' })).toEqual({ jobId, created: false });
      await expect(enqueue(2, { key: 'b', maxInLane: 1 })).rejects.toThrow(LaneFull);
      expect((await enqueue(2, { key: 'b', maxInLane: 2 })).created).toBe(true);
    });

    it('are only completed if the other queue has a job with their key', async () => {
      const other = await jobs.enqueue(db, long, { n: 1 }, { key: 'a' });
      const { jobId } = await jobs.enqueue(db, { ...short, movesTo: undefined }, { n: 2 }, { key: 'a' });
      jobs.work(short, move, one);
      await expect.poll(() => statusOf(jobId), patience).toBe('done');
      expect(await statusOf(other.jobId)).toBe('waiting');
    });

    it('count as served in the lane of the first queue', async () => {
      const order: string[] = [];
      for (const n of [1, 2]) await enqueue(n, { lane: 'one' });
      await enqueue(3, { lane: 'two' });
      jobs.work(
        short,
        async (job) => {
          order.push(String(job.payload.n));
          await move(job);
        },
        one,
      );
      jobs.work(long, async () => undefined, one);
      await expect.poll(() => order, patience).toEqual(['1', '3', '2']);
    });

    it('do not move if another worker holds them', async () => {
      const { jobId } = await enqueue(1);
      const outcome = Promise.withResolvers<unknown>();
      jobs.work(
        short,
        async (job) => {
          await db.updateTable('jobs').set({ fence: 1000 }).where('job_id', '=', jobId).execute();
          await move(job).catch(outcome.resolve);
        },
        one,
      );
      expect(await outcome.promise).toBeInstanceOf(LeaseLost);
      const rows = await db.selectFrom('jobs').select('queue').where('queue', 'in', [short.name, long.name]).execute();
      expect(rows).toEqual([{ queue: short.name }]);
    });

    it('do not move from a queue that names no other', async () => {
      const { jobId } = await jobs.enqueue(db, { ...long, maxAttempts: 1 }, { n: 1 });
      jobs.work({ ...long, maxAttempts: 1 }, move, one);
      await expect
        .poll(() => jobs.find(jobId), patience)
        .toMatchObject({ status: 'dead', reason: expect.stringContaining('do not move') });
    });
  });
}
