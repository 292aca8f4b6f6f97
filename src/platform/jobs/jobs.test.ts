import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { databaseEngines } from '../../../test/database.fixture.ts';
import { isNightly } from '../../../test/lane.fixture.ts';
import { type Database, type Db, transaction } from '../db/db.ts';
import { createLog } from '../log.ts';
import { countJobsAbout, forgetJobs } from './forgetting.ts';
import {
  type Job,
  type Jobs,
  type JobTables,
  LaneFull,
  LeaseLost,
  type Queue,
  UnrecoverableError,
  WorkerStopping,
} from './jobs.ts';
import { createJobs, type JobsOptions, removeFinished } from './queueing.ts';
import { claimJobs, completeJob, renewJobs } from './rows.ts';
import { idOf } from './working.ts';

const log = createLog({ level: 'silent' });
const hourMs = 3_600_000;

for (const engine of databaseEngines) {
  describe.skipIf(engine.missing)(`jobs on ${engine.name}`, () => {
    let database: Database;
    let db: Db<JobTables>;
    let queue: Queue<{ readonly n: number }>;
    const processes: Jobs[] = [];

    /** Acts as another process. Timers run nothing unless a test configures them. */
    function startProcess(options: Partial<JobsOptions> = {}): Jobs {
      const still = { pollEveryMs: hourMs, sweepEveryMs: hourMs, isSoleProcess: false };
      const jobs = createJobs({ database, log, ...still, ...options });
      processes.push(jobs);
      return jobs;
    }
    const activePolling = { pollEveryMs: 20, sweepEveryMs: 50 };
    const enqueue = (jobs: Jobs, n: number, options = {}) => jobs.enqueue(db, queue, { n }, options);
    const until = async (jobs: Jobs, jobId: string, status: string) => {
      for (;;) {
        const state = await jobs.find(jobId);
        if (state?.status === status) return state;
        await sleep(10);
      }
    };
    const expire = () =>
      sql`update jobs set expires_at = now() - interval '1 second' where status = 'running'`.execute(db);

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

    it('run with their payload', async () => {
      const jobs = startProcess();
      const done: Job<{ n: number }>[] = [];
      jobs.work(queue, async (job) => void done.push(job), { concurrency: 1 });
      const { jobId, created } = await enqueue(jobs, 7);
      expect(created).toBe(true);
      expect(await until(jobs, jobId, 'done')).toMatchObject({ attempt: 1, reason: null });
      expect(done).toMatchObject([{ jobId, payload: { n: 7 }, attempt: 1, isLastAttempt: false }]);
    });

    it('start at once after the commit of the transaction that enqueued them, and not before', async () => {
      const jobs = startProcess();
      const begun = Promise.withResolvers<void>();
      let committed = false;
      jobs.work(queue, async () => (committed ? begun.resolve() : begun.reject(new Error('too early'))), {
        concurrency: 1,
      });
      await transaction(db, async (tx) => {
        await jobs.enqueue(tx, queue, { n: 1 });
        if (engine.name === 'postgres') await sleep(100);
        committed = true;
      });
      await begun.promise;
    });

    it('are not enqueued by a transaction that is rolled back', async () => {
      const jobs = startProcess();
      const failing = transaction(db, async (tx) => {
        await jobs.enqueue(tx, queue, { n: 1 }, { key: 'once' });
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      expect((await enqueue(jobs, 1, { key: 'once' })).created).toBe(true);
    });

    it('reject a payload that does not match the queue', async () => {
      await expect(startProcess().enqueue(db, queue, { n: 0.5 })).rejects.toThrow();
    });

    it('are created once for concurrent calls with the same key, until they finish', async () => {
      const jobs = startProcess();
      const enqueued = await Promise.all(Array.from({ length: 50 }, (_, n) => enqueue(jobs, n, { key: 'same' })));
      expect(new Set(enqueued.map(({ jobId }) => jobId)).size).toBe(1);
      expect(enqueued.filter(({ created }) => created)).toHaveLength(1);
      expect((await enqueue(jobs, 0, { key: 'other' })).created).toBe(true);
      expect((await enqueue(jobs, 0)).jobId).not.toBe((await enqueue(jobs, 0)).jobId);
      const elsewhere = { ...queue, name: `${queue.name}/2` };
      expect((await jobs.enqueue(db, elsewhere, { n: 0 }, { key: 'same' })).created).toBe(true);
      jobs.work(queue, async () => undefined, { concurrency: 4 });
      await enqueue(jobs, 0);
      const [first] = enqueued;
      await until(jobs, String(first?.jobId), 'done');
      expect(await enqueue(jobs, 0, { key: 'same' })).toMatchObject({ created: true });
    });

    it('wait until they are due', async () => {
      const jobs = startProcess(activePolling);
      let begunMs = 0;
      const startedMs = performance.now();
      const work = async () => {
        begunMs = performance.now();
      };
      jobs.work(queue, work, { concurrency: 1 });
      const { jobId } = await enqueue(jobs, 1, { delayMs: 400 });
      await until(jobs, jobId, 'done');
      expect(begunMs - startedMs).toBeGreaterThanOrEqual(390);
    });

    it('wait for an instant, by the clock of the database', async () => {
      const jobs = startProcess(activePolling);
      jobs.work(queue, async () => undefined, { concurrency: 1 });
      const { rows } = await sql<{ at: Date }>`select clock_timestamp() + interval '400 milliseconds' as at`.execute(
        db,
      );
      const at = rows[0]?.at ?? new Date();
      const { jobId } = await enqueue(jobs, 1, { at });
      await until(jobs, jobId, 'done');
      const { rows: after } = await sql<{ is: boolean }>`select clock_timestamp() >= ${at} as is`.execute(db);
      expect(after).toEqual([{ is: true }]);
    });

    it('are made due by their keys before their time', async () => {
      const jobs = startProcess();
      jobs.work(queue, async () => undefined, { concurrency: 1 });
      const [hastened, other] = [
        await enqueue(jobs, 1, { key: 'hastened', delayMs: hourMs }),
        await enqueue(jobs, 2, { key: 'other', delayMs: hourMs }),
      ];
      await jobs.hasten(db, queue, 'hastened');
      await until(jobs, hastened.jobId, 'done');
      expect(await jobs.find(other.jobId)).toMatchObject({ status: 'waiting' });
      expect(await jobs.cancel(db, queue, 'other')).toBe(true);
    });

    it('are found by processes that were not notified', async () => {
      const [enqueuing, working] = [startProcess(), startProcess(activePolling)];
      working.work(queue, async () => undefined, { concurrency: 1 });
      // The worker is idle after the first job, so only polling finds the second one.
      for (const n of [1, 2]) await until(working, (await enqueue(enqueuing, n)).jobId, 'done');
    });

    it('respect the concurrency of the queue', async () => {
      const jobs = startProcess();
      let [present, most] = [0, 0];
      const work = async () => {
        most = Math.max(most, ++present);
        await sleep(20);
        present -= 1;
      };
      jobs.work(queue, work, { concurrency: 3 });
      const enqueued = await Promise.all(Array.from({ length: 12 }, (_, n) => enqueue(jobs, n)));
      for (const { jobId } of enqueued) await until(jobs, jobId, 'done');
      expect(most).toBe(3);
    });

    const many = isNightly ? 1000 : 200;
    it(`run once each, ${many} of them on many workers`, async () => {
      const [first, ...others] = Array.from({ length: 8 }, () => startProcess({ pollEveryMs: 30 }));
      const times = new Map<number, number>();
      await transaction(db, async (tx) => {
        for (let n = 0; n < many; n++) await first?.enqueue(tx, queue, { n });
      });
      const work = async ({ payload: { n } }: Job<{ n: number }>) => void times.set(n, (times.get(n) ?? 0) + 1);
      for (const jobs of [first, ...others]) jobs?.work(queue, work, { concurrency: 5 });
      const unfinished = async () => (await first?.depths())?.some((depth) => depth.queue === queue.name);
      while (await unfinished()) await sleep(20);
      expect(times.size).toBe(many);
      expect([...times.values()].every((count) => count === 1)).toBe(true);
    });

    it('are retried after a failure, until they succeed', async () => {
      const jobs = startProcess(activePolling);
      const attempts: number[] = [];
      const work = async ({ attempt }: Job<unknown>) => {
        attempts.push(attempt);
        if (attempt < 3) throw new Error('not yet');
      };
      jobs.work(queue, work, { concurrency: 1 });
      await until(jobs, (await enqueue(jobs, 1)).jobId, 'done');
      expect(attempts).toEqual([1, 2, 3]);
    });

    it('wait longer after each failure', async () => {
      queue = { ...queue, retryAfterMs: 100_000, longestRetryMs: 150_000 };
      const jobs = startProcess();
      jobs.work(queue, async () => Promise.reject(new Error('no')), { concurrency: 1 });
      const { jobId } = await enqueue(jobs, 1);
      const waits: number[] = [];
      for (let attempt = 1; attempt <= 3; attempt++) {
        while ((await jobs.find(jobId))?.attempt !== attempt) await sleep(10);
        await until(jobs, jobId, 'waiting');
        const { rows } = await sql<{ s: number }>`
          select extract(epoch from run_at - now())::float8 as s from jobs where job_id = ${jobId}`.execute(db);
        waits.push(rows[0]?.s ?? 0);
        await sql`update jobs set run_at = now() where job_id = ${jobId}`.execute(db);
        await enqueue(jobs, 0, { delayMs: hourMs });
      }
      const bounds = [100, 150, 150];
      for (const [index, bound] of bounds.entries()) {
        expect(waits[index]).toBeGreaterThan(bound / 2 - 10);
        expect(waits[index]).toBeLessThanOrEqual(bound);
      }
    });

    it('end as dead after their last attempt, and run onDead in the same transaction', async () => {
      queue = { ...queue, maxAttempts: 3 };
      const jobs = startProcess(activePolling);
      const last: boolean[] = [];
      const reported: unknown[] = [];
      const onDead = async (tx: Db<JobTables>, payload: unknown, reason: string) => {
        const row = await tx.selectFrom('jobs').select('status').where('queue', '=', queue.name).executeTakeFirst();
        reported.push({ payload, reason, status: row?.status });
      };
      const work = async ({ isLastAttempt }: Job<unknown>) => {
        last.push(isLastAttempt);
        throw new Error('poison');
      };
      jobs.work(queue, work, { concurrency: 1, onDead });
      const { jobId } = await enqueue(jobs, 1);
      expect(await until(jobs, jobId, 'dead')).toMatchObject({ attempt: 3, reason: 'poison' });
      expect(last).toEqual([false, false, true]);
      expect(reported).toEqual([{ payload: { n: 1 }, reason: 'poison', status: 'dead' }]);
      expect(await jobs.depths()).toContainEqual({ queue: queue.name, status: 'dead', count: 1 });
    });

    it.each([
      ['that no retry can resolve', () => Promise.reject(new UnrecoverableError('never')), { n: 1 }, 'never'],
      ['with NUL in its reason', () => Promise.reject(new UnrecoverableError('ne\0ver')), { n: 1 }, 'never'],
      ['whose payload no longer parses', async () => undefined, { m: 1 }, 'the payload does not parse'],
    ])('end as dead at once: one %s', async (_case, work, payload, reason) => {
      const jobs = startProcess();
      const old = { ...queue, payload: z.object({ n: z.int().optional(), m: z.int().optional() }) };
      jobs.work(queue, work, { concurrency: 1 });
      const { jobId } = await jobs.enqueue(db, old, payload);
      expect(await until(jobs, jobId, 'dead')).toMatchObject({ attempt: 1, reason });
    });

    describe('of a late worker', () => {
      /** Starts a job, lets its lease expire and lets another process claim it. `revive` ends the first handler. */
      async function takeOver(revive: (job: Job<{ n: number }>) => Promise<void> | void) {
        const [late, other] = [startProcess(), startProcess()];
        const [begun, revived] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const outcome = Promise.withResolvers<unknown>();
        const work = async (job: Job<{ n: number }>) => {
          begun.resolve();
          await revived.promise;
          try {
            await revive(job);
            outcome.resolve('returned');
          } catch (error) {
            outcome.resolve(error);
            throw error;
          }
        };
        late.work(queue, work, { concurrency: 1 });
        const { jobId } = await enqueue(late, 1);
        await begun.promise;
        await expire();
        const second = Promise.withResolvers<void>();
        const sweeping = startProcess(activePolling);
        const taken = Promise.withResolvers<number>();
        const takes = ({ attempt }: Job<unknown>) => {
          taken.resolve(attempt);
          return second.promise;
        };
        sweeping.work(queue, takes, { concurrency: 1 });
        expect(await taken.promise).toBe(2);
        revived.resolve();
        return { late, other, jobId, outcome: outcome.promise, finishSecond: second.resolve };
      }

      it('are not completed by it', async () => {
        const { late, other, jobId, outcome, finishSecond } = await takeOver(() => undefined);
        expect(await outcome).toBe('returned');
        await late.stop();
        expect(await other.find(jobId)).toMatchObject({ status: 'running', attempt: 2 });
        finishSecond();
        await until(other, jobId, 'done');
      });

      it('are not failed by it', async () => {
        const { late, other, jobId, outcome, finishSecond } = await takeOver(() =>
          Promise.reject(new UnrecoverableError('no')),
        );
        expect(await outcome).toBeInstanceOf(UnrecoverableError);
        await late.stop();
        expect(await other.find(jobId)).toMatchObject({ status: 'running', attempt: 2, reason: 'the worker was lost' });
        finishSecond();
        await until(other, jobId, 'done');
      });

      it('roll back what it writes with `complete`', async () => {
        const { other, jobId, outcome, finishSecond } = await takeOver(({ complete }) =>
          transaction(db, async (tx) => {
            await sql`update jobs set reason = 'written by the late one'`.execute(tx);
            await complete(tx);
          }),
        );
        expect(await outcome).toBeInstanceOf(LeaseLost);
        expect(await other.find(jobId)).toMatchObject({ status: 'running', reason: 'the worker was lost' });
        finishSecond();
        await until(other, jobId, 'done');
      });
    });

    it('are completed together with the handler’s write by `complete`', async () => {
      const jobs = startProcess();
      const work = ({ complete }: Job<unknown>) => transaction(db, (tx) => complete(tx));
      jobs.work(queue, work, { concurrency: 1 });
      await until(jobs, (await enqueue(jobs, 1)).jobId, 'done');
    });

    it('keep their lease while their worker runs, even late, and abort its signal when another one has the job', async () => {
      const jobs = startProcess({ leaseMs: 2000, sweepEveryMs: 50 });
      const reason = Promise.withResolvers<unknown>();
      const work = ({ signal }: Job<unknown>) =>
        new Promise<void>((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reason.resolve(signal.reason);
            reject(new Error('stopped'));
          });
        });
      jobs.work(queue, work, { concurrency: 1 });
      const { jobId } = await enqueue(jobs, 1);
      await until(jobs, jobId, 'running');
      const expiry = async () => {
        const found = db.selectFrom('jobs').select('expires_at').where('job_id', '=', jobId);
        return Number((await found.executeTakeFirstOrThrow()).expires_at);
      };
      const before = await expiry();
      while ((await expiry()) <= before) await sleep(20);
      // As after a time in which the whole process stood still.
      await expire();
      while ((await expiry()) <= before) await sleep(20);
      expect(await jobs.find(jobId)).toMatchObject({ status: 'running', attempt: 1 });
      await sql`update jobs set fence = fence + 1 where job_id = ${jobId}`.execute(db);
      expect(await reason.promise).toBeInstanceOf(LeaseLost);
    });

    // PGlite runs one transaction at a time.
    it.skipIf(engine.name === 'pglite')('are renewed while a transaction ends another job of the process', async () => {
      const jobs = startProcess();
      for (const n of [1, 2]) await enqueue(jobs, n);
      const [locked, other] = await claimJobs(db, queue.name, 2, 'test', 60_000);
      if (locked === undefined || other === undefined) throw new Error('a job was not claimed');
      const outside = AsyncLocalStorage.snapshot();
      await transaction(db, async (tx) => {
        expect(await completeJob(tx, locked)).toBe(true);
        const renewed = await outside(() => renewJobs(db, [locked, other, { ...other, fence: 7 }], 60_000));
        expect(renewed).toEqual(
          new Map([
            [idOf(locked), false],
            [idOf(other), true],
          ]),
        );
      });
      expect(await renewJobs(db, [locked, other], 60_000)).toEqual(new Map([[idOf(other), true]]));
    });

    it('end as dead if their workers are lost in every attempt', async () => {
      queue = { ...queue, maxAttempts: 1 };
      const reported = Promise.withResolvers<string>();
      const onDead = async (_tx: unknown, _payload: unknown, reason: string) => reported.resolve(reason);
      const lost = startProcess();
      const begun = Promise.withResolvers<void>();
      const work = () => {
        begun.resolve();
        return new Promise<void>(() => undefined);
      };
      // Its sweep at the start may still be running when the lease expires, so either process may report the job.
      lost.work(queue, work, { concurrency: 1, onDead });
      const { jobId } = await enqueue(lost, 1);
      await begun.promise;
      await expire();
      startProcess(activePolling).work(queue, async () => undefined, { concurrency: 1, onDead });
      expect(await reported.promise).toBe('the worker was lost');
      expect(await until(lost, jobId, 'dead')).toMatchObject({ attempt: 1, reason: 'the worker was lost' });
    });

    it('of a dead process are available at once if there is only one process at a time', async () => {
      await sql`
        insert into jobs (queue, payload, status, attempt, fence, holder, expires_at)
        values (${queue.name}, '{"n":1}', 'running', 1, 1, 'a former process', now() + interval '1 hour')`.execute(db);
      const attempt = Promise.withResolvers<number>();
      startProcess({ isSoleProcess: true }).work(queue, async (job) => attempt.resolve(job.attempt), {
        concurrency: 1,
      });
      expect(await attempt.promise).toBe(2);
    });

    it('finish before their process stops, and no more are started', async () => {
      const jobs = startProcess();
      const begun = Promise.withResolvers<void>();
      const work = async () => {
        begun.resolve();
        await sleep(200);
      };
      jobs.work(queue, work, { concurrency: 1 });
      const [first, second] = [await enqueue(jobs, 1), await enqueue(jobs, 2)];
      await begun.promise;
      await jobs.stop();
      expect(await jobs.find(first.jobId)).toMatchObject({ status: 'done' });
      expect(await jobs.find(second.jobId)).toMatchObject({ status: 'waiting', attempt: 0 });
    });

    it.each(['respond to their signal', 'do not'])(
      'return to the queue without a counted attempt when the drain time is over, whether they %s',
      async (manner) => {
        const jobs = startProcess();
        const reason = Promise.withResolvers<unknown>();
        const work = ({ signal }: Job<unknown>) =>
          new Promise<void>((_resolve, reject) => {
            if (signal.aborted) reject(new Error('stopped'));
            signal.addEventListener('abort', () => {
              reason.resolve(signal.reason);
              if (manner === 'respond to their signal') reject(new Error('stopped'));
            });
          });
        jobs.work(queue, work, { concurrency: 1 });
        const { jobId } = await enqueue(jobs, 1);
        await until(jobs, jobId, 'running');
        await jobs.stop({ drainMs: 50 });
        expect(await reason.promise).toBeInstanceOf(WorkerStopping);
        expect(await jobs.find(jobId)).toMatchObject({ status: 'waiting', attempt: 0 });
        await startProcess(activePolling).find(jobId);
        const next = startProcess();
        next.work(queue, async () => undefined, { concurrency: 1 });
        expect(await until(next, jobId, 'done')).toMatchObject({ attempt: 1 });
      },
    );

    it('are cancelled by their key, waiting or running', async () => {
      const jobs = startProcess({ leaseMs: 400 });
      const { jobId } = await enqueue(jobs, 1, { key: 'waiting', delayMs: hourMs });
      expect(await jobs.cancel(db, queue, 'waiting')).toBe(true);
      expect(await jobs.cancel(db, queue, 'waiting')).toBe(false);
      expect(await jobs.find(jobId)).toBeUndefined();
      const reported = Promise.withResolvers<void>();
      const work = ({ signal }: Job<unknown>) =>
        new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => {
            reported.resolve();
            resolve();
          });
        });
      jobs.work(queue, work, { concurrency: 1 });
      const running = await enqueue(jobs, 1, { key: 'running' });
      await until(jobs, running.jobId, 'running');
      await jobs.cancel(db, queue, 'running');
      await reported.promise;
      expect(await jobs.find(running.jobId)).toBeUndefined();
    });

    describe('in lanes', () => {
      const mapConcurrently = () => ({ ...queue, isRoundRobin: true });
      /** The clock of an engine may have milliseconds only, so that jobs enqueued one after the other have the same time. */
      const inOrder = (n: number) => new Date(Date.now() - hourMs + n);
      const done = async (jobs: Jobs, jobIds: readonly string[]) => {
        for (const jobId of jobIds) await until(jobs, jobId, 'done');
      };

      it('run from one lane after the other, regardless of the size of a lane', async () => {
        const jobs = startProcess();
        const names = [...Array.from({ length: 20 }, () => 'busy'), 'one', 'other', 'other'];
        const jobIds: string[] = [];
        for (const [n, lane] of names.entries())
          jobIds.push((await jobs.enqueue(db, mapConcurrently(), { n }, { lane, at: inOrder(n) })).jobId);
        const order: string[] = [];
        jobs.work(mapConcurrently(), async ({ payload: { n } }) => void order.push(String(names[n])), {
          concurrency: 1,
        });
        await done(jobs, jobIds);
        expect(order.slice(0, 5)).toEqual(['busy', 'one', 'other', 'busy', 'other']);
        expect(order).toHaveLength(names.length);
      });

      it('make a later lane wait for one job of another lane only', async () => {
        const jobs = startProcess();
        const order: string[] = [];
        const late: { jobId?: string } = {};
        const names = ['busy', 'busy', 'busy', 'busy', 'late'];
        const { promise: isLate, resolve } = Promise.withResolvers<void>();
        const work = async ({ payload: { n } }: Job<{ n: number }>) => {
          order.push(String(names[n]));
          if (n !== 1) return;
          late.jobId = (await jobs.enqueue(db, mapConcurrently(), { n: 4 }, { lane: 'late' })).jobId;
          resolve();
        };
        const jobIds: string[] = [];
        for (let n = 0; n < 4; n++)
          jobIds.push((await jobs.enqueue(db, mapConcurrently(), { n }, { lane: 'busy', at: inOrder(n) })).jobId);
        jobs.work(mapConcurrently(), work, { concurrency: 1 });
        await isLate;
        await done(jobs, [...jobIds, String(late.jobId)]);
        expect(order).toEqual(['busy', 'busy', 'late', 'busy', 'busy']);
      });

      it('are claimed once each by several processes', async () => {
        const jobs = startProcess();
        const names = Array.from({ length: 40 }, (_, n) => `lane ${n % 3}`);
        const jobIds: string[] = [];
        for (const [n, lane] of names.entries())
          jobIds.push((await jobs.enqueue(db, mapConcurrently(), { n }, { lane })).jobId);
        const seen: number[] = [];
        for (let process = 0; process < 3; process++)
          startProcess(activePolling).work(mapConcurrently(), async ({ payload: { n } }) => void seen.push(n), {
            concurrency: 2,
          });
        await done(jobs, jobIds);
        expect(seen.sort((a, b) => a - b)).toEqual(names.map((_, n) => n));
      });

      it('never exceed the limit of a lane, even if enqueued concurrently', async () => {
        const jobs = startProcess();
        const attempts = Array.from({ length: 12 }, (_, n) =>
          transaction(db, (tx) =>
            jobs.enqueue(tx, mapConcurrently(), { n }, { key: `job ${n}`, lane: 'full', maxInLane: 5 }),
          ).then(
            () => 'enqueued',
            (error: unknown) => (error instanceof LaneFull ? 'full' : String(error)),
          ),
        );
        const outcomes = await Promise.all(attempts);
        expect(outcomes.filter((outcome) => outcome === 'enqueued')).toHaveLength(5);
        expect(outcomes.filter((outcome) => outcome === 'full')).toHaveLength(7);
        const enqueued = outcomes.indexOf('enqueued');
        const again = await transaction(db, (tx) =>
          jobs.enqueue(tx, mapConcurrently(), { n: 0 }, { key: `job ${enqueued}`, lane: 'full', maxInLane: 5 }),
        );
        expect(again.created).toBe(false);
        const free = { key: 'free', lane: 'free', maxInLane: 5 };
        expect((await transaction(db, (tx) => jobs.enqueue(tx, mapConcurrently(), { n: 0 }, free))).created).toBe(true);
        await expect(jobs.enqueue(db, mapConcurrently(), { n: 0 }, { ...free, key: 'outside' })).rejects.toThrow(
          'transaction',
        );
      });
    });

    it('are withdrawn by their keys unless a worker has started them', async () => {
      const jobs = startProcess();
      const begun = await enqueue(jobs, 1, { key: 'begun' });
      const { promise: end, resolve } = Promise.withResolvers<void>();
      jobs.work(queue, () => end, { concurrency: 1 });
      await until(jobs, begun.jobId, 'running');
      const waiting = await enqueue(jobs, 2, { key: 'waiting' });
      const other = await enqueue(jobs, 3, { key: 'other' });
      await jobs.withdraw(db, queue, ['begun', 'waiting', 'absent']);
      expect(await jobs.find(waiting.jobId)).toBeUndefined();
      expect(await jobs.find(begun.jobId)).toMatchObject({ status: 'running' });
      resolve();
      for (const { jobId } of [begun, other]) await until(jobs, jobId, 'done');
    });

    it('are taken over even if the end of another spent job fails', async () => {
      const lost = { ...queue, name: `${queue.name}/lost`, maxAttempts: 1 };
      const { jobId: stuck } = await startProcess().enqueue(db, lost, { n: 1 });
      const { jobId } = await enqueue(startProcess(), 2);
      await claimJobs(db, lost.name, 1, 'dead', 60_000);
      await claimJobs(db, queue.name, 1, 'dead', 60_000);
      await expire();
      const jobs = startProcess(activePolling);
      const onDead = () => Promise.reject(new Error('no'));
      jobs.work(lost, async () => undefined, { concurrency: 1, onDead });
      jobs.work(queue, async () => undefined, { concurrency: 1 });
      await until(jobs, jobId, 'done');
      expect(await jobs.find(stuck)).toMatchObject({ status: 'running' });
    });

    it('whose handler finds that they were canceled are not logged as dead', async () => {
      const lines: string[] = [];
      const destination = new Writable({ write: (line, _encoding, done) => done(void lines.push(String(line))) });
      const jobs = startProcess({ log: createLog({ level: 'warn', destination }) });
      await enqueue(jobs, 1, { key: 'canceled' });
      jobs.work(
        { ...queue, maxAttempts: 1 },
        async (job) => {
          await jobs.cancel(db, queue, 'canceled');
          await transaction(db, (tx) => job.complete(tx));
        },
        { concurrency: 1 },
      );
      await expect.poll(() => lines.join('')).toContain('now belongs to another worker');
      expect(lines.join('')).not.toContain('a job is dead');
    });

    it('that mention an erased person are deleted, and those of a person with a longer address stay', async () => {
      const jobs = startProcess();
      const about = { name: `${queue.name}/about`, payload: z.object({ text: z.string() }) };
      const [id, address] = [randomUUID(), `a.b+${randomUUID()}@example.com`];
      const own = [`mcp-${id}`, `<${address.toUpperCase()}>: no such mailbox`, `{"to":["${address}"]}`];
      const foreign = [`an${address}`, `${address}.br`, address.replace('.', 'x')];
      const kept: string[] = [];
      for (const text of own) await jobs.enqueue(db, about, { text });
      for (const text of foreign) kept.push((await jobs.enqueue(db, about, { text })).jobId);
      await jobs.enqueue(db, about, { text: '' }, { key: address });
      expect(await countJobsAbout(db, [id, address])).toBe(4);
      expect(await forgetJobs(db, [id, address], sql<boolean>`queue = ${about.name}`)).toBe(4);
      const left = await db.selectFrom('jobs').select('job_id').where('queue', '=', about.name).execute();
      expect(left.map((row) => row.job_id).toSorted()).toEqual(kept.toSorted());
    });

    it('are removed some time after their end', async () => {
      const jobs = startProcess();
      const failing = { ...queue, name: `${queue.name}/dead` };
      jobs.work(queue, async () => undefined, { concurrency: 1 });
      jobs.work(failing, async () => Promise.reject(new UnrecoverableError('no')), { concurrency: 1 });
      const done = await enqueue(jobs, 1);
      const dead = await jobs.enqueue(db, failing, { n: 1 });
      await until(jobs, done.jobId, 'done');
      await until(jobs, dead.jobId, 'dead');
      await removeFinished(db, 0, 0, AbortSignal.abort());
      expect(await jobs.find(done.jobId)).toMatchObject({ status: 'done' });
      const sweeping = startProcess({ keepDoneMs: 0, removeEveryMs: 20 });
      sweeping.work({ ...queue, name: `${queue.name}/other` }, async () => undefined, { concurrency: 1 });
      while ((await jobs.find(done.jobId)) !== undefined) await sleep(10);
      expect(await jobs.find(dead.jobId)).toMatchObject({ status: 'dead' });
    });
  });
}
