/** Counting the jobs of queues. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseEngines } from '../../../test/database.fixture.ts';
import type { Database } from '../db/db.ts';
import { countJobs, summarizeQueues } from './depth.ts';
import type { JobTables } from './jobs.ts';

describe.each(databaseEngines)('the depths of queues on $name', ({ open, missing }) => {
  let database: Database;
  const queries = () => database.queries<JobTables>();

  beforeAll(async () => {
    if (missing) return;
    database = await open();
    await sql`insert into jobs (queue, payload, status, attempt, run_at, finished_at)
      select queue, '{}', status, attempt, now() + make_interval(mins => due),
        case when status in ('waiting', 'running') then null else now() end
      from (values ('a', 'waiting', 0, -1, 2), ('a', 'waiting', 0, 1, 1), ('a', 'waiting', 3, 1, 1), ('a', 'running', 1, -1, 1),
        ('b', 'dead', 4, -1, 4), ('b', 'done', 1, -1, 4),
        ('c', 'done', 1, -1, 1), ('d', 'running', 1, -1, 4)) planted(queue, status, attempt, due, jobs), generate_series(1, jobs)`.execute(
      queries(),
    );
  });
  afterAll(() => database?.close());

  it.skipIf(missing)('are exact up to the limit, and omit queues with only finished jobs', async () => {
    const none = { waiting: 0, scheduled: 0, failing: 0, running: 0, dead: 0, oldestDueAt: null };
    expect(await summarizeQueues(queries(), 4)).toEqual([
      {
        ...none,
        queue: 'a',
        waiting: 2,
        scheduled: 1,
        failing: 1,
        running: 1,
        oldestDueAt: expect.any(Date),
      },
      { ...none, queue: 'b', dead: 4 },
      { ...none, queue: 'd', running: 4 },
    ]);
    expect(await countJobs(queries(), 4)).toEqual([
      { queue: 'a', status: 'waiting', count: 4 },
      { queue: 'a', status: 'running', count: 1 },
      { queue: 'b', status: 'dead', count: 4 },
      { queue: 'd', status: 'running', count: 4 },
    ]);
  });

  it.skipIf(missing)('end at the limit', async () => {
    const counts = await countJobs(queries(), 3);
    expect(counts.map(({ queue, status, count }) => [queue, status, count])).toEqual([
      ['a', 'waiting', 3],
      ['a', 'running', 1],
      ['b', 'dead', 3],
      ['d', 'running', 3],
    ]);
  });
});
