/** Operators by the identity provider, their roles, incidents and settings, over a started suite. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ActionPage } from '#accounts/people/api.ts';
import type { ShownAction } from '#platform/audit/audit.ts';
import { type Desk, openDesk } from '../../../test/console/desk.fixture.ts';
import { type ConsoleRig, startConsole } from '../../../test/console/rig.fixture.ts';
import { digestOf } from '../../../test/media/lists.fixture.ts';
import type { ConsoleInfo } from '../api.ts';
import type { Examination, SettingsView } from '../settings/routes.ts';

interface IncidentList {
  readonly incidents: readonly {
    readonly id: string;
    readonly status: string;
    readonly appeal?: { readonly text: string };
  }[];
  readonly counts: { readonly open: number; readonly cleared: number; readonly openAppeals: number };
}

let rig: ConsoleRig;
let desk: Desk;
let lists: string;
beforeAll(async () => {
  lists = await mkdtemp(join(tmpdir(), 'lists-'));
  rig = await startConsole({
    OPERATOR_EMAILS: 'Chief@example.com',
    OPERATOR_READER_EMAILS: 'reader@example.com, chief@example.com',
    MEDIA_BLOCKED_HASHES: lists,
    MODEL_HEADERS: '{"x-team":"a secret of the model"}',
    SMTP_URL: 'smtps://mailer:hush%40now@mail.example.com:465?auth=hush',
    MEDIA_SCREENING_URL: 'https://0a1b2c3d4e@screen.example.com/v1/hush2f7/check?key=hush',
    PROMPT_SCREENING_URL: 'https://user:hush@now@prompts.example.com/v1?key=hush',
    MEDIA_SCREENING_RULES: '[{"label":"weapon","minScore":0.9,"action":"flag"}]',
  });
  desk = await openDesk(rig);
});
afterAll(async () => {
  await rig.close();
  await rm(lists, { recursive: true, force: true });
});

const actions = async () => (await desk.send<{ actions: readonly ShownAction[] }>('GET', '/api/actions')).body.actions;

describe('operators of the identity provider', () => {
  it('sign in with an access token, in any case of the address, and make changes under their own name', async () => {
    const { status, cookie, headers } = await desk.enterAs('chief@example.com');
    expect(status).toBe(204);
    expect(headers.get('set-cookie')).toMatch(/; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
    const info = await desk.send<ConsoleInfo>('GET', '/api/console', undefined, cookie);
    expect(info.body.operator).toEqual({ name: 'chief@example.com', role: 'full' });
    const person = await desk.person();
    const change = { changeId: randomUUID(), credits: 5, reason: 'a gift' };
    expect((await desk.send('POST', `/api/people/${person.id}/credits`, change, cookie)).status).toBe(200);
    expect((await actions())[0]).toMatchObject({
      actor: 'chief@example.com',
      action: 'POST /v1/people/:userId/credits',
      outcome: '200',
    });
  });

  it('are refused if no setting names them, or the token is wrong', async () => {
    const stranger = await desk.enterAs('stranger@example.com');
    expect([stranger.status, stranger.cookie]).toEqual([403, '']);
    expect((await desk.send('POST', '/api/session/identity', { accessToken: 'a.b.c' })).status).toBe(401);
    expect((await desk.send('POST', '/api/session/identity', {})).status).toBe(400);
  });

  it('get 403 on every change as readers, and no step of it is done', async () => {
    const { cookie } = await desk.enterAs('reader@example.com');
    const id = randomUUID();
    const { body } = await desk.send<{ paths: Record<string, Record<string, unknown>> }>('GET', '/openapi.json');
    const routes = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
    );
    const changes = routes.filter(
      ([method, path]) => method !== 'GET' && path.startsWith('/api/') && !path.startsWith('/api/session'),
    );
    expect(changes.length).toBeGreaterThan(10);
    const before = (await actions()).length;
    for (const [method, path] of changes) {
      const filled = path.replace(/\{\w+\}/g, id);
      const json = method === 'DELETE' ? undefined : { confirm: true };
      const answer = await desk.send<{ error: string }>(method, filled, json, cookie);
      expect([method, path, answer.status, answer.body.error]).toEqual([method, path, 403, 'read_only']);
      const stranger = await desk.send<{ error: string }>(method, filled, json, '');
      expect([method, path, stranger.status]).toEqual([method, path, 401]);
    }
    expect((await actions()).length).toBe(before);
    for (const path of ['/api/people', '/api/incidents', '/api/settings', '/api/actions', '/api/overview'])
      expect([path, (await desk.send('GET', path, undefined, cookie)).status]).toEqual([path, 200]);
  });

  it('lose their session when their account is blocked, also if the block is lifted', async () => {
    const { id } = await desk.person('reader@example.com');
    const { cookie } = await desk.enterAs('reader@example.com');
    const read = async (of: string) => (await desk.send('GET', '/api/people', undefined, of)).status;
    const { cookie: chief } = await desk.enterAs('chief@example.com');
    expect([await read(cookie), await read(chief)]).toEqual([200, 200]);
    expect((await desk.send('POST', `/api/people/${id}/block`, { reason: 'Left.' }, chief)).status).toBe(200);
    expect([await read(cookie), await read(chief)]).toEqual([401, 200]);
    const info = await desk.send<ConsoleInfo>('GET', '/api/console', undefined, cookie);
    expect(info.body).toMatchObject({ isOperator: false, operator: null });
    expect(await desk.enterAs('reader@example.com')).toMatchObject({
      status: 403,
      body: { error: 'account_blocked' },
      cookie: '',
    });
    expect((await desk.send('DELETE', `/api/people/${id}/block`, undefined, chief)).status).toBe(200);
    expect(await read(cookie)).toBe(401);
    // A session that begins in the second of the block is refused too.
    await expect
      .poll(async () => read((await desk.enterAs('reader@example.com')).cookie), { interval: 200, timeout: 5000 })
      .toBe(200);
  });

  it('cannot change the name in their cookie', async () => {
    const { cookie } = await desk.enterAs('reader@example.com');
    const [expiry, , signature] = cookie.replace('atelier_console=', '').split('.');
    const forged = `atelier_console=${expiry}.${Buffer.from('chief@example.com').toString('base64url')}.${signature}`;
    expect((await desk.send('GET', '/api/people', undefined, forged)).status).toBe(401);
    const unnamed = `atelier_console=${expiry}.${signature}`;
    expect((await desk.send('GET', '/api/people', undefined, unnamed)).status).toBe(401);
  });
});

describe('the audit log', () => {
  interface Actions {
    readonly actions: readonly ShownAction[];
    readonly next_cursor: string | null;
  }
  const listed = async (query: string) => (await desk.send<Actions>('GET', `/api/actions?${query}`)).body;

  it('is filtered by user, operator and action, and read page by page', async () => {
    const person = await desk.person();
    const { cookie } = await desk.enterAs('chief@example.com');
    const path = `/api/people/${person.id}`;
    const change = { changeId: randomUUID(), credits: 5, reason: 'a gift' };
    await desk.send('POST', `${path}/credits`, change, cookie);
    await desk.send('DELETE', `${path}/sessions`);
    const about = await listed(`userId=${person.id.toUpperCase()}`);
    expect(about.actions.map(({ actor, action }) => [actor, action])).toEqual([
      ['console', 'DELETE /v1/people/:userId/sessions'],
      ['chief@example.com', 'POST /v1/people/:userId/credits'],
    ]);
    expect(about.next_cursor).toBeNull();
    // The log has a hash. The page gets the user and the change.
    const newest = (await desk.send<ActionPage>('GET', '/api/actions?limit=2')).body.actions;
    const changed = { creditsBefore: 1000, creditsAfter: 1005, reason: 'a gift', actor: 'chief@example.com' };
    expect(newest).toMatchObject([
      { userId: person.id, change: null },
      { userId: person.id, change: changed },
    ]);
    expect(newest[0]?.target).not.toContain(person.id);
    expect((await listed(`userId=${person.id}&actor=chief@example.com&action=Credits`)).actions).toHaveLength(1);
    const first = await listed(`userId=${person.id}&limit=1`);
    const second = await listed(`userId=${person.id}&limit=1&cursor=${first.next_cursor}`);
    expect([...first.actions, ...second.actions]).toEqual(about.actions);
  });

  it.each(['userId=x', 'cursor=x', 'limit=0', 'limit=501', 'actor=', `action=${'x'.repeat(101)}`, 'actor=%00'])(
    'rejects %s',
    async (query) => {
      expect((await desk.send('GET', `/api/actions?${query}`)).status).toBe(400);
    },
  );
});

describe('incidents', () => {
  it('are appealed by their owner, and cleared by an operator: the content passes again', async () => {
    const content = Buffer.from(`prohibited ${randomUUID()}`);
    await writeFile(join(lists, 'sha256.txt'), digestOf('sha256', content));
    const person = await desk.person();
    const register = async () => {
      const assetId = randomUUID();
      const place = { assetId, scopeKind: 'thread', scopeId: '1', kind: 'file', mime: 'text/plain' };
      const { body } = await person.call<{ uploadUrl: string; headers?: Record<string, string> }>(
        'media',
        'POST',
        '/v1/uploads',
        place,
      );
      const put = await fetch(body.uploadUrl, {
        method: 'PUT',
        body: new Uint8Array(content),
        headers: { 'content-type': 'text/plain' },
      });
      expect(put.ok).toBe(true);
      return { assetId, status: (await person.call('media', 'POST', '/v1/assets', place)).status };
    };
    const { assetId, status } = await register();
    expect(status).toBe(451);
    const appeal = { text: 'This is my own text.' };
    expect((await person.call('media', 'POST', `/v1/incidents/${assetId}/appeal`, appeal)).status).toBe(200);

    const { body } = await desk.send<IncidentList>('GET', '/api/incidents?status=open&appealed=true');
    expect(body.counts).toMatchObject({ open: 1, openAppeals: 1 });
    const [incident] = body.incidents;
    expect(incident?.appeal?.text).toBe('This is my own text.');
    const preview = await desk.send<{ error: string }>('GET', `/api/incidents/${incident?.id}/preview`);
    expect([preview.status, preview.body.error]).toEqual([404, 'nothing_left_to_show']);
    expect((await actions())[0]?.action).toBe('GET /v1/incidents/:id/preview');
    // Authorities contact the owner.
    const exported = await desk.send('POST', `/api/incidents/${incident?.id}/export`);
    expect(exported.body).toMatchObject({
      incident: { id: incident?.id },
      owner: { id: person.id, email: person.email },
    });
    const resolution = { resolution: 'cleared', note: 'a false match' };
    expect((await desk.send('POST', `/api/incidents/${incident?.id}/resolution`, resolution)).status).toBe(200);
    expect((await register()).status).toBe(201);
    const after = await desk.send<IncidentList>('GET', '/api/incidents');
    expect(after.body.counts).toMatchObject({ open: 0, cleared: 1 });
    expect((await desk.send('GET', `/api/incidents/${randomUUID()}`)).status).toBe(404);
    expect((await desk.send('GET', '/api/incidents?status=lost')).status).toBe(400);
  });

  it('of assets that were there before a list grew are found by a rescreening, with its progress', async () => {
    expect((await desk.send('POST', '/api/rescreening')).status).toBe(202);
    const progress = async () =>
      (await desk.send<{ finishedAt: string | null; checked: number; total: number }>('GET', '/api/rescreening')).body;
    await expect.poll(async () => (await progress()).finishedAt).not.toBeNull();
    const { checked, total } = await progress();
    expect(checked).toBe(total);
  });
});

describe('settings', () => {
  it('are shown as they are in effect, with every secret masked', async () => {
    const { body } = await desk.send<SettingsView>('GET', '/api/settings');
    const settings = body.groups.flatMap((group) => group.settings);
    const settingOf = (name: string) => settings.find(({ variable }) => variable === name);
    expect(settingOf('MEDIA_BLOCKED_HASHES')).toMatchObject({ value: lists, isDefault: false, isSecret: false });
    expect(settingOf('CONSOLE_TOKEN')).toMatchObject({ value: '••••••••', isSecret: true, isDefault: true });
    const isEmbedded = rig.databaseUrl === 'embedded';
    expect(settingOf('DATABASE_URL')).toMatchObject({
      ...{ defaultText: 'embedded', isRequired: true },
      value: isEmbedded ? 'embedded' : expect.stringContaining(`@${new URL(rig.databaseUrl).host}/`),
    });
    // Only what can be a secret is masked.
    expect(settingOf('SMTP_URL')?.value).toBe('smtps://mailer:••••@mail.example.com:465?••••');
    expect(settingOf('MEDIA_SCREENING_URL')?.value).toBe('https://••••@screen.example.com/v1/••••/check?••••');
    expect(settingOf('PROMPT_SCREENING_URL')?.value).toBe('https://••••••••@prompts.example.com/v1?••••');
    expect(settingOf('MEDIA_SCREENING_RULES')?.value).toBe('weapon from 0.9: flag');
    const text = JSON.stringify(body);
    for (const name of ['CONSOLE_TOKEN', 'INTERNAL_KEY', 'MEMORY_ADMIN_TOKEN', 'COOKIE_SECRETS', 'IMGPROXY_KEY'])
      expect(text).not.toContain(await rig.secret(name));
    expect(text).not.toContain('a secret of the model');
    expect(text).not.toMatch(/hush|now@/);
    expect(body.standIns.map(({ setting }) => setting)).toContain('IDP_URL');
  });

  it('are checked on request, and not again immediately', async () => {
    const { status, body } = await desk.send<Examination>('POST', '/api/settings/doctor');
    expect(status).toBe(200);
    expect(body.findings.find(({ name }) => name === 'database')).toMatchObject({ state: 'ok' });
    const again = await desk.send('POST', '/api/settings/doctor');
    expect([again.status, again.headers.get('retry-after')]).toEqual([429, '10']);
  });
});
