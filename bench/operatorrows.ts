/** Rows for the pages of operators: jobs, usage, people and everything that belongs to them. */
import { sql } from 'kysely';
import type { Database } from '../src/platform/db/db.ts';

type Db = ReturnType<Database['queries']>;

/** The person whose page is measured. The memory service has written a memory of theirs. */
export const shownPerson = 7;
/** Each person has a number, ten assets, ten jobs and ten rows of usage. */
export const emailOf = (person: number) => `person-${person}@example.com`;

/** The id of the person `n` in SQL. */
const userId = (n: string) =>
  sql.raw(`overlay(overlay(md5('user ' || ${n}) placing '4' from 13) placing '8' from 17)::uuid`);

const portion = 20_000;

/** `size`: of jobs and of assets. There is a tenth of it of everything else. */
export async function plantRows(db: Db, size: number): Promise<void> {
  await withoutIndexes(db, ['jobs', 'assets', 'notify_sends', 'agent_usage', 'memories'], async () => {
    for (let from = 0; from < size; from += portion) {
      await plantMany(db, from, Math.min(size, from + portion) - 1);
      await plantPeople(db, from / 10, Math.min(size, from + portion) / 10 - 1);
    }
  });
  await plantSums(db);
  await sql`vacuum analyze`.execute(db);
}

/** Creates the indexes after the rows, which takes a fraction of the time. Keys stay. */
async function withoutIndexes(db: Db, tables: readonly string[], plant: () => Promise<void>): Promise<void> {
  const { rows } = await sql<{ name: string; definition: string }>`
    select indexname as name, indexdef as definition from pg_indexes join pg_class on relname = indexname
    where tablename = any(${tables}::text[]) and not exists (select 1 from pg_constraint where conindid = pg_class.oid)
  `.execute(db);
  for (const { name } of rows) await sql`drop index ${sql.id(name)}`.execute(db);
  await plant();
  for (const { definition } of rows) await sql.raw(definition).execute(db);
}

async function plantMany(db: Db, from: number, to: number): Promise<void> {
  // Finished within the last hour, so that nothing removes them during the benchmark.
  await sql`
    insert into jobs (job_id, queue, payload, status, attempt, fence, reason, created_at, run_at, finished_at)
    select lpad(to_hex(n), 32, '0')::uuid,
      (array['bench/waiting', 'bench/dead', 'webhooks/deliver', 'webhooks/deliver', 'bench/done'])[1 + n % 5],
      jsonb_build_object('id', 'msg_' || n, 'publishedAtMs', n, 'body', '{"type":"account.created"}'),
      (array['waiting', 'dead', 'done', 'dead', 'done'])[1 + n % 5], 10, 10,
      'the receiver answered 503', now() - n * interval '2 ms', now() - n * interval '2 ms',
      case when n % 5 = 0 then null else now() - n * interval '2 ms' end
    from generate_series(${from}::integer, ${to}::integer) n`.execute(db);
  await sql`
    insert into assets (asset_id, owner_id, scope_kind, scope_id, kind, requested_mime, mime, backend, bucket, storage_key, etag,
      byte_size, created_at, ready_at)
    select lpad(to_hex(n), 32, '0')::uuid, ${userId('n / 10')}, 'thread', 'thread-' || n / 10, 'file', 'text/plain', 'text/plain',
      'objects', 'objects', 'u/bench/' || n, '"1"', 1000, now() - n * interval '1 s', now()
    from generate_series(${from}::integer, ${to}::integer) n`.execute(db);
  await sql`
    insert into agent_usage (user_id, day, model, runs, input_tokens, output_tokens, credits)
    select ${userId('n / 10')}, current_date - n % 10, 'model ' || n / 10 % 5, 1, 1000, 300, n % 97
    from generate_series(${from}::integer, ${to}::integer) n`.execute(db);
}

async function plantPeople(db: Db, from: number, to: number): Promise<void> {
  const people = sql`generate_series(${from}::integer, ${to}::integer) n`;
  await sql`insert into user_profiles (id, email, created_at)
    select ${userId('n')}, 'person-' || n || '@example.com', now() - n * interval '1 minute' from ${people}`.execute(
    db,
  );
  await sql`insert into agent_usage_months (user_id, month, runs, credits)
    select ${userId('n')}, date_trunc('month', now() at time zone 'UTC')::date, 10, n % 9973 from ${people}`.execute(
    db,
  );
  await sql`insert into agent_threads (thread_id, owner_id, title, message_count)
    select 'thread-' || n, ${userId('n')}, 'A thread', 2 from ${people}`.execute(db);
  await sql`insert into screening_incidents (asset_id, owner_id, scope_kind, scope_id, kind, mime, byte_size, etag, sha256, md5, pdq,
      pdq_quality, check_name, list, status, appeal, created_at)
    select md5('blocked ' || n)::uuid, ${userId('n')}, 'thread', 't', 'image', 'image/png', 1, '"1"', md5('s' || n), md5('m' || n), '', 0,
      'digests', (array['sha256', 'md5', 'pdq'])[1 + n % 3], (array['open', 'upheld', 'cleared', 'upheld'])[1 + n % 4],
      case when n % 50 = 0 then 'It is mine.' end, now() - n * interval '1 minute'
    from ${people}`.execute(db);
  await sql`insert into notify_sends (id, endpoint, body_digest, status, claimed_until, created_at, subject, recipients, addresses)
    select md5('mail ' || n)::uuid, 'emails', 'd', 'sent', now(), now() - n * interval '1 s', 'Welcome',
      jsonb_build_array('person-' || n || '@example.com'), array['person-' || n || '@example.com']
    from ${people}`.execute(db);
  await sql`insert into suppressed_addresses (address, reason)
    select 'gone-' || n || '@example.com', 'no mailbox' from ${people}`.execute(db);
  await sql`insert into operator_actions (actor, action, target, outcome)
    select case when n % 100 = 0 then 'chief@example.com' else 'console' end,
      (array['retry job', 'POST /v1/people/:userId/credits', 'discard dead jobs'])[1 + n % 3],
      'sha256 ' || n || ' ' || encode(sha256(convert_to(n || ' ' || ${userId('n')}, 'UTF8')), 'hex'), 'done'
    from ${people}`.execute(db);
  // Copies of the one memory that the service wrote.
  await sql`insert into memory_entities (entity_type, entity_id, memory_count)
    select 'user', ${userId('n')}::text, 1 from ${people} where n <> ${shownPerson}`.execute(db);
  await sql`insert into memories (entity_type, entity_id, type, content, content_hash, metadata, embedder, version, embedding)
    select 'user', ${userId('n')}::text, type, content, content_hash, metadata, embedder, version, embedding
    from (select * from memories limit 1) as written, ${people} where n <> ${shownPerson}`.execute(db);
}

async function plantSums(db: Db): Promise<void> {
  // As many rows as there are with 5 models and 7 plans.
  await sql`insert into agent_usage_totals (day, model, plan, slot, runs, credits)
    select current_date - d, 'model ' || m, 'plan ' || p, s, 1, 1
    from generate_series(0, 89) d, generate_series(1, 5) m, generate_series(1, 7) p, generate_series(0, 15) s`.execute(
    db,
  );
}
