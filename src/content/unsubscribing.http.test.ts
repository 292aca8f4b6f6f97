import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AccountTables, ensureProfile, findRecipient, readUnsubscribeSecret } from '#accounts/store.ts';
import { signUnsubscribe } from '#accounts/unsubscribing.ts';
import { migrations } from '#app/migrations.ts';
import type { Database, Db } from '#platform/db/db.ts';
import { type ContentRig, startContent } from '../../test/content/cms.fixture.ts';
import { openTestDatabase } from '../../test/database.fixture.ts';

let database: Database;
let accounts: Db<AccountTables>;
let rig: ContentRig;
let userId: string;
let page: string;
beforeAll(async () => {
  database = await openTestDatabase(migrations);
  accounts = database.queries<AccountTables>();
  rig = await startContent(database);
});
afterAll(async () => {
  await rig.close();
  await database.close();
});
beforeEach(async () => {
  userId = (await ensureProfile(accounts, { id: randomUUID() })).id;
  page = `${rig.url}/unsubscribe?token=${signUnsubscribe(await readUnsubscribeSecret(accounts), userId, 'ada@example.com')}`;
});
const isOpen = async () => (await findRecipient(accounts, userId))?.isOpenNotification;

describe('/unsubscribe', () => {
  it('requires a confirmation: opening the page changes nothing', async () => {
    const response = await fetch(page, { headers: { 'accept-language': 'de' } });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('<html lang="de">');
    expect(response.headers.get('referrer-policy')).toBe('no-referrer');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await isOpen()).toBe(true);
  });

  it.each<[string, RequestInit]>([
    ['the form of the page', { body: new URLSearchParams() }],
    ['a mail client', { body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) }],
    [
      'a mail client that sends a form in parts',
      {
        body: (() => {
          const form = new FormData();
          form.append('List-Unsubscribe', 'One-Click');
          return form;
        })(),
      },
    ],
    ['nothing but the address', {}],
  ])('unsubscribes by %s, however often', async (_name, init) => {
    for (const _turn of [1, 2]) {
      const response = await fetch(page, { method: 'POST', ...init });
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('You are unsubscribed.');
      expect(await isOpen()).toBe(false);
    }
  });

  it.each(['', '?token=', '?token=x', `?token=${'A'.repeat(43)}`])('is invalid with %j', async (query) => {
    for (const method of ['GET', 'POST']) {
      const response = await fetch(`${rig.url}/unsubscribe${query}`, { method });
      expect(response.status).toBe(400);
    }
    expect(await isOpen()).toBe(true);
  });
});
