/** The pages of operators: whether their calls stay fast with a million jobs and assets, and 100,000 people. */
import { createHash, randomUUID } from 'node:crypto';
import { openPostgres } from '../src/platform/db/postgres.ts';
import { createLog } from '../src/platform/log.ts';
import { openDesk } from '../test/console/desk.fixture.ts';
import { startConsole } from '../test/console/rig.fixture.ts';
import { createPostgresDatabase } from '../test/database.fixture.ts';
import { atMost, type Bench, median } from './bench.ts';
import { emailOf, plantRows, shownPerson } from './operatorrows.ts';

const rounds = 20;
const largestMs = 300;

/** Many people have this beginning, and one the whole. */
const common = 'person-';
const id = createHash('md5')
  .update(`user ${shownPerson}`)
  .digest('hex')
  .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5');

const calls = [
  ['the overview', '/api/overview'],
  ['the queues', '/api/queues'],
  ['dead jobs', '/api/jobs?queue=bench/dead&state=dead'],
  ['waiting jobs', '/api/jobs?queue=bench/waiting&state=waiting'],
  ['deliveries', '/api/webhooks'],
  ['dead deliveries', '/api/webhooks?status=dead'],
  ['the last hour', '/api/history'],
  ['usage of 90 days', `/api/usage/totals?from=${dayBefore(89)}&to=${dayBefore(0)}`],
  ['users by credits', `/api/usage/users?month=${dayBefore(0).slice(0, 7)}`],
  ['the newest people', '/api/people'],
  ['people by a common prefix', `/api/people?q=${common}`],
  ['a person by address', `/api/people?q=${emailOf(shownPerson)}`],
  ['a person by id', `/api/people?q=${id}`],
  ['the page of a person', `/api/people/${id}`],
  ['incidents', '/api/incidents?status=open'],
  ['appealed incidents of a list', '/api/incidents?status=open&appealed=true&list=pdq'],
  ['sent mails', '/api/notify/emails'],
  ['suppressed addresses', '/api/notify/suppressions'],
  ['the audit log', '/api/actions'],
  ['the audit log of an operator', '/api/actions?actor=chief@example.com'],
  ['the audit log of a person', `/api/actions?userId=${id}`],
  ['memories', '/api/memory/memories'],
  ['profiles', '/api/memory/profiles'],
] as const;

function dayBefore(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

export const operators: Bench = {
  async *run() {
    const few = await open(10_000);
    const many = await open(Number(process.env.OPERATORS_ROWS ?? 1_000_000));
    try {
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
        const goal = `${name}, with 1,000,000 jobs and assets: milliseconds`;
        yield atMost(largestMs, { goal, measured: amongMany, against: 'the limit for a page' });
        // Below this, the time of HTTP decides.
        const ratio = amongMany / Math.max(5, amongFew);
        yield atMost(10, { goal: `${name}, the ratio`, measured: ratio, against: 'with 10,000' });
      }
    } finally {
      await few.close();
      await many.close();
    }
  },
};

/** All services on PostgreSQL. */
async function open(size: number) {
  const { url, drop } = await createPostgresDatabase();
  const rig = await startConsole({
    DATABASE_URL: url,
    WEBHOOK_URL: 'http://127.0.0.1:9/events',
    WEBHOOK_SECRET: `whsec_${Buffer.from(randomUUID()).toString('base64')}`,
  });
  const desk = await openDesk(rig);
  const memory = { entity_type: 'user', entity_id: id, content: 'I live near the sea', type: 'preference' };
  const added = await desk.internal('memory', 'POST', '/memory/add', memory);
  if (added.status >= 300) throw new Error(`the memory service returned ${added.status}`);
  const log = createLog({ level: 'silent' });
  const database = await openPostgres({ url, poolSize: 1, migrations: [], log, statementTimeoutMs: 0 });
  const since = performance.now();
  await plantRows(database.queries(), size);
  await database.close();
  console.error(`  planted ${size} rows in ${Math.round((performance.now() - since) / 1000)} s`);
  return {
    read: async (path: string) => {
      const { status } = await desk.send('GET', path);
      if (status !== 200) throw new Error(`GET ${path} returned ${status}`);
    },
    close: async () => {
      await rig.close();
      await drop();
    },
  };
}
