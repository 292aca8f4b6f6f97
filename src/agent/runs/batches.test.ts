/** Statements that delete rows in batches, with a plan that evaluates their subqueries as often as it can. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { type Database, transaction } from '#platform/db/db.ts';
import { discardDead } from '#platform/jobs/operatorstore.ts';
import { removeFinished } from '#platform/jobs/queueing.ts';
import { createLog } from '#platform/log.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import type { AgentContext } from '../context.ts';
import { openDatabaseLog } from '../eventlog/eventstore.ts';
import type { AgentTables } from '../tables.ts';
import { deleteOldUserEvents } from '../userevents/usereventstore.ts';
import { removeExpiredRuns } from './reaper.ts';
import { deleteExpiredRuns, deleteOldStarts, findOverdueRunsS, findOverdueStartsS } from './runstore.ts';

const log = createLog({ level: 'silent' });

describe.each(laneEngines)('batches on $name', (engine) => {
  describe.skipIf(engine.missing)('', () => {
    let database: Database;
    beforeAll(async () => {
      database = await engine.open(migrations);
    });
    afterAll(() => database.close());

    /** Aborted after the first statement. */
    const once = () => {
      let looks = 0;
      return {
        get aborted() {
          looks += 1;
          return looks > 1;
        },
      } as AbortSignal;
    };
    const id = 'gen_random_uuid()';
    const job = `(queue, payload, finished_at, status) select 'q', '{}', now() - interval '2 days'`;
    const cases: readonly [table: string, rows: string, limit: number, remove: (tx: never) => Promise<unknown>][] = [
      [
        'agent_runs',
        `(task_id, thread_id, owner_id, message_id, status, holder, lease_expires_at, epoch_ms, ended_at)
          select ${id}, ${id}::text, ${id}, 'm', 'failed', ${id}, now(), 1, now() - interval '1 day'`,
        20,
        (tx) => deleteExpiredRuns(tx, 1, 20),
      ],
      [
        'agent_starts',
        `(user_id, key, body_digest, task_id, thread_id, created_at)
          select ${id}, 'k', 'd', ${id}, 't', now() - interval '2 days'`,
        20,
        (tx) => deleteOldStarts(tx, 20),
      ],
      [
        'agent_user_events',
        `(user_id, seq, event, created_at) select ${id}, 1, '{}', now() - interval '2 days'`,
        20,
        (tx) => deleteOldUserEvents(tx, 60, 20),
      ],
      ['jobs', `${job}, 'dead'`, 20, (tx) => discardDead(tx, 'q', 20)],
      ['jobs', `${job}, 'done'`, 1000, (tx) => removeFinished(tx, 1, 1, once())],
    ];
    it.each(cases)('of %s have at most their limit', async (table, rows, limit, remove) => {
      const left = await transaction(database.queries(), async (tx) => {
        await sql.raw(`delete from ${table}`).execute(tx);
        await sql.raw(`insert into ${table} ${rows} from generate_series(1, ${limit + 10})`).execute(tx);
        for (const method of ['hashjoin', 'mergejoin', 'hashagg', 'sort', 'material'])
          await sql.raw(`set local enable_${method} = off`).execute(tx);
        await remove(tx as never);
        return (await sql.raw(`select from ${table}`).execute(tx)).rows.length;
      });
      expect(left).toBe(10);
    });

    it('are repeated until no expired row is left, with the events of runs', async () => {
      const db = database.queries<AgentTables>();
      for (const table of ['agent_runs', 'agent_starts', 'agent_events'])
        await sql.raw(`delete from ${table}`).execute(db);
      await sql`
        with runs as (
          insert into agent_runs (task_id, thread_id, owner_id, message_id, status, holder, lease_expires_at, epoch_ms, ended_at)
          select gen_random_uuid(), n::text, gen_random_uuid(), 'm', 'failed', gen_random_uuid(), now(), 1,
            now() - make_interval(hours => case when n = 0 then 0 else 2 end)
          from generate_series(0, 2300) as n returning task_id
        )
        insert into agent_events (task_id, first_seq, last_seq, events, is_last) select task_id, 1, 1, '{}', true from runs`.execute(
        db,
      );
      await sql`insert into agent_starts (user_id, key, body_digest, task_id, thread_id, created_at)
        select gen_random_uuid(), 'k', 'd', gen_random_uuid(), 't', now() - interval '2 days' from generate_series(1, 2300)`.execute(
        db,
      );
      expect(await findOverdueRunsS(db, 3600)).toBeGreaterThanOrEqual(3600);
      expect(await findOverdueStartsS(db)).toBeGreaterThanOrEqual(86_400);
      const context = { db, eventLog: openDatabaseLog({ db, log }), taskTtlS: 3600 } as AgentContext;
      await removeExpiredRuns(context, new AbortController().signal);
      for (const [table, left] of [
        ['agent_runs', 1],
        ['agent_events', 1],
        ['agent_starts', 0],
      ] as const)
        expect([table, (await sql.raw(`select from ${table}`).execute(db)).rows.length]).toEqual([table, left]);
      expect([await findOverdueRunsS(db, 3600), await findOverdueStartsS(db)]).toEqual([0, 0]);
    });

    it('find their rows by an index', async () => {
      const plans = await transaction(database.queries(), async (tx) => {
        await sql`set local enable_seqscan = off`.execute(tx);
        await sql`set local enable_bitmapscan = off`.execute(tx);
        const planOf = async (rows: string) => JSON.stringify((await sql.raw(`explain ${rows}`).execute(tx)).rows);
        return [
          await planOf(`select from jobs where status = 'done' and finished_at < now() order by finished_at limit 9`),
          await planOf(`select from jobs where status = 'dead' and finished_at < now() order by finished_at limit 9`),
          await planOf('select from agent_runs where ended_at < now() order by ended_at limit 9'),
        ];
      });
      expect(plans[0]).toContain('jobs_done_by_end');
      expect(plans[1]).toContain('jobs_dead_by_end');
      expect(plans[2]).toContain('agent_runs_by_end');
    });
  });
});
