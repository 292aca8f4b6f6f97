/** Jobs that are inserted with their row and held from then on. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { databaseEngines } from '../../../test/database.fixture.ts';
import { type Database, type Db, transaction } from '../db/db.ts';
import { createLog } from '../log.ts';
import {
  type Job,
  type JobInsertion,
  type Jobs,
  type JobTables,
  LeaseLost,
  type Queue,
  type StartOptions,
} from './jobs.ts';
import { createJobs, type JobsOptions } from './queueing.ts';

const log = createLog({ level: 'silent' });
const hourMs = 3_600_000;
type Payload = { readonly n: number };

for (const engine of databaseEngines) {
  describe.skipIf(engine.missing)(`jobs that start with their row, on ${engine.name}`, () => {
    let database: Database;
    let db: Db<JobTables>;
    let queue: Queue<Payload>;
    const processes: Jobs[] = [];

    /** Acts as another process. Timers run nothing unless a test configures them. */
    function startProcess(options: Partial<JobsOptions> = {}): Jobs {
      const still = { pollEveryMs: hourMs, sweepEveryMs: hourMs, isSoleProcess: false };
      const jobs = createJobs({ database, log, ...still, ...options });
      processes.push(jobs);
      return jobs;
    }
    const activePolling = { pollEveryMs: 20, sweepEveryMs: 50 };
    const insert = async ({ statement }: JobInsertion) => {
      await sql`with one as (select), job as (${statement('one')}) select`.execute(db);
      return true;
    };
    const start = (jobs: Jobs, n: number, options: StartOptions<Payload> = {}) =>
      jobs.start(queue, { n }, insert, options);
    const rows = () =>
      db
        .selectFrom('jobs')
        .select(['job_id as jobId', 'status', 'attempt', 'fence'])
        .where('queue', '=', queue.name)
        .execute();
    const untilDone = async (count: number) => {
      while ((await rows()).filter(({ status }) => status === 'done').length < count) await sleep(10);
    };

    beforeAll(async () => {
      database = await engine.open();
      db = database.queries<JobTables>();
    });
    beforeEach(() => {
      queue = { name: `test/${randomUUID()}`, payload: z.object({ n: z.int() }), retryAfterMs: 1 };
    });
    afterEach(async () => {
      await Promise.all(processes.splice(0).map((jobs) => jobs.stop({ drainMs: 0 })));
    });
    afterAll(() => database.close());

    it('run at once in the process that inserts them, and nowhere else', async () => {
      const [own, other] = [startProcess(), startProcess(activePolling)];
      const [handled, attempted]: [number[], Job<Payload>[]] = [[], []];
      const handler = async ({ payload }: Job<Payload>) => void handled.push(payload.n);
      own.work(queue, handler, { concurrency: 2 });
      other.work(queue, handler, { concurrency: 2 });
      expect(await start(own, 1, { attempt: async (job) => void attempted.push(job) })).toBe(true);
      await start(own, 2);
      await untilDone(2);
      expect(attempted).toMatchObject([{ payload: { n: 1 }, attempt: 1, isLastAttempt: false }]);
      expect(handled).toEqual([2]);
      expect(await rows()).toMatchObject([
        { attempt: 1, fence: 1 },
        { attempt: 1, fence: 1 },
      ]);
    });

    it('are retried by the handler of the queue', async () => {
      const jobs = startProcess(activePolling);
      const handled: number[] = [];
      jobs.work(queue, async ({ attempt }) => void handled.push(attempt), { concurrency: 1 });
      await start(jobs, 1, { attempt: () => Promise.reject(new Error('not yet')) });
      await untilDone(1);
      expect(handled).toEqual([2]);
    });

    it('wait for a worker if their process has none, or no room', async () => {
      const [own, other] = [startProcess(), startProcess(activePolling)];
      const claimed: boolean[] = [];
      const insertAnd = (insertion: JobInsertion) => {
        claimed.push(insertion.isClaimed);
        return insert(insertion);
      };
      await own.start(queue, { n: 1 }, insertAnd);
      const gate = Promise.withResolvers<void>();
      own.work(queue, () => gate.promise, { concurrency: 1 });
      await own.start(queue, { n: 2 }, insertAnd);
      await own.start(queue, { n: 3 }, insertAnd);
      expect(claimed).toEqual([false, true, false]);
      const handled: number[] = [];
      other.work(queue, async ({ payload }) => void handled.push(payload.n), { concurrency: 2 });
      await untilDone(2);
      expect(handled.toSorted()).toEqual([1, 3]);
      gate.resolve();
      await untilDone(3);
    });

    it('take turns by their lanes', async () => {
      queue = { ...queue, isRoundRobin: true };
      const jobs = startProcess();
      const gate = Promise.withResolvers<void>();
      const handled: number[] = [];
      const handler = async ({ payload }: Job<Payload>) => {
        handled.push(payload.n);
        await gate.promise;
      };
      jobs.work(queue, handler, { concurrency: 1 });
      for (const n of [1, 2, 3]) await start(jobs, n, { lane: 'first' });
      await start(jobs, 4, { lane: 'second' });
      gate.resolve();
      await untilDone(4);
      // Jobs of one lane that begin in the same millisecond have no order.
      expect(handled.slice(0, 2)).toEqual([1, 4]);
      expect(handled.toSorted()).toEqual([1, 2, 3, 4]);
    });

    it('never exceed the concurrency of the queue, and leave no other job behind', async () => {
      const jobs = startProcess();
      let [running, most] = [0, 0];
      const handler = async () => {
        most = Math.max(most, ++running);
        // Long enough for a claim to be in progress while others start.
        await db.selectFrom('jobs').select('job_id').limit(1).execute();
        running -= 1;
      };
      jobs.work(queue, handler, { concurrency: 3 });
      await Promise.all(
        Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? start(jobs, n) : jobs.enqueue(db, queue, { n }))),
      );
      await untilDone(40);
      expect(most).toBeLessThanOrEqual(3);
    });

    it('do not block the process while their insertion takes the last place and another job is enqueued', async () => {
      const jobs = startProcess();
      const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const handled: number[] = [];
      jobs.work(queue, async ({ payload }) => void handled.push(payload.n), { concurrency: 1 });
      const started = jobs.start(queue, { n: 1 }, async (insertion) => {
        asked.resolve();
        await gate.promise;
        return insert(insertion);
      });
      await asked.promise;
      await jobs.enqueue(db, queue, { n: 2 });
      gate.resolve();
      await started;
      await untilDone(2);
      expect(handled).toEqual([1, 2]);
    });

    it('do not run if they are not inserted, and free their place', async () => {
      const jobs = startProcess();
      const handled: number[] = [];
      jobs.work(queue, async ({ payload }) => void handled.push(payload.n), { concurrency: 1 });
      expect(await jobs.start(queue, { n: 1 }, async () => false)).toBe(false);
      await expect(jobs.start(queue, { n: 2 }, () => Promise.reject(new Error('no database')))).rejects.toThrow(
        'no database',
      );
      await expect(start(jobs, Number.NaN)).rejects.toThrow();
      await start(jobs, 3, { key: 'three' });
      await untilDone(1);
      expect(handled).toEqual([3]);
    });

    it('are refused by the key of an unfinished one', async () => {
      const jobs = startProcess();
      const gate = Promise.withResolvers<void>();
      jobs.work(queue, () => gate.promise, { concurrency: 2 });
      await start(jobs, 1, { key: 'one' });
      await expect(start(jobs, 2, { key: 'one' })).rejects.toThrow();
      expect(await rows()).toHaveLength(1);
      gate.resolve();
      await untilDone(1);
    });

    it('cannot start in a queue whose jobs move', async () => {
      const starting = startProcess().start({ ...queue, movesTo: `${queue.name}/long` }, { n: 1 }, insert);
      await expect(starting).rejects.toThrow('can move');
      expect(await rows()).toEqual([]);
    });

    it('cannot start in a transaction', async () => {
      const jobs = startProcess();
      await expect(transaction(db, () => start(jobs, 1))).rejects.toThrow('inside a transaction');
    });

    it('finish before their process stops, also those that are being inserted', async () => {
      const jobs = startProcess();
      const handled: number[] = [];
      jobs.work(queue, async ({ payload }) => void handled.push(payload.n), { concurrency: 1 });
      const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const started = jobs.start(queue, { n: 1 }, async (insertion) => {
        asked.resolve();
        await gate.promise;
        return insert(insertion);
      });
      await asked.promise;
      const stopped = jobs.stop();
      gate.resolve();
      await Promise.all([started, stopped]);
      expect(handled).toEqual([1]);
      expect(await rows()).toMatchObject([{ status: 'done' }]);
    });

    it('keep their lease while they run', async () => {
      const jobs = startProcess({ leaseMs: 8000 });
      const gate = Promise.withResolvers<void>();
      jobs.work(queue, () => gate.promise, { concurrency: 1 });
      await start(jobs, 1);
      const expiry = async () =>
        Number(
          (await db.selectFrom('jobs').select('expires_at').where('queue', '=', queue.name).executeTakeFirstOrThrow())
            .expires_at,
        );
      const before = await expiry();
      while ((await expiry()) <= before) await sleep(20);
      gate.resolve();
      await untilDone(1);
    });

    describe('completed by the statement of the last write', () => {
      const write = (n: number) => async (completion: Parameters<Parameters<Job<Payload>['completeBy']>[0]>[0]) => {
        const { rows: found } = await sql`
          with job as (${completion}), written as (
            insert into jobs (queue, payload, status) select ${queue.name}, ${JSON.stringify({ n })}::jsonb, 'dead' from job
          )
          select from job`.execute(db);
        return found.length === 1;
      };

      it('are done with that write', async () => {
        const jobs = startProcess();
        jobs.work(queue, ({ completeBy }) => completeBy(write(2)), { concurrency: 1 });
        await start(jobs, 1);
        await untilDone(1);
        expect((await rows()).map(({ status }) => status).toSorted()).toEqual(['dead', 'done']);
      });

      it('write nothing, and throw LeaseLost, if another worker holds the job', async () => {
        const [late, other] = [startProcess(), startProcess(activePolling)];
        const outcome = Promise.withResolvers<unknown>();
        const taken = Promise.withResolvers<void>();
        const work = async ({ completeBy }: Job<Payload>) => {
          await taken.promise;
          await completeBy(write(2)).then(() => outcome.resolve('completed'), outcome.resolve);
        };
        late.work(queue, work, { concurrency: 1 });
        await start(late, 1);
        await sql`update jobs set expires_at = now() - interval '1 second' where queue = ${queue.name}`.execute(db);
        other.work(queue, async () => taken.resolve(), { concurrency: 1 });
        expect(await outcome.promise).toBeInstanceOf(LeaseLost);
        await untilDone(1);
        expect(await rows()).toMatchObject([{ status: 'done', attempt: 2 }]);
      });
    });
  });
}
