/** The server side of the Jobs page, over a real queue. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { migrations } from '#app/migrations.ts';
import { type Database, json, transaction } from '#platform/db/db.ts';
import type { Jobs, JobTables, Queue } from '#platform/jobs/jobs.ts';
import { UnrecoverableError } from '#platform/jobs/jobs.ts';
import { discardJob, retryJob, reviveDead } from '#platform/jobs/operatorstore.ts';
import { createJobs } from '#platform/jobs/queueing.ts';
import { createLog } from '#platform/log.ts';
import { type ConsoleServer, startConsoleServer } from '../../../test/console/server.fixture.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import type { ChangedJobs, JobList, QueueList } from './api.ts';

const log = createLog({ level: 'silent' });
const payload = z.object({ name: z.string(), apiToken: z.string().optional() });
const queueOf = (name: string): Queue<z.output<typeof payload>> => ({ name, payload, maxAttempts: 1 });
const failing = queueOf('tests/failing');
const settling = queueOf('tests/settling');
const idle = queueOf('tests/idle');
const deadQuery = '/api/jobs?queue=tests/failing&state=dead';

describe.each(laneEngines)('jobs on $name', (engine) => {
  describe.skipIf(engine.missing)('', () => {
    let database: Database;
    let jobs: Jobs;
    let operator: ConsoleServer;
    let isFailing = true;
    let settledNames: string[] = [];
    const runs: string[] = [];

    beforeAll(async () => {
      database = await engine.open(migrations);
      jobs = createJobs({ database, log, pollEveryMs: 20 });
      jobs.work(
        failing,
        async ({ payload: { name } }) => {
          runs.push(name);
          if (isFailing) throw new Error(`no way to ${name}`);
        },
        { concurrency: 2 },
      );
      const fail = async () => Promise.reject(new UnrecoverableError('refused'));
      jobs.work(settling, fail, {
        concurrency: 1,
        onDead: async (_tx, { name }) => void settledNames.push(name),
      });
      operator = await startConsoleServer(database, { traceUrl: 'https://traces.example/{traceId}' });
    });
    afterAll(async () => {
      await operator.close();
      await jobs.stop({ drainMs: 0 });
      await database.close();
    });
    beforeEach(async () => {
      isFailing = true;
      settledNames = [];
      runs.length = 0;
      await sql`delete from jobs`.execute(db());
      await sql`delete from operator_actions`.execute(db());
    });

    const db = () => database.queries<JobTables>();
    const list = async (query: string) => (await operator.read<JobList>(query)).jobs;
    const counts = async () => (await operator.read<QueueList>('/api/queues')).queues;
    const actions = async () =>
      (
        await sql<{ action: string; target: string; outcome: string }>`
          select action, target, outcome from operator_actions order by action_id`.execute(db())
      ).rows;
    const die = async (names: readonly string[], queue = failing, keyOf = (name: string) => name) => {
      for (const name of names) await jobs.enqueue(db(), queue, { name }, { key: keyOf(name) });
      await expect.poll(async () => (await list(`/api/jobs?queue=${queue.name}&state=dead`)).length).toBe(names.length);
    };
    const codeOf = async (response: Response) => [response.status, JSON.parse((await response.text()) || '{}').error];

    it('are counted by queue and state', async () => {
      await die(['one', 'two']);
      await jobs.enqueue(db(), idle, { name: 'now' });
      await jobs.enqueue(db(), idle, { name: 'later' }, { delayMs: 3_600_000 });
      await sql`insert into jobs (queue, payload, status, holder, expires_at) values ('tests/held', '{}', 'running', 'x', now() + interval '1 hour')`.execute(
        db(),
      );
      const none = { waiting: 0, scheduled: 0, failing: 0, running: 0, dead: 0, oldestDueAt: null };
      expect(await counts()).toEqual([
        { ...none, queue: 'tests/failing', dead: 2 },
        { ...none, queue: 'tests/held', running: 1 },
        { ...none, queue: 'tests/idle', waiting: 1, scheduled: 1, oldestDueAt: expect.any(String) },
      ]);
      expect((await list('/api/jobs?queue=tests/idle&state=waiting')).map((job) => JSON.parse(job.payload))).toEqual([
        { name: 'now' },
      ]);
      expect(await list('/api/jobs?queue=tests/idle&state=scheduled')).toHaveLength(1);
      expect(await list('/api/jobs?queue=tests/held&state=running')).toHaveLength(1);
      expect(await list('/api/jobs?queue=tests/none&state=dead')).toEqual([]);
    });

    it('name the person, the conversation, the email and the event that they are about', async () => {
      const [owner, email] = [randomUUID(), randomUUID()];
      const put = (queue: string, of: object, lane = '') =>
        sql`insert into jobs (queue, payload, lane, status, finished_at)
        values (${queue}, ${json(of)}, ${lane}, 'dead', now())`.execute(db());
      await put('tests/owned', { ownerId: owner, threadId: 'thread-1' });
      await put('tests/lane', { videoId: 'v' }, owner);
      await put('tests/lane', { videoId: 'w' }, randomUUID());
      const ofOwner = await list(`/api/jobs?queue=tests/lane&state=dead&q=${owner.toUpperCase()}`);
      expect(ofOwner.map(({ about }) => about.userId)).toEqual([owner]);
      await sql`delete from jobs where lane not in ('', ${owner})`.execute(db());
      await put('tests/email', { sendId: email });
      await put('tests/contact', { userId: owner, contact: { email: 'ada@example.com' } });
      const run = { taskId: randomUUID(), threadId: 'thread-2', userId: owner, status: 'failed' };
      const deliver = async (type: string, data: object) => {
        await sql`delete from jobs where queue = 'webhooks/deliver'`.execute(db());
        const body = JSON.stringify({ type, data });
        await put('webhooks/deliver', { id: 'msg_1', body, publishedAtMs: 0 });
        return about('webhooks/deliver');
      };
      const about = async (queue: string) => (await list(`/api/jobs?queue=${queue}&state=dead`))[0]?.about;
      expect(await about('tests/owned')).toEqual({ userId: owner, threadId: 'thread-1' });
      expect(await about('tests/lane')).toEqual({ userId: owner });
      expect(await about('tests/email')).toEqual({ emailId: email });
      expect(await about('tests/contact')).toEqual({ address: 'ada@example.com' });
      expect(await deliver('mail.bounced', { to: [] })).toEqual({ event: 'mail.bounced' });
      const { taskId, threadId, userId } = run;
      expect(await deliver('run.ended', run)).toEqual({ event: 'run.ended', taskId, threadId, userId });
      // The task of a video is no run.
      expect(await deliver('video_task.failed', { taskId, ownerId: owner })).toEqual({
        event: 'video_task.failed',
        userId: owner,
      });
    });

    it('show the reason, the time and the masked payload of dead jobs', async () => {
      const trace = '0af7651916cd43dd8448eb211c80319c';
      await sql`insert into jobs (queue, payload, status, attempt, fence, reason, finished_at, request_id, traceparent)
        values ('tests/failing', ${json({ name: 'x', apiToken: 'hush' })}, 'dead', 4, 6, 'no such thing', now(), 'r-1',
          ${`00-${trace}-b7ad6b7169203331-01`})`.execute(db());
      const [job] = await list(deadQuery);
      expect(job).toEqual({
        id: expect.any(String),
        fence: 6,
        attempts: 4,
        about: {},
        reason: 'no such thing',
        payload: JSON.stringify({ name: 'x', apiToken: '(hidden)' }, null, 2),
        isSettled: false,
        requestId: 'r-1',
        traceUrl: `https://traces.example/${trace}`,
        createdAt: expect.any(String),
        dueAt: expect.any(String),
        startedAt: null,
        endedAt: expect.any(String),
      });
    });

    it('are retried once after several clicks, if they are dead', async () => {
      await die(['one']);
      const [job] = await list(deadQuery);
      isFailing = false;
      const retry = () => operator.send('POST', `/api/jobs/${job?.id}/retry`, { fence: job?.fence });
      const statuses = (await Promise.all(Array.from({ length: 5 }, retry))).map(({ status }) => status);
      expect(statuses.sort()).toEqual([204, 409, 409, 409, 409]);
      await expect.poll(() => runs.length).toBe(2);
      await expect.poll(counts).toEqual([]);
      expect(await actions()).toEqual([
        { action: 'retry job', target: `job ${job?.id} of tests/failing`, outcome: 'done' },
      ]);
    });

    it('that fail are retried now, and jobs that are done or never failed are not', async () => {
      await sql`insert into jobs (queue, payload, status, attempt, fence, reason, run_at, finished_at) values
        ('tests/later', '{}', 'waiting', 2, 2, 'no', now() + interval '1 hour', null),
        ('tests/later', '{}', 'waiting', 0, 0, null, now() + interval '1 hour', null),
        ('tests/later', '{}', 'done', 1, 1, null, now(), now())`.execute(db());
      const { rows } = await sql<{ id: string; fence: number }>`
        select job_id as id, fence from jobs order by fence desc`.execute(db());
      expect((await list('/api/jobs?queue=tests/later&state=failing')).map(({ attempts }) => attempts)).toEqual([2]);
      expect((await list('/api/jobs?queue=tests/later&state=scheduled')).map(({ attempts }) => attempts)).toEqual([0]);
      const retried = rows.map(async ({ id, fence }) =>
        codeOf(await operator.send('POST', `/api/jobs/${id}/retry`, { fence })),
      );
      expect(await Promise.all(retried)).toEqual([
        [204, undefined],
        [409, 'job_changed'],
        [409, 'job_changed'],
      ]);
      expect((await counts()).map(({ waiting, failing, scheduled }) => [waiting, failing, scheduled])).toEqual([
        [1, 0, 1],
      ]);
    });

    it('that failed again after they were listed stay unchanged', async () => {
      await die(['one']);
      const [before] = await list(deadQuery);
      const retry = (fence?: number) => operator.send('POST', `/api/jobs/${before?.id}/retry`, { fence });
      expect((await retry(before?.fence)).status).toBe(204);
      await expect.poll(async () => (await list(deadQuery))[0]?.fence ?? 0).toBeGreaterThan(before?.fence ?? 0);
      expect(await codeOf(await retry(before?.fence))).toEqual([409, 'job_changed']);
      const discard = await operator.send('POST', `/api/jobs/${before?.id}/discard`, { fence: before?.fence });
      expect(await codeOf(discard)).toEqual([409, 'job_changed']);
      expect(runs).toHaveLength(2);
    });

    it('in progress are neither retried nor discarded', async () => {
      const { jobId } = await jobs.enqueue(db(), idle, { name: 'x' });
      await sql`update jobs set status = 'running', holder = 'x', expires_at = now() + interval '1 hour', fence = 1`.execute(
        db(),
      );
      for (const action of ['retry', 'discard'])
        expect(await codeOf(await operator.send('POST', `/api/jobs/${jobId}/${action}`, { fence: 1 }))).toEqual([
          409,
          'job_changed',
        ]);
      for (const action of ['retry', 'discard'])
        expect(await (await operator.send('POST', `/api/queues/${action}`, { queue: idle.name })).json()).toEqual({
          count: 0,
          hasMore: false,
        });
      expect(await actions()).toEqual([]);
    });

    it('that their service has settled are not retried, but can be discarded', async () => {
      await die(['one'], settling);
      expect(settledNames).toEqual(['one']);
      const [job] = await list('/api/jobs?queue=tests/settling&state=dead');
      expect(job).toMatchObject({ isSettled: true, reason: 'refused' });
      const act = (action: string) => operator.send('POST', `/api/jobs/${job?.id}/${action}`, { fence: job?.fence });
      expect(await codeOf(await act('retry'))).toEqual([409, 'job_settled']);
      expect(await (await operator.send('POST', '/api/queues/retry', { queue: settling.name })).json()).toEqual({
        count: 0,
        hasMore: false,
      });
      expect((await act('discard')).status).toBe(204);
      expect(await codeOf(await act('discard'))).toEqual([404, 'not_found']);
    });

    it('whose work a newer job does are not retried', async () => {
      await die(['one']);
      const [job] = await list(deadQuery);
      const { jobId } = await jobs.enqueue(db(), failing, { name: 'one' }, { key: 'one', delayMs: 3_600_000 });
      const retry = await operator.send('POST', `/api/jobs/${job?.id}/retry`, { fence: job?.fence });
      expect(await codeOf(retry)).toEqual([409, 'job_replaced']);
      const all = await operator.send('POST', '/api/queues/retry', { queue: failing.name });
      expect(await all.json()).toEqual({ count: 0, hasMore: false });
      expect((await list('/api/jobs?queue=tests/failing&state=scheduled')).map(({ id }) => id)).toEqual([jobId]);
    });

    it('of a queue are retried together, each once, and one of each key', async () => {
      await die(['one', 'two', 'three']);
      await sql`insert into jobs (queue, payload, status, unique_key, finished_at)
        values ('tests/failing', '{"name":"one"}', 'dead', 'one', now() - interval '1 day')`.execute(db());
      const retry = () => operator.send('POST', '/api/queues/retry', { queue: failing.name });
      const answers = await Promise.all([retry(), retry()]);
      const changed = (await Promise.all(answers.map((answer) => answer.json()))) as ChangedJobs[];
      // They fail again, and are not retried a second time.
      await expect.poll(async () => (await list(deadQuery)).length).toBe(4);
      expect(changed.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThanOrEqual(3);
      expect(changed.reduce((sum, { count }) => sum + count, 0)).toBe(runs.length - 3);
      expect(
        (await actions()).every(
          ({ action, target }) => action === 'retry dead jobs' && target === 'queue tests/failing',
        ),
      ).toBe(true);
    });

    it('of a queue are discarded together, and no others', async () => {
      await die(['one', 'two']);
      await die(['three'], settling);
      await jobs.enqueue(db(), failing, { name: 'later' }, { delayMs: 3_600_000 });
      const answer = await operator.send('POST', '/api/queues/discard', { queue: failing.name });
      expect(await answer.json()).toEqual({ count: 2, hasMore: false });
      expect((await counts()).map(({ queue, scheduled, dead }) => [queue, scheduled, dead])).toEqual([
        ['tests/failing', 1, 0],
        ['tests/settling', 0, 1],
      ]);
      expect(await actions()).toEqual([
        { action: 'discard dead jobs', target: 'queue tests/failing', outcome: '2 jobs' },
      ]);
    });

    it('beyond 10,000 need another call', async () => {
      await sql`insert into jobs (queue, payload, status, finished_at)
        select 'tests/many', '{}', 'dead', now() from generate_series(1, 10001)`.execute(db());
      expect((await counts())[0]?.dead).toBe(10_001);
      const discard = async () => (await operator.send('POST', '/api/queues/discard', { queue: 'tests/many' })).json();
      expect(await discard()).toEqual({ count: 10_000, hasMore: true });
      expect(await discard()).toEqual({ count: 1, hasMore: false });
    });

    it('beyond 10,000 are retried while the first ones still wait', async () => {
      await sql`insert into jobs (queue, payload, status, finished_at, unique_key)
        select 'tests/keyed', '{}', 'dead', now(), n::text from generate_series(1, 20001) as n`.execute(db());
      const retry = async () => (await operator.send('POST', '/api/queues/retry', { queue: 'tests/keyed' })).json();
      for (const call of ['first', 'second'])
        expect([call, await retry()]).toEqual([call, { count: 10_000, hasMore: true }]);
      expect(await retry()).toEqual({ count: 1, hasMore: false });
    });

    it('stay dead if the process dies before the change is committed', async () => {
      await die(['one']);
      const [job] = await list(deadQuery);
      const seen = { jobId: job?.id ?? '', fence: job?.fence ?? 0 };
      const died = new Error('the process dies');
      for (const work of [
        (tx: Parameters<typeof retryJob>[0]) => retryJob(tx, seen),
        (tx: Parameters<typeof retryJob>[0]) => discardJob(tx, seen),
        (tx: Parameters<typeof retryJob>[0]) => reviveDead(tx, failing.name, 10),
      ])
        await expect(
          transaction(db(), async (tx) => {
            await work(tx);
            throw died;
          }),
        ).rejects.toBe(died);
      expect(await list(deadQuery)).toEqual([job]);
    });

    it('of webhooks have another 24 hours', async () => {
      await sql`insert into jobs (queue, payload, status, fence, finished_at)
        values ('webhooks/deliver', '{"id":"m","publishedAtMs":1,"body":"{}"}', 'dead', 2, now())`.execute(db());
      const [job] = await list('/api/jobs?queue=webhooks/deliver&state=dead');
      expect((await operator.send('POST', `/api/jobs/${job?.id}/retry`, { fence: 2 })).status).toBe(204);
      const [row] = await list('/api/jobs?queue=webhooks/deliver&state=waiting');
      expect(JSON.parse(row?.payload ?? '{}').publishedAtMs).toBeGreaterThan(Date.now() - 60_000);
    });

    it.each([
      ['GET', '/api/queues', undefined, undefined],
      ['GET', '/api/jobs?queue=a&state=dead', undefined, undefined],
      ['POST', `/api/jobs/${randomUUID()}/retry`, { fence: 1 }, 404],
      ['POST', `/api/jobs/${randomUUID()}/discard`, { fence: 1 }, 404],
      ['POST', '/api/queues/retry', { queue: 'a' }, undefined],
      ['POST', '/api/queues/discard', { queue: 'a' }, undefined],
    ])('%s %s is for operators, on pages of the console', async (method, path, body, status = 200) => {
      expect((await operator.send(method, path, body, {})).status).toBe(401);
      expect((await operator.send(method, path, body)).status).toBe(status);
      if (method === 'POST')
        expect((await operator.send(method, path, body, { origin: 'https://x.example' })).status).toBe(403);
    });

    it.each([
      ['GET', '/api/jobs?state=dead', undefined, 'querystring.queue'],
      ['GET', '/api/jobs?queue=a&state=lost', undefined, 'querystring.state'],
      ['POST', '/api/jobs/one/retry', { fence: 1 }, 'params.id'],
      ['POST', `/api/jobs/${randomUUID()}/retry`, {}, 'body.fence'],
      ['POST', `/api/jobs/${randomUUID()}/discard`, { fence: -1 }, 'body.fence'],
      ['POST', '/api/queues/retry', {}, 'body.queue'],
      ['POST', '/api/queues/discard', { queue: '' }, 'body.queue'],
    ])('%s %s with %s is 400 and names the field', async (method, path, body, field) => {
      const response = await operator.send(method, path, body);
      expect(response.status).toBe(400);
      expect(JSON.stringify(await response.json())).toContain(field);
    });
  });
});
