import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccountTables, ensureProfile, putFeed } from '#accounts/store.ts';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { type ContentRig, startContent } from '../../test/content/cms.fixture.ts';
import { databaseEngines } from '../../test/database.fixture.ts';
import { renderSitemap, wantsXml } from './sitemap.ts';

describe.each(databaseEngines)('sitemaps on $name', (engine) => {
  describe.skipIf(engine.missing)('', () => {
    let database: Database;
    let rig: ContentRig;
    const users: string[] = [];
    const feeds: string[] = [];
    beforeAll(async () => {
      database = await engine.open(migrations);
      rig = await startContent(database);
      const db = database.queries<AccountTables>();
      for (let turn = 0; turn < 3; turn += 1) {
        const { id } = await ensureProfile(db, { id: randomUUID() });
        users.push(id);
        await sleep(2);
      }
      for (const [mediaType, flag, isListed] of [
        [undefined, undefined, true],
        ['image', [], true],
        ['video', undefined, true],
        ['audio', undefined, false],
        ['image', ['nsfw'], false],
      ] as const) {
        const id = randomUUID();
        await putFeed(db, { id, ownerId: users[0] ?? '', mediaType, flag });
        if (isListed) feeds.push(id);
        // The clock of an embedded database counts milliseconds.
        await sleep(2);
      }
    });
    afterAll(async () => {
      await rig.close();
      await database.close().catch(() => undefined);
    });

    it.each([
      ['users', users],
      ['feeds', feeds],
    ])('lists %s, the oldest first', async (name, ids) => {
      const response = await rig.get(`/sitemap/${name}`);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      expect(response.headers.get('vary')).toBe('Accept');
      const updated_at = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(await response.json()).toEqual({ [name]: ids.map((id) => ({ id, updated_at })) });
    });

    it('speaks XML to search engines', async () => {
      const response = await rig.get('/sitemap/users', { accept: 'application/xml' });
      expect(response.headers.get('content-type')).toBe('application/xml; charset=utf-8');
      const xml = await response.text();
      expect(xml.startsWith('<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns=')).toBe(true);
      const locations = [...xml.matchAll(/<loc>(.*?)<\/loc><lastmod>\S+<\/lastmod>/g)].map((match) => match[1]);
      expect(locations).toEqual(users.map((id) => `https://app.example.com/u/${id}?a=1&amp;b=2`));
    });

    it('is a 500 while the database is away', async () => {
      const away = await engine.open(migrations);
      const other = await startContent(away);
      await away.close();
      for (const name of ['users', 'feeds']) {
        const response = await other.get(`/sitemap/${name}`);
        expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([
          500,
          'sitemap_unavailable',
        ]);
      }
      await other.close();
    });
  });
});

it.each<[string | undefined, boolean]>([
  [undefined, false],
  ['*/*', false],
  ['application/json', false],
  ['application/*', false],
  ['text/html', false],
  ['application/xml', true],
  ['text/xml', true],
  ['Application/XML', true],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
  ['application/json, application/xml', true],
  ['application/json, application/xml;q=0.9', false],
  ['application/json;q=0.5, application/xml;q=0.9', true],
  ['application/xml;q=0', false],
  ['application/xml;q=x', false],
])('Accept %s: XML is %s', (accept, expected) => {
  expect(wantsXml(accept)).toBe(expected);
});

it('escapes what XML would read', () => {
  const xml = renderSitemap(
    [{ id: '<&"\'>$&', updated_at: '2026-01-01T00:00:00.000Z' }],
    'https://a.example/{id}&{id}',
  );
  expect(xml).toContain('<loc>https://a.example/%3C%26%22&apos;%3E%24%26&amp;%3C%26%22&apos;%3E%24%26</loc>');
});
