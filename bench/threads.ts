/** `GET /threads`: whether the threads of other people slow down the list and the search of a user. */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { migrations } from '../src/app/migrations.ts';
import { startAgent } from '../test/agent/rig.fixture.ts';
import { databaseEngines } from '../test/database.fixture.ts';
import { embedded } from '../test/media/rig.fixture.ts';
import { atMost, type Bench, median } from './bench.ts';

const rounds = 300;
const warmUpRounds = 50;
const threadsOfUser = 10;

export const threads: Bench = {
  async *run() {
    const few = await open(1000);
    const many = await open(100_000);
    try {
      const compare = async (query: string) => {
        const [amongMany = [], amongFew = []] = await timesOf([many.list, few.list], query);
        console.error(`  ${median(amongMany).toFixed(2)} ms against ${median(amongFew).toFixed(2)} ms`);
        return median(amongMany) / median(amongFew);
      };
      const against = 'among 10,000 threads of 1,000 users';
      yield atMost(1.5, {
        goal: `GET /threads, median of ${rounds}, among 1,000,000 threads of 100,000 users`,
        measured: await compare(''),
        against,
      });
      yield atMost(1.5, { goal: 'the same with a search', measured: await compare('&q=lighthouse+7'), against });
    } finally {
      await Promise.all([few.close(), many.close()]);
    }
  },
};

/** An agent on PostgreSQL, whose users have ten threads each. */
async function open(users: number) {
  const engine = databaseEngines.find(({ name, missing }) => name === 'postgres' && !missing);
  if (engine === undefined) throw new Error('This benchmark needs PostgreSQL at PG_TEST_URL.');
  const rig = await startAgent({ ...embedded, openDatabase: () => engine.open(migrations) });
  const db = rig.media.database.queries();
  // In portions, because a statement is bounded in time.
  for (let from = 1; from <= users; from += 1000) await plant(from, Math.min(users, from + 999));
  await sql`analyze agent_threads, agent_messages`.execute(db);
  await sql`checkpoint`.execute(db);

  async function plant(from: number, to: number): Promise<void> {
    await sql`
      insert into agent_threads (thread_id, owner_id, last_seq, message_count, title, created_at, updated_at)
      select 't-' || owner || '-' || place, md5('user ' || owner)::uuid, 1, 1, 'Thread ' || place,
        now() - interval '1 year', date_trunc('milliseconds', now() - make_interval(secs => (owner * 7919 + place * 104729) % 30000000))
      from generate_series(${from}::integer, ${to}::integer) as owner, generate_series(1, ${threadsOfUser}::integer) as place`.execute(
      db,
    );
    await sql`
      insert into agent_messages (thread_id, id, resource_id, role, parts, metadata, seq, search_text)
      select 't-' || owner || '-' || place, 'm1', md5('user ' || owner)::uuid, 'user', '[]', '{}', 1,
        'we talked about lighthouse ' || place || ' and other things near the sea'
      from generate_series(${from}::integer, ${to}::integer) as owner, generate_series(1, ${threadsOfUser}::integer) as place`.execute(
      db,
    );
  }

  async function list(place: number, query: string): Promise<void> {
    const user = uuidOf(`user ${1 + ((place * 7919) % users)}`);
    const { status, body } = await rig.server.call<{ threads: unknown[] }>('GET', `/threads?userId=${user}${query}`);
    if (status !== 200 || body.threads.length === 0) throw new Error(`GET /threads returned ${status}`);
  }
  return { list, close: () => rig.close() };
}

/** As `md5(…)::uuid` of PostgreSQL. */
function uuidOf(text: string): string {
  const hex = createHash('md5').update(text).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Milliseconds of each, taken in turns. */
async function timesOf(
  lists: readonly ((place: number, query: string) => Promise<void>)[],
  query: string,
): Promise<number[][]> {
  const times: number[][] = lists.map(() => []);
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    for (const [index, list] of lists.entries()) {
      const since = performance.now();
      await list(round + warmUpRounds, query);
      if (round >= 0) times[index]?.push(performance.now() - since);
    }
  }
  return times;
}
