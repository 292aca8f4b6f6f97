/** The Content page of operators (docs/content.md#the-local-cms). */
import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditOf } from '#platform/audit/audit.ts';
import type { Database } from '#platform/db/db.ts';
import type { JobTables } from '#platform/jobs/jobs.ts';
import { type ConsoleServer, startConsoleServer } from '../../test/console/server.fixture.ts';
import { openTestDatabase } from '../../test/database.fixture.ts';
import type { ContentSource } from './content.ts';

describe('the Content page', () => {
  let database: Database;
  let folder: string;
  let server: ConsoleServer;
  beforeAll(async () => {
    database = await openTestDatabase();
    folder = await mkdtemp(join(tmpdir(), 'content-'));
    server = await startConsoleServer(database, { cms: { folder } });
  });
  afterAll(async () => {
    await server.close();
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });
  const read = () => server.read<ContentSource>('/api/content');
  const path = '/api/content/announcements';
  const recorded = () =>
    auditOf(database.queries<JobTables>())
      .selectFrom('operator_actions')
      .select(['actor', 'action', 'target', 'outcome'])
      .where('target', 'like', 'content announcements %')
      .orderBy('outcome')
      .execute();

  it('reads and changes the documents of the local CMS, and records who did', async () => {
    await writeFile(join(folder, 'announcements.json'), '{ "visible": false, "own": 1 }');
    await utimes(join(folder, 'announcements.json'), 0, 0);
    const { cms, documents } = await read();
    // It is a sample until its first change.
    expect(documents.announcements?.changedAt).toBeNull();
    expect([cms, Object.keys(documents)]).toEqual([null, ['announcements']]);
    const version = String(documents.announcements?.version);
    const content = { visible: true, own: 1, title_en: 'Hello' };
    const changes = await Promise.all([1, 2].map(() => server.send('PUT', path, { version, content })));
    expect(changes.map(({ status }) => status).toSorted()).toEqual([204, 409]);
    expect(JSON.parse(await readFile(join(folder, 'announcements.json'), 'utf8'))).toEqual(content);
    expect((await read()).documents.announcements?.changedAt).toMatch(/^20/);
    const target = 'content announcements showed the announcement “Hello”, and changed its title';
    const action = { actor: 'console', action: 'PUT /api/content/:document', target };
    expect(await recorded()).toEqual(['409', 'begun', 'begun', 'done'].map((outcome) => ({ ...action, outcome })));
  });

  it('leaves a record of a change whose commit fails', async () => {
    const db = database.queries<JobTables>();
    await sql`create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no commit'; end $$`.execute(
      db,
    );
    await sql`create constraint trigger refused after insert on operator_actions deferrable initially deferred
      for each row when (new.outcome = 'done') execute function refuse()`.execute(db);
    const { documents } = await read();
    const change = { version: documents.announcements?.version, content: { visible: false } };
    expect((await server.send('PUT', path, change)).status).toBeGreaterThanOrEqual(500);
    expect(JSON.parse(await readFile(join(folder, 'announcements.json'), 'utf8'))).toEqual(change.content);
    expect((await recorded()).map(({ outcome }) => outcome)).toEqual(['409', 'begun', 'begun', 'begun', 'done']);
    await sql`drop trigger refused on operator_actions`.execute(db);
  });

  it.each([
    ['added the idea “A boat”', [], [{ id: '1', title_en: 'A boat' }]],
    ['removed the idea', [{ id: '1' }, { id: '2' }], [{ id: '2' }]],
    [
      'changed the title, prompt of the idea “A ship”; title: “A boat” to “A ship”',
      [{ id: '1', title_en: 'A boat', title_de: 'Ein Boot' }],
      [{ id: '1', title_en: 'A ship', title_de: 'Ein Schiff', prompt_zh_CN: '船' }],
    ],
    ['changed the order of the ideas', [{ id: '1' }, { id: '2' }], [{ id: '2' }, { id: '1' }]],
  ])('records that it %s', async (words, before, after) => {
    await writeFile(join(folder, 'home-cards-v2.json'), JSON.stringify({ cards: before }));
    const { version } = (await read()).documents['home-cards-v2'] ?? {};
    const change = { version, content: { cards: after } };
    expect((await server.send('PUT', '/api/content/home-cards-v2', change)).status).toBe(204);
    const log = auditOf(database.queries<JobTables>()).selectFrom('operator_actions').select('target');
    const [last] = await log.orderBy('action_id', 'desc').limit(1).execute();
    expect(last?.target).toBe(`content home-cards-v2 ${words}`);
  });

  it.each([
    ['another document', '/api/content/secrets', { visible: true }],
    ['content of no document', path, { title_en: 'Hello' }],
    ['content of another document', '/api/content/trending', { visible: true }],
    ['content of another document too', path, { cards: [] }],
    ['a card that is no object', '/api/content/home-cards-v2', { cards: ['x'] }],
    ['more cards than it compares', '/api/content/home-cards-v2', { cards: Array(501).fill({}) }],
  ])('refuses %s', async (_case, to, content) => {
    expect((await server.send('PUT', to, { version: '', content })).status).toBe(400);
    expect((await server.send('PUT', path, { version: '', content: { visible: true } }, {})).status).toBe(401);
  });

  it.each(['{ "items": ', '{ "visible": true }'])('shows that %s is no document of its file', async (text) => {
    await writeFile(join(folder, 'trending.json'), text);
    expect((await read()).documents.trending).toMatchObject({ content: null });
  });

  it('does not bring a document back whose file is gone', async () => {
    await rm(join(folder, 'trending.json'));
    const change = { version: '', content: { items: [] } };
    expect((await server.send('PUT', '/api/content/trending', change)).status).toBe(409);
  });

  it('names the CMS that owns the content, and changes nothing there', async () => {
    const editUrl = 'https://cms.example.com/{document}';
    const other = await startConsoleServer(database, { cms: { host: 'cms.example.com', editUrl } });
    try {
      expect(await other.read('/api/content')).toEqual({ cms: 'cms.example.com', editUrl, documents: {} });
      const change = { version: '', content: { visible: true } };
      expect((await other.send('PUT', path, change)).status).toBe(404);
    } finally {
      await other.close();
    }
  });
});
