/** The guides name only what exists: settings, commands, files. What they apply to PostgreSQL and Redis works on real servers. */
import { randomBytes } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createClient } from '@redis/client';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listMediaModels } from '#agent/generation/catalogue.ts';
import { openCatalogue } from '#agent/generation/opening.ts';
import { openModels } from '#agent/providers/models.ts';
import { readConfig } from '#app/config.ts';
import { migrations } from '#app/migrations.ts';
import { offlineModel } from '#local/model/model.ts';
import { offlineImages, offlineVideos } from '#local/renderer/renderer.ts';
import { openDatabase } from '#platform/db/open.ts';
import { createLog } from '#platform/log.ts';
import { openRedis } from '#platform/redis/open.ts';
import { root } from '../acceptance/running.fixture.ts';
import { createMigratedDatabase, databaseEngines } from '../database.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import { startRedisServer } from '../redis.fixture.ts';
import { testServerUrl as postgresUrl } from '../runner/leftovers.ts';
import { isKnownVariable, withTag } from './blocks.fixture.ts';

const log = createLog({ level: 'silent' });
const skipWithoutPostgres = databaseEngines.find((engine) => engine.name === 'postgres')?.missing;
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const index = 'docs/guides/README.md';
const guides = globSync('docs/guides/*.md', { cwd: root }).filter((path) => path !== index);
describe('the index', () => {
  it('lists each guide once', () => {
    const listed = [...read(index).matchAll(/\]\(([\w-]+\.md)\)/g)].map((match) => String(match[1]));
    expect(listed.sort()).toEqual(guides.map((path) => basename(path)).sort());
  });
});

