/** The pages of operators: whether their calls stay fast with a million jobs and a million rows of usage. */
import { sql } from 'kysely';
import { migrations } from '../src/app/migrations.ts';
import { startAgent } from '../test/agent/rig.fixture.ts';
import { internalAt, startConsoleServer } from '../test/console/server.fixture.ts';
import { databaseEngines } from '../test/database.fixture.ts';
import { embedded } from '../test/media/rig.fixture.ts';
import { atMost, type Bench, median, type Row } from './bench.ts';

const rounds = 30;
const largestMs = 300;

const calls = [
  ['the queues', '/api/queues'],
  ['dead jobs', '/api/jobs?queue=bench/dead&state=dead'],
  ['waiting jobs', '/api/jobs?queue=bench/waiting&state=waiting'],
  ['deliveries', '/api/webhooks'],
  ['dead deliveries', '/api/webhooks?status=dead'],
  ['the last hour', '/api/history?range=hour'],
  ['the last day', '/api/history?range=day'],
  ['usage of 90 days', `/api/usage/totals?from=${dayBefore(89)}&to=${dayBefore(0)}`],
  ['users by credits', `/api/usage/users?month=${dayBefore(0).slice(0, 7)}`],
] as const;

function dayBefore(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

export const operators: Bench = {
  name: 'operators',
  run: async () => {
    const few = await open(10_000);
    const many = await open(1_000_000);
    try {
      const rows: Row[] = [];
      for (const [name, path] of calls) {
        const times: [number[], number[]] = [[], []];
        for (let round = -5; round < rounds; round += 1) {
          for (const [index, read] of [many.read, few.read].entries()) {
            const since = performance.now();
            await read(path);
            if (round >= 0) times[index]?.push(performance.now() - since);
          }
        }
        const [amongMany, amongFew] = [median(times[0]), median(times[1])];
        console.error(`  ${name}: ${amongMany.toFixed(1)} ms, ${(amongMany / amongFew).toFixed(1)} × that of 10,000`);
        const goal = `${name}, with 1,000,000 jobs and rows of usage: milliseconds`;
        rows.push(atMost(largestMs, { goal, measured: amongMany, against: 'the limit for a page' }));
        // Below this, the time of HTTP decides.
        const ratio = amongMany / Math.max(5, amongFew);
        rows.push(atMost(10, { goal: `${name}, the ratio`, measured: ratio, against: 'with 10,000' }));
      }
      return rows;
    } finally {
      await few.close();
      await many.close();
    }
  },
};

/** A console with an agent, on PostgreSQL. */
async function open(size: number) {
  const engine = databaseEngines.find(({ name, missing }) => name === 'postgres' && !missing);
  if (engine === undefined) throw new Error('This benchmark needs PostgreSQL at PG_TEST_URL.');
  const rig = await startAgent({ ...embedded, openDatabase: () => engine.open(migrations) });
  const { database } = rig.media;
  const db = database.queries();
  // Each portion has jobs of all kinds, and usage of ten rows for each user.
  const portion = 5000;
  for (let from = 0; from < size; from += portion) await plant(from, from + portion - 1);
  await sql`insert into console_samples (width_s, starts_at, counts)
    select width, to_timestamp(floor(extract(epoch from now()) / width) * width - n * width),
      (select jsonb_object_agg('service ' || s, jsonb_build_object('checks', 4, 'ready', 4, 'seconds', 60, 'requests', n, 'errors', 1,
        'le 0.005', 1, 'le 0.01', 2, 'le 0.05', 3, 'le 0.1', 4, 'le 1', 5, 'le 10', 6, 'le +Inf', 7, 'engine database', 4))
      from generate_series(1, 25) s)
    from (values (60), (600)) w(width), generate_series(0, 143) n`.execute(db);
  await sql`analyze jobs, agent_usage_totals, agent_usage_months, console_samples`.execute(db);

  async function plant(from: number, to: number): Promise<void> {
    await sql`
      insert into jobs (queue, payload, status, attempt, fence, reason, created_at, run_at, finished_at)
      select (array['bench/waiting', 'bench/dead', 'webhooks/deliver', 'webhooks/deliver', 'bench/done'])[1 + n % 5],
        jsonb_build_object('id', 'msg_' || n, 'publishedAtMs', n, 'body', '{"type":"account.created"}'),
        (array['waiting', 'dead', 'done', 'dead', 'done'])[1 + n % 5], 10, 10,
        'the receiver answered 503', now() - make_interval(secs => n), now() - make_interval(secs => n),
        case when n % 5 = 0 then null else now() - make_interval(secs => n) end
      from generate_series(${from}::integer, ${to}::integer) n`.execute(db);
    await sql`
      insert into agent_usage (user_id, day, model, runs, input_tokens, output_tokens, credits)
      select md5('user ' || n / 10)::uuid, current_date - n % 10, 'model ' || n / 10 % 5, 1, 1000, 300, n % 97
      from generate_series(${from}::integer, ${to}::integer) n`.execute(db);
    await sql`
      insert into agent_usage_months (user_id, month, runs, credits)
      select md5('user ' || n)::uuid, date_trunc('month', now() at time zone 'UTC')::date, 10, n % 9973
      from generate_series(${Math.floor(from / 10)}::integer, ${Math.floor(to / 10)}::integer) n
      on conflict do nothing`.execute(db);
  }
  // As many rows as there are with 5 models and 7 plans.
  await sql`insert into agent_usage_totals (day, model, plan, slot, runs, credits)
    select current_date - d, 'model ' || m, 'plan ' || p, s, 1, 1
    from generate_series(0, 89) d, generate_series(1, 5) m, generate_series(1, 7) p, generate_series(0, 15) s`.execute(
    db,
  );

  const key = rig.server.credential['x-internal-key'] ?? '';
  const clock = { now: () => Date.now() };
  const operator = await startConsoleServer(database, {
    internal: internalAt(key, rig.url),
    deliveries: { db: database.queries(), clock, receiver: 'https://receiver.example' },
  });
  return {
    read: (path: string) => operator.read(path),
    close: async () => {
      await operator.close();
      await rig.close();
    },
  };
}
