/** People over a started suite: found, shown, changed, exported and erased from every service. */
import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PersonDetails } from '#accounts/people/api.ts';
import type { Database } from '#platform/db/db.ts';
import { openPostgres } from '#platform/db/postgres.ts';
import { createLog } from '#platform/log.ts';
import type { Redis } from '#platform/redis/redis.ts';
import { type Desk, openDesk, type Person } from '../../../test/console/desk.fixture.ts';
import { type ConsoleRig, startConsole } from '../../../test/console/rig.fixture.ts';
import { createPostgresDatabase } from '../../../test/database.fixture.ts';
import { picture } from '../../../test/media/pictures.fixture.ts';
import { openTestRedis, redisUrl, skipWithoutRedis } from '../../../test/redis.fixture.ts';
import type { ErasureReport } from './erasing.ts';

interface Part {
  readonly isThere: boolean;
  readonly value?: Record<string, unknown>;
}
type View = { readonly record: PersonDetails } & Readonly<Record<string, Part>>;

const prefix = `test:${randomUUID()}:`;
let rig: ConsoleRig;
let desk: Desk;
let redis: Redis;
let database: Database;
let drop: () => Promise<void>;

describe.skipIf(skipWithoutRedis)('people', () => {
  beforeAll(async () => {
    const created = await createPostgresDatabase();
    ({ drop } = created);
    redis = await openTestRedis({ prefix });
    rig = await startConsole({
      DATABASE_URL: created.url,
      REDIS_URL: redisUrl,
      REDIS_PREFIX: prefix.slice(0, -1),
      // Nothing listens there, so events wait to be delivered.
      WEBHOOK_URL: 'http://127.0.0.1:9/events',
      WEBHOOK_SECRET: `whsec_${Buffer.from(randomUUID()).toString('base64')}`,
    });
    database = await openPostgres({
      url: created.url,
      poolSize: 2,
      migrations: [],
      log: createLog({ level: 'silent' }),
    });
    desk = await openDesk(rig);
  });
  afterAll(async () => {
    await rig.close();
    await database.close();
    await redis.close();
    await drop();
  });

  const view = async ({ id }: Person) => (await desk.send<View>('GET', `/api/people/${id}`)).body;
  const search = async (q: string) => {
    const { body } = await desk.send<{ people: { id: string }[] }>('GET', `/api/people?q=${encodeURIComponent(q)}`);
    return body.people.map(({ id }) => id);
  };
  const changeCredits = (id: string, change: object) => desk.send('POST', `/api/people/${id}/credits`, change);

  describe('are found', () => {
    it('by id, and by the beginning of the address in any case', async () => {
      const start = `find-${randomUUID()}`;
      const person = await desk.person(`${start}_x@example.com`);
      const other = await desk.person(`${start}-x@example.com`);
      expect(await search(person.id.toUpperCase())).toEqual([person.id]);
      expect((await search(start.toUpperCase())).sort()).toEqual([person.id, other.id].sort());
      // `_` and `%` are characters of addresses and no wildcards.
      expect(await search(`${start}_`)).toEqual([person.id]);
      expect(await search(`${start}%`)).toEqual([]);
      expect(await search(randomUUID())).toEqual([]);
    });

    it('page by page, the newest first', async () => {
      const made = [];
      for (let number = 0; number < 3; number++) made.unshift((await desk.person()).id);
      const first = await desk.internal<{ people: { id: string }[]; next_cursor: string }>(
        'auth',
        'GET',
        '/v1/people?limit=2',
      );
      expect(first.body.people.map(({ id }) => id)).toEqual(made.slice(0, 2));
      const { body } = await desk.internal<{ people: { id: string }[] }>(
        'auth',
        'GET',
        `/v1/people?limit=2&cursor=${first.body.next_cursor}`,
      );
      expect(body.people[0]?.id).toBe(made[2]);
      expect((await desk.internal('auth', 'GET', '/v1/people?cursor=x')).status).toBe(400);
    });

    it('by operators alone', async () => {
      const person = await desk.person();
      for (const path of ['/v1/people', `/v1/people/${person.id}`, '/v1/actions'])
        expect([path, (await person.call('auth', 'GET', path)).status]).toEqual([path, 401]);
      expect((await person.call('agent', 'GET', `/people/${person.id}`)).status).toBe(403);
      expect((await person.call('agent', 'DELETE', `/people/${person.id}`)).status).toBe(403);
      expect((await person.call('media', 'DELETE', `/v1/people/${person.id}`)).status).toBe(403);
      const mails = `/people/mails?address=${person.email}`;
      expect((await person.call('notify', 'GET', mails)).status).toBe(401);
    });

    it('as 404 if there is no such user', async () => {
      expect((await desk.send('GET', `/api/people/${randomUUID()}`)).status).toBe(404);
      expect((await desk.send('GET', '/api/people/somebody')).status).toBe(400);
    });
  });

  describe('credits', () => {
    it('change once for each change, with the reason, and are never negative', async () => {
      const person = await desk.person();
      const before = (await view(person)).record.person.credits;
      const change = { changeId: randomUUID(), credits: 20, plan: 'max', reason: 'an apology' };
      const answers = await Promise.all([1, 2, 3].map(() => changeCredits(person.id, change)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      const { record } = await view(person);
      expect(record.person).toMatchObject({ plan: 'max', credits: before + 20 });
      expect(record.changes).toHaveLength(1);
      expect(record.changes[0]).toMatchObject({ actor: 'console', reason: 'an apology', creditsAfter: before + 20 });
      expect(record.actions[0]).toMatchObject({ actor: 'console', outcome: '200' });
      const tooMuch = { changeId: randomUUID(), credits: -before - 21, reason: 'a mistake' };
      expect((await changeCredits(person.id, tooMuch)).status).toBe(409);
      const other = await desk.person();
      expect((await changeCredits(other.id, change)).status).toBe(400);
    });

    it.each([
      ['no reason', { credits: 1, reason: ' ' }],
      ['no change', { credits: 0, reason: 'why' }],
      ['an unknown plan', { plan: 'gold', reason: 'why' }],
      ['a long reason', { credits: 1, reason: 'x'.repeat(501) }],
    ])('with %s are 400', async (_case, change) => {
      const { id } = await desk.person();
      expect((await changeCredits(id, { changeId: randomUUID(), ...change })).status).toBe(400);
    });
  });

  it('are erased from every service, and nothing names them afterwards', async () => {
    const person = await desk.person();
    const { threadId } = await leaveTraces(person);
    const shown = await view(person);
    expect(shown.threads?.value).toMatchObject({ threads: [{ threadId }] });
    expect(shown.assets?.value?.assets).not.toEqual([]);
    expect(shown.memories?.value?.memories).not.toEqual([]);
    expect(shown.mails?.value).toMatchObject({ mails: [{ subject: 'Hello' }] });
    expect(await traces(person)).not.toEqual([]);

    const exported = await desk.send<Record<string, unknown>>('POST', `/api/people/${person.id}/export`);
    expect(exported.headers.get('content-disposition')).toBe(`attachment; filename="${person.id}.json"`);
    expect(exported.body).toMatchObject({
      record: { person: { email: person.email } },
      threads: [{ threadId, messages: [{ role: 'user' }, { role: 'assistant' }] }],
      assets: [expect.objectContaining({ url: expect.stringContaining('http') }), expect.anything()],
      memory: { memories: expect.any(Array) },
      mails: { mails: [{ subject: 'Hello' }] },
    });

    const erase = async () =>
      (await desk.send<ErasureReport>('POST', `/api/people/${person.id}/erasure`, { confirm: true })).body;
    expect((await desk.send('POST', `/api/people/${person.id}/erasure`, {})).status).toBe(400);
    const report = await erase();
    expect(report.steps.map(({ service, status, message }) => [service, status, message])).toEqual(
      ['agent', 'media', 'memory', 'notify', 'auth'].map((service) => [service, 'done', null]),
    );
    expect(report.provider).toBe('removed');
    const of = (service: string) => report.steps.find((step) => step.service === service)?.removed;
    expect(of('agent')).toMatchObject({ threads: 1 });
    expect(of('notify')).toMatchObject({ mails: 1, files: 1 });
    expect(of('auth')).toMatchObject({ profiles: 1, referrals: 1 });
    expect((await desk.send('GET', `/api/people/${person.id}`)).status).toBe(404);
    // What a late process may have written is cleared by a job, which is due later.
    await sql`update jobs set run_at = now() where status = 'waiting'`.execute(database.queries());
    const finish = async () => (await erase()).pendingJobs;
    await expect.poll(finish, { timeout: 30_000 }).toBe(0);
    expect((await erase()).isComplete).toBe(true);
    expect(await traces(person)).toEqual([]);
    const { body } = await desk.send<{ actions: { action: string; target: string }[] }>('GET', '/api/actions');
    expect(body.actions.find(({ action }) => action === 'DELETE /v1/people/:userId')?.target).toMatch(/^sha256 /);
  }, 120_000);

  it('whose erasure a service interrupts are still found, and a repetition finishes', async () => {
    const person = await desk.person();
    const { status } = await desk.internal('notify', 'POST', '/emails', mailTo(person));
    expect(status).toBe(200);
    await sql`alter table notify_events rename to notify_events_away`.execute(database.queries());
    const erase = async () =>
      (await desk.send<ErasureReport>('POST', `/api/people/${person.id}/erasure`, { confirm: true })).body;
    const interrupted = await erase();
    await sql`alter table notify_events_away rename to notify_events`.execute(database.queries());
    expect(interrupted.isComplete).toBe(false);
    expect(interrupted.steps.map(({ status: state }) => state)).toEqual(['done', 'done', 'done', 'failed', 'waiting']);
    expect(await search(person.email)).toEqual([person.id]);
    expect((await erase()).isComplete).toBe(true);
    expect(await search(person.email)).toEqual([]);
  }, 120_000);

  const mailTo = ({ email, id }: Person) => ({
    from: 'Atelier <hello@example.com>',
    to: [`A Person <${email}>`],
    subject: 'Hello',
    text: `For ${id}`,
    tags: [{ name: 'user', value: id }],
  });

  async function leaveTraces(person: Person): Promise<{ threadId: string }> {
    const threadId = `thread-${randomUUID()}`;
    const png = await picture('png');
    const place = { assetId: randomUUID(), scopeKind: 'thread', scopeId: person.id, kind: 'image', mime: 'image/png' };
    for (const asset of [place, { ...place, assetId: randomUUID() }]) {
      const { body } = await person.call<{ uploadUrl: string }>('media', 'POST', '/v1/uploads', asset);
      const headers = { 'content-type': 'image/png' };
      const put = await fetch(body.uploadUrl, { method: 'PUT', body: new Uint8Array(png), headers });
      expect(put.ok).toBe(true);
      // The other one stays an upload that is not registered.
      if (asset === place) expect((await person.call('media', 'POST', '/v1/assets', asset)).status).toBe(201);
    }
    const text = `Remember that I like bees and make an image. I am ${person.email}.`;
    const message = { role: 'user', parts: [{ type: 'text', text }] };
    const started = await person.call<{ taskId: string }>('agent', 'POST', '/task', { threadId, message });
    expect(started.status).toBe(201);
    const state = async () => (await person.call('agent', 'GET', `/task/${started.body.taskId}`)).body.status;
    await expect.poll(state, { timeout: 60_000 }).toBe('completed');
    await person.call('media', 'POST', '/v1/sign/image', { refs: [place.assetId] });
    const memory = { entity_id: person.id, entity_type: 'user', content: 'I live near the sea', type: 'preference' };
    expect((await person.call('memory', 'POST', '/memory/add', memory)).status).toBeLessThan(300);
    expect((await desk.internal('notify', 'POST', '/emails', mailTo(person))).status).toBe(200);
    const other = await desk.person();
    await sql`insert into referrals (inviter_id, invitee_id) values (${other.id}, ${person.id})`.execute(
      database.queries(),
    );
    await sql`insert into user_settings (user_id) values (${person.id})`.execute(database.queries());
    await sql`insert into suppressed_addresses (address, reason) values (${person.email}, 'no mailbox')`.execute(
      database.queries(),
    );
    await writeFile(join(rig.dataDir, 'outbox', 'another.eml'), 'To: nobody@example.com\r\n\r\nHello');
    return { threadId };
  }

  /** Everything that names the person: rows, keys and values of Redis, names and contents of files. */
  async function traces({ id, email }: Person): Promise<readonly string[]> {
    const names = (text: string) => text.toLowerCase().includes(id) || text.toLowerCase().includes(email);
    return [...(await rowsThat(names)), ...(await keysThat(names)), ...(await filesThat(names))];
  }

  async function rowsThat(names: (text: string) => boolean): Promise<readonly string[]> {
    const db = database.queries();
    const { rows: tables } = await sql<{ name: string }>`
      select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'
    `.execute(db);
    const found: string[] = [];
    for (const { name } of tables) {
      const { rows } = await sql<{
        text: string;
      }>`select row_to_json(t)::text as text from ${sql.table(name)} as t`.execute(db);
      found.push(...rows.filter(({ text }) => names(text)).map(({ text }) => `${name}: ${text.slice(0, 300)}`));
    }
    return found;
  }

  async function keysThat(names: (text: string) => boolean): Promise<readonly string[]> {
    const found: string[] = [];
    await redis.run(async (client) => {
      for await (const keys of client.scanIterator({ MATCH: `${prefix}*`, COUNT: 1000 }))
        for (const key of keys) {
          const dumped = await client.sendCommand(['DUMP', key]);
          if (names(key) || names(String(dumped))) found.push(`redis: ${key}`);
        }
    }, 10_000);
    return found;
  }

  async function filesThat(names: (text: string) => boolean): Promise<readonly string[]> {
    const entries = await readdir(rig.dataDir, { recursive: true, withFileTypes: true });
    const found: string[] = [];
    for (const entry of entries) {
      const path = join(entry.parentPath, entry.name);
      const text = entry.isFile() ? await readFile(path, 'latin1') : '';
      if (names(path) || names(text)) found.push(`file: ${path}`);
    }
    return found;
  }
});
