/**
 * docs/specification/system.md#engines: the steps of `npm run demo` on every combination of engines, with as many processes as each
 * allows, and with a process for each service. The tests use only URLs and exit codes, and then check what the engines contain.
 */
import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { createClient } from '@redis/client';
import pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '#platform/clock.ts';
import { openS3Store } from '#platform/objects/s3/s3.ts';
import { createPostgresDatabase, databaseEngines } from '../database.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import {
  type PgServerVersion,
  pgServerVersions,
  skipWithoutPgServers,
  startPgServer,
} from '../platform/db/pgserver.fixture.ts';
import { listed } from '../platform/objects/objects.fixture.ts';
import { dropBucket, skipWithoutS3, testServer } from '../platform/objects/s3.fixture.ts';
import { freePortBase } from '../ports.fixture.ts';
import { skipWithoutRedis, startRedisServer } from '../redis.fixture.ts';
import { newPlace, run } from './running.fixture.ts';

/** Each test starts at least one suite on a machine that may be busy. */
const limitMs = 300_000;
vi.setConfig({ maxConcurrency: 3, testTimeout: limitMs });

type Env = Readonly<Record<string, string>>;
interface Engine {
  readonly env: Env;
  /** Throws unless the steps left data in this engine. */
  readonly check: () => Promise<void>;
  readonly close: () => Promise<unknown>;
}
const valkeyProgram = process.env.VALKEY_TEST_PROGRAM ?? '';
const otherVersions = pgServerVersions.map((version) => ({ version, name: `postgres ${version}` }));
const open: Readonly<Record<string, () => Promise<Engine>>> = {
  postgres,
  redis: () => redis('redis-server'),
  s3,
  valkey: () => redis(valkeyProgram),
  ...Object.fromEntries(otherVersions.map(({ version, name }) => [name, () => postgresOf(version)])),
};
const missing: Readonly<Record<string, boolean>> = {
  postgres: databaseEngines.some(({ name, missing }) => name === 'postgres' && missing),
  redis: skipWithoutRedis,
  s3: skipWithoutS3,
  valkey: valkeyProgram === '',
  ...Object.fromEntries(otherVersions.map(({ name }) => [name, skipWithoutPgServers])),
};

const parts = [['media'], ['image'], ['auth'], ['agent'], ['memory'], ['content'], ['notify'], ['edge', 'idp', 'cms']];
/** Engines in addition to the embedded ones, and the services of each process. */
type Combination = readonly [string, readonly string[], readonly (readonly string[])[]];
const inEveryLane: readonly Combination[] = [['two processes of all services', ['postgres', 'redis', 's3'], [[], []]]];
const atNight: readonly Combination[] = [
  ['one process', [], [[]]],
  ['one process', ['s3'], [[]]],
  ['one process', ['redis'], [[]]],
  ['one process', ['redis', 's3'], [[]]],
  ['one process', ['postgres'], [[]]],
  ['a process for each service', ['postgres', 'redis'], parts],
  ['a process for each service', ['postgres', 's3'], parts],
  ['two processes of all services', ['postgres', 'valkey'], [[], []]],
  ...otherVersions.map(({ name }): Combination => ['one process', [name], [[]]]),
];

describe.concurrent('npm run demo', () => {
  for (const [processes, engines, services] of isNightly ? [...inEveryLane, ...atNight] : inEveryLane)
    it.skipIf(engines.some((engine) => missing[engine]))(
      `${processes} on ${engines.join(', ') || 'the embedded engines'}`,
      () => journey(engines, services),
    );
});

