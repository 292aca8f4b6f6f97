import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccountTables, ensureProfile, putFeed, visibleRows } from '#accounts/store.ts';
import { migrations } from '#app/migrations.ts';
import type { Database } from '#platform/db/db.ts';
import { type ContentRig, startContent } from '../../test/content/cms.fixture.ts';
import { laneEngines } from '../../test/database.fixture.ts';
import { skipWithout } from '../../test/programs.fixture.ts';
import { renderSitemap, wantsXml } from './sitemaproutes.ts';

const sitemapSchema = fileURLToPath(new URL('schema/sitemap.xsd', import.meta.resolve('sitemap/package.json')));

describe.each(laneEngines)('sitemaps on $name', (engine) => {
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

    it('has an index that varies by host, whose URLs repeat it', async () => {
      const { headers } = await rig.get('/sitemap.xml');
      expect(headers.get('vary')).toContain('Host');
    });

    it('has validators, for each form', async () => {
      const [json, xml] = [await rig.get('/sitemap/users'), await rig.get('/sitemap/users', { accept: 'text/xml' })];
      const etags = [json, xml].map(({ headers }) => headers.get('etag') ?? '');
      expect(new Set(etags).size).toBe(2);
      expect(json.headers.get('cache-control')).toBe('public, max-age=60, stale-while-revalidate=600');
      expect((await rig.get('/sitemap/users', { 'if-none-match': etags[0] ?? '' })).status).toBe(304);
      expect((await rig.get('/sitemap/users', { 'if-none-match': etags[1] ?? '' })).status).toBe(200);
    });

    describe('in XML', () => {
      const ids = (xml: string) => [...xml.matchAll(/\/[uf]\/([0-9a-f-]{36})/g)].map(([, id]) => id);
      it.each([
        ['users', users],
        ['feeds', feeds],
      ])('%s.xml begins with the oldest, or after an id', async (name, all) => {
        const first = await rig.get(`/sitemap/${name}.xml`);
        expect(first.headers.get('content-type')).toBe('application/xml; charset=utf-8');
        expect(ids(await first.text())).toEqual(all);
        expect(ids(await (await rig.get(`/sitemap/${name}.xml?after=${all[0]}`)).text())).toEqual(all.slice(1));
        expect((await rig.get(`/sitemap/${name}.xml?after=${all.at(-1)}`)).status).toBe(404);
        expect((await rig.get(`/sitemap/${name}.xml?after=${randomUUID()}`)).status).toBe(404);
        expect((await rig.get(`/sitemap/${name}.xml?after=`)).status).toBe(400);
        expect((await rig.get(`/sitemap/${name}.xml?after=%00`)).status).toBe(400);
      });

      it.skipIf(skipWithout('xmllint')).each(['users', 'feeds'])(
        '%s.xml is valid by the schema of sitemaps.org',
        async (name) => {
          const document = await (await rig.get(`/sitemap/${name}.xml`)).text();
          const options = ['--noout', '--nonet', '--schema', sitemapSchema, '-'];
          const { status, stderr } = spawnSync('xmllint', options, { input: document, encoding: 'utf8' });
          expect([status, stderr]).toEqual([0, expect.stringContaining('validates')]);
        },
      );

      it('the index names each page, at the host of the request or the public URL', async () => {
        const locations = async (at: ContentRig) =>
          [...(await (await at.get('/sitemap.xml')).text()).matchAll(/<loc>([^<]+)</g)].map(([, url]) => url);
        expect(await locations(rig)).toEqual([`${rig.url}/sitemap/users.xml`, `${rig.url}/sitemap/feeds.xml`]);
        const other = await startContent(database, { publicUrl: 'https://content.example.com/a&b' });
        expect((await locations(other))[0]).toBe('https://content.example.com/a&amp;b/sitemap/users.xml');
        await other.close();
      });

      it('pages end where another one follows', async () => {
        const db = database.queries<AccountTables>();
        expect(await visibleRows(db, 'user_profiles').listPageEnds(1)).toEqual(users.slice(0, 2));
        expect(await visibleRows(db, 'user_profiles').listPageEnds(2)).toEqual([users[1]]);
        expect(await visibleRows(db, 'user_profiles').listPageEnds(3)).toEqual([]);
        expect(await visibleRows(db, 'feeds').listPageEnds(2)).toEqual([feeds[1]]);
      });
    });

    it('returns XML to search engines', async () => {
      const response = await rig.get('/sitemap/users', { accept: 'application/xml' });
      expect(response.headers.get('content-type')).toBe('application/xml; charset=utf-8');
      const xml = await response.text();
      expect(xml.startsWith('<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns=')).toBe(true);
      const locations = [...xml.matchAll(/<loc>(.*?)<\/loc><lastmod>\S+<\/lastmod>/g)].map((match) => match[1]);
      expect(locations).toEqual(users.map((id) => `https://app.example.com/u/${id}?a=1&amp;b=2`));
    });

    it('returns 500 while the database is down', async () => {
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

it('escapes XML syntax', () => {
  const xml = renderSitemap(
    [{ id: '<&"\'>$&', updated_at: '2026-01-01T00:00:00.000Z' }],
    'https://a.example/{id}&{id}',
  );
  expect(xml).toContain('<loc>https://a.example/%3C%26%22&apos;%3E%24%26&amp;%3C%26%22&apos;%3E%24%26</loc>');
});
