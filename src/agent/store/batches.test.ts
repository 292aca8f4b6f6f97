/** Statements that delete rows in batches, with a plan that evaluates their subqueries as often as it can. */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { type Database, transaction } from '#platform/db/db.ts';
import { discardDead } from '#platform/jobs/operatorstore.ts';
import { removeFinished } from '#platform/jobs/retention.ts';
import { laneEngines } from '../../../test/database.fixture.ts';
import { deleteExpiredRuns } from './runstore.ts';
import { deleteOldStarts } from './startstore.ts';
import { endExpiredCalls } from './toolcallstore.ts';
import { deleteOldUserEvents } from './usereventstore.ts';

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
        'agent_tool_calls',
        `(call_id, owner_id, expires_at) select ${id}, ${id}, now() - interval '1 day'`,
        20,
        (tx) => endExpiredCalls(tx, { all: false, limit: 20 }),
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
      ['jobs', `${job}, 'dead'`, 20, (tx) => discardDead(tx, 'q', { diedBy: new Date(), limit: 20 })],
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
  });
});