describe.each(guides)('%s', (path) => {
  const text = read(path);

  it('has the sections Check, Questions and Sources, and states what was not tested', () => {
    const headings = [...text.matchAll(/^## (.+)$/gm)].map((match) => match[1]);
    expect(headings.slice(-3)).toEqual(['Check', 'Questions', 'Sources']);
    expect(text).toMatch(/\*\*(Not tested|Tested):\*\*|not tested/);
    const sources = text.split('\n## Sources')[1] ?? '';
    expect([...sources.matchAll(/^- .*\]\(https:\/\/[^)]+\)/gm)].length).toBeGreaterThan(1);
  });

  it('names settings that exist', () => {
    const code = [...text.matchAll(/^```[\s\S]*?^```$|`[^`\n]+`/gm)].map(([block]) => block).join('\n');
    const names = [...code.matchAll(/(?<![\w-])[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9](?![\w-])/g)].map(([name]) => name);
    expect(names.filter((name) => !isKnownVariable(name))).toEqual([]);
  });

  it('names commands and files that exist', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const commands = [...text.matchAll(/npm run (?:-s )?([a-z][\w:-]*)/g)].map((match) => String(match[1]));
    expect(commands.filter((name) => !(name in scripts))).toEqual([]);
    const own = read('.gitignore').split('\n');
    const files = [...text.matchAll(/(?<![\w/.])(?:file:\/\/)?((?:deploy|src|test|docs|examples)\/[\w./@-]*\w)/g)];
    const named = files
      .map((match) => String(match[1]))
      .filter((file) => !own.includes(file) && !own.includes(`${file}/`));
    expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });
});

describe('the files of models in the pages', () => {
  const files = withTag('json').filter(({ text }) => text.startsWith('['));
  it.each(files)('$page:$line opens models with fallbacks', async ({ text }) => {
    const path = join(await mkdtemp(join(tmpdir(), 'guide-models-')), 'models.json');
    await writeFile(path, text);
    const { model, imageModel, videoModel } = readConfig({ MODELS_FILE: path }, ['agent'], { keepSecrets: false });
    await rm(dirname(path), { recursive: true });
    const readKey = () => 'key';
    const models = await openModels({ settings: model, offline: offlineModel, log, readKey });
    const catalogue = await openCatalogue({
      file: model.file,
      image: imageModel,
      video: videoModel,
      imageCredits: imageModel.credits,
      videoCredits: videoModel.credits,
      videoPlans: videoModel.plans,
      readKey,
      offlineImages,
      offlineVideos,
    });
    const opened = [...models.list('max'), ...listMediaModels(catalogue, 'max')].map(({ id }) => id);
    const named = JSON.parse(text).map(({ id }: { readonly id: string }) => id);
    expect(named.length).toBeGreaterThan(1);
    expect(opened).toEqual(expect.arrayContaining(named));
  });
});

describe.skipIf(skipWithoutPostgres)('the SQL of the guides', () => {
  const name = `guide_${randomBytes(6).toString('hex')}`;
  const [database, supabase] = [name, `${name}_supabase`];
  const [role, supabaseRole] = [`${name}_a`, `${name}_b`];
  const sqlOf = (page: string) =>
    withTag('sql')
      .filter((block) => block.page === `docs/guides/${page}`)
      .flatMap(({ text }) => text.split(';'))
      .filter((statement) => statement.trim() !== '');
  const addressOf = (user: string, password: string, pathname: string) =>
    Object.assign(new URL(postgresUrl), { username: user, password, pathname }).href;
  const { username, password } = new URL(postgresUrl);
  const administrator = (pathname: string) =>
    new pg.Client({ connectionString: addressOf(username, password, pathname) });
  const admin = new pg.Client({ connectionString: postgresUrl });
  beforeAll(() => admin.connect());
  afterAll(async () => {
    for (const each of [database, supabase]) await admin.query(`drop database if exists ${each} with (force)`);
    for (const each of [role, supabaseRole]) await admin.query(`drop role if exists ${each}`);
    await admin.end();
  });

  /** Opens the database as a start does, and returns the schemas of its tables. */
  async function schemasAfterStart(user: string, pathname: string): Promise<readonly string[]> {
    const url = addressOf(user, 'change me', pathname);
    const opened = await openDatabase({ url, dataDir: '', migrations, log });
    await opened.close();
    const client = administrator(pathname);
    await client.connect();
    const { rows } = await client.query<{ readonly schemaname: string }>(
      `select distinct schemaname from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    await client.end();
    return rows.map(({ schemaname }) => schemaname);
  }

  it('creates a database on PostgreSQL that a start can migrate', async () => {
    for (const statement of sqlOf('postgresql.md'))
      await admin.query(
        statement
          .replace('create role atelier', `create role ${role}`)
          .replace('database atelier', `database ${database}`)
          .replace('owner atelier', `owner ${role}`),
      );
    expect(await schemasAfterStart(role, database)).toEqual(['public']);
  });

  const others = withTag('sql').filter(({ page }) => !page.startsWith('docs/guides/'));
  it.each(others)('$page:$line runs', async ({ text }) => {
    const migrated = await createMigratedDatabase(migrations);
    const client = new pg.Client({ connectionString: migrated.url });
    await client.connect();
    // The table of GoTrue.
    await client.query('create schema auth; create table auth.users (email text, raw_app_meta_data jsonb)');
    await expect(client.query(text)).resolves.toBeDefined();
    await client.end();
    await migrated.drop();
  });

  it('keeps all tables on Supabase out of the schema that its Data API publishes', async () => {
    await admin.query(`create database ${supabase}`);
    const client = administrator(supabase);
    await client.connect();
    await client.query('create schema extensions');
    const { rows } = await client.query(`select 1 from pg_available_extensions where name = 'vector'`);
    for (const statement of sqlOf('supabase-database.md'))
      if (rows.length > 0 || !statement.includes('create extension'))
        await client.query(statement.replaceAll(/\batelier\b/g, supabaseRole));
    await client.end();
    expect(await schemasAfterStart(supabaseRole, supabase)).toEqual([supabaseRole]);
  });
});

describe.skipIf(skipWithout('redis-server'))('the user of the guide to Redis', () => {
  it('is enough for a start, and can read no other keys', async () => {
    const server = await startRedisServer();
    try {
      const [command = ''] = /^ACL SETUSER .*$/m.exec(read('docs/guides/redis.md')) ?? [];
      const admin = createClient({ url: server.url });
      await admin.connect();
      await admin.sendCommand(command.split(' '));
      const [options] = withTag('text').filter(({ page }) => page === 'docs/guides/redis.md');
      for (const line of options?.text.trim().split('\n') ?? [])
        await admin.sendCommand(['CONFIG', 'SET', ...line.split(' ')]);
      await admin.set('other', 'secret');
      await admin.close();
      const url = Object.assign(new URL(server.url), { username: 'atelier', password: 'change-me' }).href;
      const redis = await openRedis({ url, prefix: 'atelier:guide:', log });
      expect(await redis.run((client) => client.set('atelier:guide:a', '1'))).toBe('OK');
      await expect(redis.run((client) => client.get('other'))).rejects.toThrow();
      await expect(redis.run((client) => client.sendCommand(['CONFIG', 'GET', 'requirepass']))).rejects.toThrow();
      await redis.close();
    } finally {
      await server.close();
    }
  });
});
