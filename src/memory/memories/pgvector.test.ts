/** Memories on servers that have pgvector, in whichever schema and whenever it comes, and on those that do not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrations } from '#app/migrations.ts';
import { collectMigrations } from '#platform/db/migrations.ts';
import { platformMigrations } from '#platform/db/open.ts';
import { openPostgres, probePostgres } from '#platform/db/postgres.ts';
import { createLog } from '#platform/log.ts';
import { newUser, startMemory } from '../../../test/memory/rig.fixture.ts';
import {
  type PgServer,
  pgvectorVersions,
  skipWithoutPgServers,
  startPgServer,
} from '../../../test/platform/db/pgserver.fixture.ts';
import type { SearchResult } from '../api.ts';
import { adoptPgvector } from './pgvectorstore.ts';

const lines: { readonly level: string; readonly msg: string }[] = [];
const log = createLog({
  level: 'info',
  destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
});
const facts = ['I keep bees on the roof', 'My sister sails small boats', 'Grandmother baked rye bread'];

describe.skipIf(skipWithoutPgServers).each(pgvectorVersions)('memories on PostgreSQL %i', (version) => {
  let server: PgServer;
  beforeAll(async () => {
    server = await startPgServer(version);
    await server.run(server.url, 'create role limited login');
  }, 60_000);
  afterAll(() => server?.close());

  const open = async (url: string) =>
    openPostgres({
      url,
      poolSize: 4,
      migrations: await collectMigrations([platformMigrations, ...migrations]),
      whenMigrated: adoptPgvector,
      log,
    });
  const start = async (url: string) => {
    const database = await open(url);
    const rig = await startMemory({ name: 'postgres', missing: false, open: async () => database }, { database });
    return {
      add: async (entity: object) => {
        for (const content of facts) {
          const added = await rig.server.send('POST', '/memory/add', { ...entity, content, type: 'episodic' });
          expect(added.status).toBe(201);
        }
      },
      search: async (entity: object) => {
        const query = { ...entity, query: 'Who bakes bread?' };
        const found = await rig.server.send<SearchResult>('POST', '/memory/search', query);
        expect(found.status).toBe(200);
        return found.body.memories.map(({ content }) => content);
      },
      close: () => rig.close().finally(() => database.close()),
    };
  };
  const typeOf = async (url: string) => {
    const query = `select format_type(atttypid, null) as type from pg_attribute
      where attrelid = 'memories'::regclass and attname = 'embedding'`;
    return (await server.run(url, query))[0];
  };

  it('uses pgvector in a schema that is not on the search path', async () => {
    const url = await server.createDatabase('limited');
    await server.run(
      url,
      'create schema extensions; create extension vector schema extensions; grant usage on schema extensions to limited',
    );
    const memory = await start(url);
    const user = newUser();
    await memory.add(user);
    expect((await memory.search(user))[0]).toBe(facts[2]);
    await memory.close();
    expect(await typeOf(url)).toEqual({ type: 'extensions.vector' });
    expect(await probePostgres(url)).toMatch(/pgvector \S+ in the schema extensions/);
  });

  it('works without pgvector if the role may not create it, logs that, and adopts it later', async () => {
    const url = await server.createDatabase('limited');
    lines.length = 0;
    const before = await start(url);
    const user = newUser();
    await before.add(user);
    const found = await before.search(user);
    await before.close();
    expect(await typeOf(url)).toEqual({ type: 'bytea' });
    expect(lines.filter(({ msg }) => msg.includes('pgvector'))).toEqual([
      expect.objectContaining({
        level: 'info',
        msg: expect.stringMatching(/^pgvector is not used \(permission denied/),
      }),
    ]);
    expect(await probePostgres(url)).toMatch(/pgvector is not used \(this role may not create it/);

    await server.run(
      url,
      'create schema elsewhere; create extension vector schema elsewhere; grant usage on schema elsewhere to limited',
    );
    const after = await start(url);
    expect(await typeOf(url)).toEqual({ type: 'elsewhere.vector' });
    expect(await after.search(user)).toEqual(found);
    await after.add(newUser());
    await after.close();
  });

  it('preserves every bit of a vector in the migration to pgvector', async () => {
    const url = await server.createDatabase();
    const values = [0, 1, -1, 0.1, -0.333333343, 3.4028235e38, 1.1754944e-38, 1e-45, -2.5e-41, 16777217, 123456.789];
    const bytes = Buffer.alloc(values.length * 4);
    for (const [index, value] of values.entries()) bytes.writeFloatLE(value, index * 4);
    await server.run(
      url,
      `create table memories (embedding bytea not null);
      insert into memories values ('\\x${bytes.toString('hex')}'); create extension vector`,
    );
    const database = await openPostgres({ url, poolSize: 1, migrations: [], whenMigrated: adoptPgvector, log });
    await database.close();
    const [row] = await server.run(url, 'select embedding::text as text from memories');
    const kept = JSON.parse((row as { readonly text: string }).text).map(Math.fround);
    expect(kept).toEqual([...new Float32Array(values)]);
  });
});
