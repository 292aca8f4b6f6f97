/**
 * Eight processes, one for each service, under mixed load on PostgreSQL and Redis. The processes, the load, Redis and the connections of
 * PostgreSQL use one processor of the machine, then two, in turns. Linux only, as root and with a local PostgreSQL, because it uses
 * `taskset`.
 *
 * The bench also reads how busy these processors are, and samples what the connections of the services wait for in PostgreSQL.
 */
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import type { AccountTables } from '../src/accounts/store.ts';
import { migrations } from '../src/app/migrations.ts';
import { openDatabase } from '../src/platform/db/open.ts';
import { createLog } from '../src/platform/log.ts';
import { setPlanAndCredits } from '../test/credits.fixture.ts';
import { createPostgresDatabase } from '../test/database.fixture.ts';
import { startTestIssuer } from '../test/platform/tokenissuer.fixture.ts';
import { freePortBase } from '../test/ports.fixture.ts';
import { startRedisServer } from '../test/redis.fixture.ts';
import { type Suite, startSuite } from '../test/soak/suites.ts';
import { atLeast, atMost, type Bench, median, type Row } from './bench.ts';
import { createEndpoints } from './growth/endpoints.ts';

const internalKey = 'a key of the benchmark';
const groups = [['media'], ['image'], ['auth'], ['agent'], ['memory'], ['content', 'cms'], ['notify'], ['edge']];
const rounds = Number(process.env.PROCESSES_ROUNDS ?? 5);
const roundMs = 5000;
/** So many that a processor has work while others wait for the disk. */
const callsAtOnce = 48;
/** So many that calls of one user rarely meet. */
const users = Array.from({ length: 24 }, () => randomUUID());
const assetsOfUser = 20;
const sampleEveryMs = 20;
const execute = promisify(execFile);
const log = createLog({ level: 'silent' });

type Call = () => Promise<unknown>;
const processorSets = ['0', '0,1'] as const;
type Processors = (typeof processorSets)[number];
type Pin = (processors: Processors) => Promise<void>;

export const processes: Bench = {
  run: async () => {
    const closing: (() => Promise<unknown>)[] = [];
    try {
      const [issuer, database, redis] = [
        await startTestIssuer(),
        await createPostgresDatabase(),
        await startRedisServer(),
      ];
      closing.push(issuer.close, database.drop, redis.close);
      const folder = await mkdtemp(join(tmpdir(), 'bench-processes-'));
      closing.push(() => rm(folder, { recursive: true, force: true }));
      const portBase = await freePortBase();
      const env = {
        ATELIER_DATA_DIR: folder,
        ATELIER_PORT_BASE: String(portBase),
        DATABASE_URL: database.url,
        REDIS_URL: redis.url,
        JWKS_URL: issuer.jwksUrl,
        INTERNAL_KEY: internalKey,
      };
      const suites: Suite[] = [];
      for (const services of groups) {
        const suite = await startSuite(services, portBase, env);
        closing.push(suite.stop);
        suites.push(suite);
      }
      const records = await openDatabase({ url: database.url, dataDir: '', migrations, log });
      closing.push(records.close);
      const calls: Call[] = [];
      for (const user of users) {
        await setPlanAndCredits(records.queries<AccountTables>(), user, 'pro', 1_000_000);
        calls.push(...(await mix(portBase, user, await issuer.token({ sub: user }))));
      }
      const pin: Pin = async (processors) => {
        const own = [process.pid, redis.pid(), ...suites.map(({ pid }) => pid())];
        for (const pid of [...own, ...(await backendsOf(database.url))])
          await execute('taskset', ['--all-tasks', '--cpu-list', '--pid', processors, String(pid)]);
      };
      return await measure(calls, pin, database.url);
    } finally {
      for (const close of closing.reverse()) await close();
    }
  },
};

