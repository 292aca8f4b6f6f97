/** People over a started suite: found, shown and changed. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ActionPage, ErasureReport, PersonDetails } from '#accounts/people/api.ts';
import type { Database } from '#platform/db/db.ts';
import { openPostgres } from '#platform/db/postgres.ts';
import { createLog } from '#platform/log.ts';
import { type Desk, openDesk, type Person } from '../../../test/console/desk.fixture.ts';
import { type ConsoleRig, startConsole } from '../../../test/console/rig.fixture.ts';
import { mailTo } from '../../../test/console/traces.fixture.ts';
import { createPostgresDatabase, databaseEngines } from '../../../test/database.fixture.ts';

interface Part {
  readonly isThere: boolean;
  readonly value?: Record<string, unknown>;
}
type View = { readonly record: PersonDetails } & Readonly<Record<string, Part>>;

const withoutPostgres = databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);
let rig: ConsoleRig;
let desk: Desk;
let database: Database;
let drop: () => Promise<void>;

describe.skipIf(withoutPostgres)('people', () => {
  beforeAll(async () => {
    const created = await createPostgresDatabase();
    ({ drop } = created);
    rig = await startConsole({ DATABASE_URL: created.url, OPERATOR_READER_EMAILS: 'reader@example.com' });
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
    await drop();
  });

  const view = async ({ id }: Person) => (await desk.send<View>('GET', `/api/people/${id}`)).body;
  const search = async (q: string) => {
    const { body } = await desk.send<{ people: { id: string }[] }>('GET', `/api/people?q=${encodeURIComponent(q)}`);
    return body.people.map(({ id }) => id);
  };
  const changeCredits = (id: string, change: object) => desk.send('POST', `/api/people/${id}/credits`, change);

  it('a view of a file is recorded, and a file that is gone is not', async () => {
    const person = await desk.person();
    const { body } = await person.call<{ id: string }>('agent', 'POST', '/images', { prompt: 'a lighthouse' });
    const made = async () => {
      const path = `/api/generations?id=${body.id}`;
      const { generations } = (await desk.send<{ generations: { assetIds: string[] }[] }>('GET', path)).body;
      return generations[0]?.assetIds[0];
    };
    await expect.poll(made, { timeout: 60_000 }).toBeDefined();
    const file = await desk.send<{ thumbUrl: string; url: string }>('GET', `/api/files/${await made()}`);
    expect((await fetch(file.body.thumbUrl)).headers.get('content-type')).toContain('image/');
    expect((await desk.send('GET', `/api/files/${randomUUID()}`)).status).toBe(404);
    const { actions } = (await desk.send<{ actions: { action: string }[] }>('GET', `/api/actions?userId=${person.id}`))
      .body;
    expect(actions).toMatchObject([
      { actor: 'console', action: `view file ${await made()} order ${body.id}`, outcome: 'done' },
    ]);
  });

  it('every action on content and memories of a user is found by the user', async () => {
    const [person, other] = [await desk.person(), await desk.person()];
    const fact = { entity_type: 'user', entity_id: person.id, type: 'preference', content: 'Likes oil.' };
    const { body: memory } = await desk.send<{ id: string }>('POST', '/api/memory/memories', fact);
    await desk.send('PUT', `/api/memory/memories/${memory.id}`, { content: 'Likes gouache.' });
    await desk.send('DELETE', `/api/memory/memories/${memory.id}`);
    const incidentId = randomUUID();
    await sql`insert into screening_incidents (incident_id, asset_id, owner_id, scope_kind, scope_id, kind, mime, byte_size,
      etag, sha256, md5, pdq, pdq_quality, check_name, list, origin)
      values (${incidentId}, ${randomUUID()}, ${person.id}, 'agent', 'x', 'image', 'image/png', 1, '', '', '', '', 0, 'report', 'report',
      'report')`.execute(database.queries());
    await desk.send('POST', `/api/incidents/${incidentId}/decision`, { decision: 'dismiss', statement: 'It is fine.' });
    const actionsOn = async ({ id }: Person) =>
      (await desk.send<ActionPage>('GET', `/api/actions?userId=${id}`)).body.actions.map(
        ({ action, target, userId }) => [action, target, userId],
      );
    expect(await actionsOn(person)).toEqual([
      ['POST /v1/incidents/:id/decision dismiss', `incident ${incidentId}`, person.id],
      ['DELETE /admin/memories/:id', `memory ${memory.id}`, person.id],
      ['PUT /admin/memories/:id', `memory ${memory.id}`, person.id],
      ['POST /admin/memories', `memory ${memory.id}`, person.id],
    ]);
    expect(await actionsOn(other)).toEqual([]);
  });

  it('the endpoints of all services are listed', async () => {
    const read = async () => (await desk.send<{ endpoints?: object[] }>('GET', '/api/endpoints')).body.endpoints ?? [];
    const expected = { service: 'media', method: 'POST', path: '/v1/sign/image', credential: 'accessToken' };
    const ofNotify = { service: 'notify', credential: 'internalKey' };
    for (const one of [expected, ofNotify])
      await expect.poll(read, { timeout: 30_000 }).toContainEqual(expect.objectContaining(one));
  });

  describe('are found', () => {
    it('by a part of the email address, those that begin with it first', async () => {
      const part = randomUUID().slice(0, 13);
      const inside = await desk.person(`a-${part}@example.com`);
      const newer = await desk.person(`b-${part}@example.com`);
      const first = await desk.person(`${part}@example.com`);
      expect(await search(part.toUpperCase())).toEqual([first.id, newer.id, inside.id]);
      expect(await search(`-${part}@EX`)).toEqual([newer.id, inside.id]);
    });

    it('by id, and by a case-insensitive prefix of the email address', async () => {
      const start = `find-${randomUUID()}`;
      const person = await desk.person(`${start}_x@example.com`);
      const other = await desk.person(`${start}-x@example.com`);
      expect(await search(person.id.toUpperCase())).toEqual([person.id]);
      expect((await search(start.toUpperCase())).sort()).toEqual([person.id, other.id].sort());
      // `_` and `%` are characters of addresses and no wildcards.
      expect(await search(`${start}_`)).toEqual([person.id]);
      expect(await search(`${start}%`)).toEqual([]);
      expect(await search(randomUUID())).toEqual([]);
      const several = async (query: string) => {
        const path = `/api/people?ids=${person.id.toUpperCase()},${other.id}&${query}`;
        return (await desk.send<{ people: { id: string }[] }>('GET', path)).body.people.map(({ id }) => id).sort();
      };
      expect(await several('limit=1')).toEqual([person.id, other.id].sort());
      expect(await several('status=blocked')).toEqual([]);
      expect((await desk.send('GET', '/api/people?ids=one')).status).toBe(400);
    });

    it('with the last use of their sessions', async () => {
      const person = await desk.person();
      const activeAt = async () =>
        (await desk.send<{ people: { activeAt: string | null }[] }>('GET', `/api/people?q=${person.id}`)).body.people;
      expect(await activeAt()).toMatchObject([{ activeAt: null }]);
      await sql`insert into browser_sessions (session_id, user_id, browser, used_at)
        select gen_random_uuid(), ${person.id}, 'Firefox', day::timestamptz
        from unnest(array['2026-02-01Z', '2026-03-01Z', '2026-01-01Z']) as day`.execute(database.queries());
      expect(await activeAt()).toMatchObject([{ activeAt: '2026-03-01T00:00:00.000Z' }]);
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

    it('by plan, in the order of age or of credits', async () => {
      const [rich, richer] = [await desk.person(), await desk.person()];
      for (const [{ id }, credits] of [
        [rich, 500],
        [richer, 900],
      ] as const)
        await changeCredits(id, { changeId: randomUUID(), credits, plan: 'basic_year', reason: 'a test' });
      const ids = async (query: string) => {
        const found: string[] = [];
        for (let cursor = ''; ; ) {
          const path = `/api/people?limit=1&plan=basic_year&${query}${cursor && `&cursor=${cursor}`}`;
          const { body } = await desk.send<{ people: { id: string }[]; next_cursor: string | null }>('GET', path);
          found.push(...body.people.map(({ id }) => id));
          if (body.next_cursor === null) return found;
          cursor = body.next_cursor;
        }
      };
      expect(await ids('')).toEqual([richer.id, rich.id]);
      expect(await ids('order=oldest')).toEqual([rich.id, richer.id]);
      expect(await ids('order=credits')).toEqual([richer.id, rich.id]);
      expect(await ids(`q=${rich.email}`)).toEqual([rich.id]);
      const day = new Date().toISOString().slice(0, 10);
      const deeds = async (query: string) =>
        (await desk.send<{ actions: object[] }>('GET', `/api/actions?userId=${rich.id}&${query}`)).body.actions.length;
      expect([await deeds(`from=${day}&to=${day}`), await deeds('to=2020-01-01')]).toEqual([1, 0]);
      expect([await deeds('from=2020-01-01'), await deeds('from=2999-01-01')]).toEqual([1, 0]);
    });

    it('by operators only', async () => {
      const person = await desk.person();
      for (const path of ['/v1/people', `/v1/people/${person.id}`, '/v1/actions'])
        expect([path, (await person.call('auth', 'GET', path)).status]).toEqual([path, 401]);
      expect((await person.call('agent', 'GET', `/people/${person.id}`)).status).toBe(403);
      expect((await person.call('agent', 'DELETE', `/people/${person.id}`)).status).toBe(403);
      expect((await person.call('media', 'DELETE', `/v1/people/${person.id}`)).status).toBe(403);
      const mails = `/people/mails?address=${person.email}`;
      expect((await person.call('notify', 'GET', mails)).status).toBe(401);
    });

    it('by a UUID of any version, as tokens name users', async () => {
      const id = '11111111-2222-0000-0000-555555555555';
      expect((await desk.send('GET', `/api/people/${id}`)).status).toBe(404);
      const erasures = [
        desk.internal('agent', 'DELETE', `/people/${id}`),
        desk.internal('media', 'DELETE', `/v1/people/${id}`),
        desk.internal('auth', 'POST', `/people/${id}/erasure`, {}),
        desk.internal('notify', 'POST', '/people/erasure', { userId: id }),
      ];
      expect((await Promise.all(erasures)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    });

    it('with 404 for an unknown user', async () => {
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

  describe('are blocked', () => {
    const block = (id: string, cookie?: string) =>
      desk.send('POST', `/api/people/${id}/block`, { reason: 'Spam in links.' }, cookie);
    const isRefused = async (person: Person) =>
      (await person.call('agent', 'POST', '/images', { prompt: 'a boat' })).body.error === 'account_blocked';

    it('with a reason, which the page and the audit log show, and unblocked', async () => {
      const person = await desk.person();
      expect((await block(person.id)).status).toBe(200);
      const { record } = await view(person);
      expect(record.person.blockedAt).not.toBeNull();
      expect(record.block).toEqual({ actor: 'console', reason: 'Spam in links.' });
      expect(record.sessionsEndedAt).not.toBeNull();
      expect(await isRefused(person)).toBe(true);
      const entity = { entity_type: 'user', entity_id: person.id };
      // While the access token is valid, also what costs no credits is refused, in each service.
      for (const [service, path, order] of [
        ['memory', '/memory/search', { ...entity, query: 'tea' }],
        ['memory', '/memory/extract', { ...entity, messages: [{ role: 'user', content: 'I drink tea' }] }],
        ['media', '/v1/uploads', { scopeKind: 'library', scopeId: 'own', kind: 'image', mime: 'image/png' }],
        ['media', '/v1/shares', { assetId: randomUUID() }],
        ['agent', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }],
      ] as const) {
        const refusal = async () => {
          const { status, body } = await person.call(service, 'POST', path, order);
          return [path, status, body.error];
        };
        await expect.poll(refusal, { timeout: 10_000 }).toEqual([path, 403, 'account_blocked']);
      }
      // The conversations and files are still there.
      expect((await person.call('agent', 'GET', '/threads')).status).toBe(200);
      const found = async (status: string) =>
        (await desk.send<{ people: { id: string }[] }>('GET', `/api/people?status=${status}&q=${person.email}`)).body
          .people;
      expect([await found('blocked'), await found('active')]).toEqual([
        [expect.objectContaining({ id: person.id })],
        [],
      ]);
      expect((await desk.send('GET', '/api/people?status=blocked')).body).toMatchObject({
        people: [{ id: person.id }],
      });
      expect((await desk.send('DELETE', `/api/people/${person.id}/block`)).status).toBe(200);
      expect((await view(person)).record).toMatchObject({ block: null, person: { blockedAt: null } });
      expect(await isRefused(person)).toBe(false);
      const path = `/api/actions?userId=${person.id}`;
      expect((await desk.send<{ actions: object[] }>('GET', path)).body.actions).toMatchObject([
        { action: 'DELETE /v1/people/:userId/block', reason: null },
        { action: 'POST /v1/people/:userId/block', reason: 'Spam in links.' },
      ]);
    });

    it('with their address, also after the account is deleted', async () => {
      const person = await desk.person();
      expect((await block(person.id)).status).toBe(200);
      const erase = async () =>
        (await desk.send<ErasureReport>('POST', `/api/people/${person.id}/erasure`, { confirm: true })).body.isComplete;
      expect(await erase()).toBe(true);
      expect(await search(person.email)).toEqual([]);
      // An application can have a token of an account that has no profile yet.
      expect(await isRefused(person)).toBe(true);
      const again = await desk.person(person.email);
      expect((await view(again)).record).toMatchObject({ block: null, person: { blockedAt: expect.any(String) } });
      expect(await isRefused(again)).toBe(true);
      expect((await desk.send('DELETE', `/api/people/${again.id}/block`)).status).toBe(200);
      expect(await isRefused(again)).toBe(false);
      expect(await erase()).toBe(true);
      expect((await view(await desk.person(person.email))).record.person.blockedAt).toBeNull();
    }, 60_000);

    it('by operators who may make changes, with a reason', async () => {
      const person = await desk.person();
      const { cookie } = await desk.enterAs('reader@example.com');
      const refused = [
        await block(person.id, cookie),
        await desk.send('DELETE', `/api/people/${person.id}/block`, undefined, cookie),
      ];
      expect(refused.map(({ status, body }) => [status, body.error])).toEqual([
        [403, 'read_only'],
        [403, 'read_only'],
      ]);
      for (const json of [{}, { reason: ' ' }, { reason: 'x'.repeat(501) }])
        expect((await desk.send('POST', `/api/people/${person.id}/block`, json)).status).toBe(400);
      expect((await person.call('auth', 'POST', `/v1/people/${person.id}/block`, { reason: 'me' })).status).toBe(401);
      expect(await isRefused(person)).toBe(false);
    });
  });

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
});
