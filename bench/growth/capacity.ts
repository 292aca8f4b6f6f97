/**
 * `npm run measure -- capacity`: what a process with all services spends on one call of each kind, on PostgreSQL and Redis, and how
 * many such calls a second that makes for one processor; and what it takes in memory. For docs/capacity.md.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../test/acceptance/running.fixture.ts';
import { createPostgresDatabase } from '../../test/database.fixture.ts';
import { startTestIssuer, testUserId } from '../../test/platform/tokenissuer.fixture.ts';
import { freePortBase } from '../../test/ports.fixture.ts';
import { startRedisServer } from '../../test/redis.fixture.ts';
import { startSuite } from '../../test/soak/suites.ts';
import { createEndpoints } from './endpoints.ts';

const internalKey = 'a key of the benchmark';
const warmUpCalls = 60;
const measuredCalls = 300;
const atOnce = 8;

interface Kind {
  prepare?(): Promise<string>;
  call(made: string): Promise<unknown>;
}

const closing: (() => Promise<unknown>)[] = [];
try {
  const issuer = await startTestIssuer();
  closing.push(issuer.close);
  const [database, redis] = [await createPostgresDatabase(), await startRedisServer()];
  closing.push(database.drop, redis.close);
  const folder = await mkdtemp(join(tmpdir(), 'atelier-capacity-'));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  const portBase = await freePortBase();
  const env = {
    ATELIER_DATA_DIR: folder,
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    JWKS_URL: issuer.jwksUrl,
    INTERNAL_KEY: internalKey,
    ATELIER_PORT_BASE: String(portBase),
  };
  const services = ['media', 'image', 'auth', 'agent', 'memory', 'content', 'notify', 'edge', 'cms'];
  const suite = await startSuite(services, portBase, env);
  closing.push(suite.stop);
  await run('credits', [testUserId, 'pro', '1000000'], env).ended(60_000);
  const idleBytes = suite.residentBytes() ?? 0;
  const at = (offset: number) => `http://127.0.0.1:${portBase + offset}`;
  const token = await issuer.token({ sub: testUserId });
  const media = createEndpoints(at(1), { userId: testUserId, token, internalKey }, []);
  const own: string[] = [];
  const seed = media['POST /v1/assets, replayed'];
  for (let count = 0; count < 200; count++) own.push(String(await seed?.prepare?.()));

  const table = [];
  for (const [name, kind] of Object.entries(kinds(at, token, own))) table.push(await measure(name, kind, suite.cpuMs));
  console.table(table);
  const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
  console.log(`Memory: ${mebibytes(idleBytes)} when idle, ${mebibytes(suite.residentBytes() ?? 0)} after all that.`);
  console.log(
    `By processor time, which other work on the machine lengthens a little; load ${(loadavg()[0] ?? 0).toFixed(1)}.`,
  );
} finally {
  for (const close of closing.reverse()) await close();
}

function kinds(at: (offset: number) => string, token: string, own: readonly string[]): Readonly<Record<string, Kind>> {
  const media = createEndpoints(at(1), { userId: testUserId, token, internalKey }, own);
  const user = { authorization: `Bearer ${token}` };
  const server = { 'x-internal-key': internalKey };
  const post = (url: string, headers: Readonly<Record<string, string>>, body: unknown) =>
    read(
      fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    );
  const entity = { entity_id: testUserId, entity_type: 'user' };
  const mail = { from: 'a@example.com', to: 'b@example.com', subject: 'Hello', text: 'Hello' };
  const named = (name: string): Kind => media[name] ?? { call: () => Promise.reject(new Error(`there is no ${name}`)) };
  return {
    'reserve an upload': named('POST /v1/uploads'),
    'register a small image': named('POST /v1/assets'),
    'sign 200 refs': named('POST /v1/sign/image, 200 refs'),
    'copy an asset': named('POST /v1/copy'),
    'delete an asset': named('DELETE /v1/assets'),
    'add a memory': {
      call: () =>
        post(`${at(5)}/memory/add`, user, {
          ...entity,
          type: 'episodic',
          content: `The word of ${randomUUID()} is ${randomBytes(5).toString('hex')}`,
        }),
    },
    'inject memories': { call: () => post(`${at(5)}/inject`, user, { ...entity, query: 'Which word is it?' }) },
    'a whole run of 2,000 chunks, with its stream': {
      call: async () => {
        const { taskId } = await post(`${at(4)}/task`, user, { threadId: randomUUID(), text: '/long 2000' });
        await (await fetch(`${at(4)}/stream/${taskId}`, { headers: user })).text();
      },
    },
    'read an announcement': { call: () => read(fetch(`${at(6)}/op/announcement`)) },
    'send a mail': { call: () => post(`${at(7)}/emails`, server, mail) },
  };
}

async function read(answering: Promise<Response>): Promise<Record<string, unknown>> {
  const answer = await answering;
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.url} was answered ${answer.status}: ${text}`);
  return JSON.parse(text);
}

async function measure(name: string, { prepare, call }: Kind, cpuMs: () => number) {
  const doAll = async (count: number, made: readonly string[]) => {
    let next = 0;
    const work = async () => {
      while (next < count) await call(made[next++] ?? '');
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  };
  const madeFor = async (count: number) => {
    const made: string[] = [];
    if (prepare) while (made.length < count) made.push(await prepare());
    return made;
  };
  await doAll(warmUpCalls, await madeFor(warmUpCalls));
  const made = await madeFor(measuredCalls);
  const before = cpuMs();
  await doAll(measuredCalls, made);
  const each = (cpuMs() - before) / measuredCalls;
  return { call: name, cpu_ms: Number(each.toFixed(2)), a_second_per_processor: Math.round(1000 / each) };
}