/** The processes of the connections to a database. */
async function backendsOf(url: string): Promise<readonly number[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(
    'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await client.end();
  for (const { pid } of rows)
    if ((await readFile(`/proc/${pid}/comm`, 'utf8')) !== 'postgres\n')
      throw new Error('PostgreSQL must run on this machine');
  return rows.map(({ pid }) => pid);
}

/** Calls of every service that an application uses often. None needs much work from this process. */
async function mix(portBase: number, userId: string, token: string): Promise<readonly Call[]> {
  const at = (offset: number) => `http://127.0.0.1:${portBase + offset}`;
  const own: string[] = [];
  const asServer = { 'x-internal-key': internalKey };
  const media = createEndpoints(at(1), { userId, token, internalKey }, own);
  while (own.length < assetsOfUser) own.push(String(await media['POST /v1/assets, replayed']?.prepare?.()));
  const user = { authorization: `Bearer ${token}` };
  const entity = { entity_id: userId, entity_type: 'user' };
  const memory = () => ({ ...entity, type: 'episodic', content: `The word is ${randomBytes(8).toString('hex')}` });
  const mail = { from: 'a@example.com', to: 'b@example.com', subject: 'Hello', text: 'Hello' };
  const named =
    (name: string): Call =>
    async () =>
      media[name]?.call('');
  const reading = [
    named('POST /v1/sign/image, 200 refs'),
    () => post(`${at(5)}/inject`, user, { ...entity, query: 'Which word is it?' }),
    () => read(`${at(6)}/op/announcement`),
    named('GET /v1/assets'),
  ];
  const writing = [
    named('POST /v1/uploads'),
    () => post(`${at(5)}/memory/add`, user, memory()),
    () => post(`${at(7)}/emails`, asServer, mail),
    async () => {
      const { taskId } = JSON.parse(await post(`${at(4)}/task`, user, { threadId: randomUUID(), text: '/long 100' }));
      await read(`${at(4)}/stream/${taskId}`, { headers: user });
    },
  ];
  return [...reading, ...reading, ...writing];
}

const post = (url: string, headers: Readonly<Record<string, string>>, body: object) =>
  read(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function read(url: string, init?: RequestInit): Promise<string> {
  const response = await fetch(url, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  return text;
}

interface Round {
  readonly calls: number;
  /** Seconds of the processors in use, and the seconds in which they were not idle. */
  readonly seconds: number;
  readonly busySeconds: number;
}

async function measure(calls: readonly Call[], pin: Pin, databaseUrl: string): Promise<Row[]> {
  const measured: Record<Processors, Round>[] = [];
  const waits = await watchWaits(databaseUrl);
  try {
    await load(calls);
    waits.samples.length = 0;
    for (let round = 0; round < rounds; round++) {
      const done: Partial<Record<Processors, Round>> = {};
      for (const processors of round % 2 === 0 ? processorSets : processorSets.toReversed()) {
        await pin(processors);
        const before = await readTimes(processors);
        const ended = await load(calls);
        const after = await readTimes(processors);
        const [seconds, idle] = [after.seconds - before.seconds, after.idleSeconds - before.idleSeconds];
        done[processors] = { calls: ended, seconds, busySeconds: seconds - idle };
      }
      measured.push(done as Record<Processors, Round>);
    }
  } finally {
    await waits.stop();
  }
  const ratioOf = (figure: (round: Round) => number) =>
    median(measured.map((round) => figure(round['0,1']) / figure(round['0'])));
  const busy = (processors: Processors) =>
    median(measured.map(({ [processors]: { busySeconds, seconds } }) => busySeconds / seconds));
  const share = (isCounted: (wait: string) => boolean) => waits.samples.filter(isCounted).length / waits.samples.length;
  const isRowLock = (wait: string) => /^Lock:(transactionid|tuple)$/.test(wait);
  const isLog = (wait: string) => /:WAL/.test(wait);
  const shared = waits.samples.filter((wait) => /^(LW)?Lock:/.test(wait) && !isRowLock(wait) && !isLog(wait));
  const most = Math.max(0, ...Object.values(Object.groupBy(shared, (wait) => wait)).map((one) => one?.length ?? 0));
  const against = 'time of active connections';
  const whole = 'all of their time';
  return [
    atLeast(1.5, {
      goal: 'calls of eight processes on two processors',
      measured: ratioOf((round) => round.calls),
      against: 'on one',
    }),
    // Two busy processors then reach the bound above.
    atLeast(0.75, {
      goal: 'the same, in a second of a busy processor',
      measured: ratioOf((round) => round.calls / round.busySeconds),
      against: 'on one',
    }),
    atLeast(0.9, { goal: 'one processor is busy', measured: busy('0'), against: whole }),
    atLeast(0.9, { goal: 'two processors are busy', measured: busy('0,1'), against: whole }),
    atMost(0.05, { goal: 'waiting for the busiest shared lock', measured: most / waits.samples.length, against }),
    atMost(1, { goal: 'waiting for locks of rows', measured: share(isRowLock), against }),
    atMost(1, { goal: 'waiting for the log of PostgreSQL', measured: share(isLog), against }),
  ];
}

/** Of the whole machine. Time in which a processor waits for the disk counts as idle. */
async function readTimes(processors: Processors) {
  const stat = await readFile('/proc/stat', 'utf8');
  let [ticks, idleTicks] = [0, 0];
  for (const processor of processors.split(',')) {
    const line = new RegExp(`^cpu${processor} (.*)$`, 'm').exec(stat)?.[1] ?? '';
    // The last two are parts of the first two.
    const times = line.split(' ').map(Number).slice(0, 8);
    ticks += times.reduce((sum, time) => sum + time, 0);
    idleTicks += (times[3] ?? 0) + (times[4] ?? 0);
  }
  return { seconds: ticks / 100, idleSeconds: idleTicks / 100 };
}

/** Returns the number of calls that ended within the round. */
async function load(calls: readonly Call[]): Promise<number> {
  const until = performance.now() + roundMs;
  let [next, ended] = [0, 0];
  const work = async () => {
    while (performance.now() < until) {
      await calls[next++ % calls.length]?.();
      if (performance.now() < until) ended += 1;
    }
  };
  await Promise.all(Array.from({ length: callsAtOnce }, work));
  return ended;
}

/** Collects what each active connection waits for, as `LWLock:WALWrite`, or `none` for one that runs. */
async function watchWaits(url: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const samples: string[] = [];
  const stopping = new AbortController();
  const sample = async () => {
    while (!stopping.signal.aborted) {
      const { rows } = await client.query<{ wait: string }>(
        `select coalesce(wait_event_type || ':' || wait_event, 'none') as wait from pg_stat_activity
         where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()
           and wait_event_type is distinct from 'Client'`,
      );
      samples.push(...rows.map(({ wait }) => wait));
      await sleep(sampleEveryMs);
    }
  };
  const sampling = sample();
  const stop = async () => {
    stopping.abort();
    await sampling;
    await client.end();
  };
  return { samples, stop };
}
