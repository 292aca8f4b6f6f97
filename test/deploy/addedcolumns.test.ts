/** Rows that an earlier version wrote, after a migration that adds columns to their table. */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { collectMigrations } from '#platform/db/migrations.ts';
import { platformMigrations } from '#platform/db/open.ts';
import { openPostgres } from '#platform/db/postgres.ts';
import { createLog } from '#platform/log.ts';
import { createPostgresDatabase, databaseEngines } from '../database.fixture.ts';

const isMissing = databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);
const log = createLog({ level: 'silent' });
const id = randomUUID();

const orders = `insert into agent_generations (generation_id, owner_id, model, price, input, scope_kind, scope_id, status)
  values ('${id}', '${id}', 'small', 4, '{}', 'library', '${id}', 'running')`;
const incidents = `insert into screening_incidents
  (asset_id, owner_id, scope_kind, scope_id, kind, mime, byte_size, etag, sha256, md5, check_name, list)
  values ('${id}', '${id}', 'library', '${id}', 'image', 'image/png', 1, 'e', 'f', 'd', 'digests', 'sha256')`;
const shares = `insert into shares (share_id, owner_id, thread_id, snapshot, show_prompt, is_indexed, show_attachments)
  values ('old', '${id}', 'thread', '{}', true, true, true)`;
const costs = "insert into agent_image_costs (reference, scope, cost_usd) values ('old', 'run', 0.5)";

const calls = `
  insert into user_profiles (id, credits) values ('${id}', 90);
  insert into credit_ledger (reference, scope, user_id, amount, state, asset_id)
    select 'mcp:${id}:' || n, 'mcp:${id}', '${id}', 4, case when n = 0 then 'settled' else 'reserved' end, gen_random_uuid()
    from generate_series(0, 2) as n;
  insert into agent_tool_calls (call_id, owner_id, expires_at) values ('${id}', '${id}', now() + interval '7 minutes')`;
const creditsOfCalls = `select credits, (select count(origin)::int from agent_generations),
  (select string_agg(state, ' ' order by reference) from credit_ledger), (select count(*)::int from agent_tool_calls)
  from user_profiles`;

const rows = [
  ['agent/420_image_orders', costs, 'select cost_usd, model, answer from agent_image_costs', [0.5, null, null]],
  ['agent/421_order_traces', orders, 'select model, trace from agent_generations', ['small', null]],
  ['agent/441_orders_over_mcp', orders, 'select model, origin from agent_generations', ['small', 'api']],
  ['agent/441_orders_over_mcp', calls, creditsOfCalls, [98, 0, 'settled released released', 0]],
  ['media/420_share_authors', shares, 'select share_id, author from shares', ['old', null]],
  ['media/430_incident_titles', incidents, 'select list, title from screening_incidents', ['sha256', null]],
  ['media/450_incident_generations', incidents, 'select list, generation from screening_incidents', ['sha256', null]],
  ['media/470_album_covers', shares, 'select share_id, shown_at from shares', ['old', null]],
  ['media/480_earlier_decisions', incidents, 'select list, earlier from screening_incidents', ['sha256', []]],
] as const;

describe.skipIf(isMissing)('rows of an earlier version', () => {
  it.each(rows)('keep their values, and new columns are empty: %s', async (added, written, read, values) => {
    const all = await collectMigrations([platformMigrations, ...migrations]);
    const [service = ''] = added.split('/');
    const before = all.filter(({ name }) => !name.startsWith(`${service}/`) || name < added);
    expect(before.length).toBeLessThan(all.length);
    const { url, drop } = await createPostgresDatabase();
    const migrate = async (some: typeof all) =>
      (await openPostgres({ url, poolSize: 1, migrations: some, log })).close();
    const client = new pg.Client({ connectionString: url });
    try {
      await migrate(before);
      await client.connect();
      await client.query(written);
      await expect(client.query(read)).rejects.toThrow(/column .* does not exist/);
      await migrate(all);
      expect((await client.query({ text: read, rowMode: 'array' })).rows).toEqual([values]);
    } finally {
      await client.end();
      await drop();
    }
  });
});