async function journey(names: readonly string[], services: readonly (readonly string[])[]): Promise<void> {
  const place = await newPlace();
  const closers: (() => Promise<unknown>)[] = [place.remove];
  try {
    const engines = await Promise.all(names.map((name) => open[name]?.()));
    closers.push(...engines.flatMap((engine) => engine?.close ?? []));
    const env = Object.assign({ LOG_LEVEL: 'error' }, place.env, ...engines.map((engine) => engine?.env));
    const isDoubled = services.length > 1 && services.every((named) => named.length === 0);
    const other = isDoubled ? await freePortBase() : place.portBase;
    if (isDoubled) Object.assign(env, crossing(place.portBase, other));
    const start = async (named: readonly string[], portBase: number) => {
      const program = run('start', named, { ...env, ATELIER_PORT_BASE: String(portBase) });
      closers.push(async () => program.child.kill('SIGKILL'));
      await program.waitFor('Atelier is ready', limitMs);
      return program;
    };
    // The first process generates the secrets and migrates. The others then start at the same time.
    const [first = [], ...rest] = services;
    const programs = [await start(first, place.portBase)];
    programs.push(...(await Promise.all(rest.map((named) => start(named, other)))));

    const demo = run('demo', [], env);
    expect(await demo.ended(limitMs), demo.output()).toBe(0);
    for (const step of ['Thumbnail', 'Poster', 'Watermark', 'Recall', 'Image', 'Generated', 'Filmed', 'Notify'])
      expect(demo.output()).toMatch(new RegExp(`^${step} `, 'm'));
    expect(demo.output()).not.toContain('Skipped');

    for (const engine of engines) await engine?.check();
    const written = await readdir(place.dataDir);
    expect(written.includes('objects')).toBe(!names.includes('s3'));
    expect(written.includes('database')).toBe(!names.some((name) => name.startsWith('postgres')));
    for (const { child } of programs) child.kill('SIGTERM');
    expect(await Promise.all(programs.map((program) => program.ended(60_000)))).toEqual(programs.map(() => 0));
    expect(programs.map((program) => program.output()).join('')).not.toContain('"level":"error"');
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** Two processes of all services. Each call from one service to another goes to the other process. */
function crossing(one: number, other: number): Env {
  const at = (portBase: number, offset: number) => `http://localhost:${portBase + offset}`;
  return {
    MEDIA_URL: at(one, 1),
    IMAGE_URL: at(other, 2),
    AUTH_URL: at(one, 3),
    AGENT_URL: at(other, 4),
    MEMORY_URL: at(one, 5),
    NOTIFY_URL: at(other, 7),
    EDGE_URL: at(other, 10),
    IDP_URL: at(other, 11),
    CMS_URL: at(one, 12),
  };
}

async function postgres(): Promise<Engine> {
  const { url, drop } = await createPostgresDatabase();
  return databaseAt(url, drop);
}

async function postgresOf(version: PgServerVersion): Promise<Engine> {
  const server = await startPgServer(version);
  return databaseAt(await server.createDatabase(), server.close);
}

function databaseAt(url: string, close: () => Promise<unknown>): Engine {
  return {
    env: { DATABASE_URL: url },
    check: async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const { rows } = await client.query('select count(*)::int as assets from assets');
      await client.end();
      expect(rows[0].assets).toBeGreaterThan(3);
    },
    close,
  };
}

async function redis(program: string): Promise<Engine> {
  const server = await startRedisServer(undefined, program);
  return {
    env: { REDIS_URL: server.url },
    check: async () => {
      const client = createClient({ url: server.url });
      await client.connect();
      const keys = await client.dbSize();
      client.destroy();
      expect(keys).toBeGreaterThan(0);
    },
    close: server.close,
  };
}

async function s3(): Promise<Engine> {
  const [bucket, publicBucket] = [`test-${randomUUID()}`, `test-${randomUUID()}`];
  const store = openS3Store({ ...testServer, clock: systemClock });
  return {
    env: {
      S3_ENDPOINT: testServer.endpoint,
      S3_REGION: testServer.region,
      S3_BUCKET: bucket,
      S3_PUBLIC_BUCKET: publicBucket,
      S3_ACCESS_KEY_ID: testServer.accessKeyId,
      S3_SECRET_ACCESS_KEY: testServer.secretAccessKey,
    },
    check: async () => {
      for (const name of [bucket, publicBucket])
        expect((await listed(store.bucket(name), '')).length).toBeGreaterThan(0);
    },
    close: async () => {
      await Promise.all([bucket, publicBucket].map(dropBucket));
      await store.close();
    },
  };
}
