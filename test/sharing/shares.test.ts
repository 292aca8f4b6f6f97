/** Shares and the gallery (docs/specification/media.md#shares), with the program that `npm start` starts. */

import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { token } from '#commands/token.ts';
import { type PublicShare, renderAnswers } from '#edge/shares/page.ts';
import type { Collection } from '#media/collections/api.ts';
import type { IncidentPage } from '#media/incidents/api.ts';
import type { AssetPage } from '#media/listing/api.ts';
import type { GalleryPage, Share, SharePage } from '#media/shares/api.ts';
import type { HttpClient } from '#platform/http/client.ts';
import { runInProcess } from '../acceptance/inprocess.fixture.ts';
import { newLanePlace, type Place, type Program, run } from '../acceptance/running.fixture.ts';
import { type Chatter, chatter } from '../agent/rig.fixture.ts';
import { type Rig, startEdge } from '../edge/edge.fixture.ts';
import { isNightly } from '../lane.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';

const viewScript = readFileSync(new URL('../../src/edge/shares/view.js', import.meta.url), 'utf8');
const scriptsOf = (page: string) => [...page.matchAll(/<script>([\s\S]*?)<\/script>|<script/g)].map(([, text]) => text);
const services = ['media', 'image', 'agent', 'memory', 'content', 'edge', 'idp', 'cms'];

interface Person {
  readonly agent: Chatter;
  readonly media: Chatter;
}

describe('the page of a share', () => {
  const id = 'x'.repeat(22);
  const clock = { nowMs: 0, now: () => clock.nowMs };
  let answer: { status: number; data: object };
  let edge: Rig;
  beforeAll(async () => {
    const media = {
      send: async () => ({
        status: answer.status,
        body: Buffer.from(JSON.stringify(answer.data)),
        json: () => answer.data,
      }),
    } as unknown as HttpClient;
    const pages = { brand: 'Atelier', edgeUrl: 'https://edge.example', homeUrl: 'https://studio.example' };
    edge = await startEdge({ shares: { ...pages, clock, media, trustedProxies: [] } });
  });
  afterAll(() => edge.close());
  const get = async (headers: Record<string, string>, path = '') => {
    // What was read before is not used again.
    clock.nowMs += 1000;
    const response = await fetch(`${edge.url}/s/${id}${path}`, { headers });
    return { response, text: await response.text() };
  };
  const conversation = (texts: readonly string[]) => ({
    ...{
      id,
      kind: 'thread',
      title: 'Talk',
      generated: 'ai',
      index: false,
      createdAt: '2026-01-01T00:00:00Z',
      media: [],
    },
    messages: [{ role: 'assistant', parts: texts.map((text) => ({ type: 'text', text })) }],
  });

  it.each([
    [503, 503, 'Diese Seite kann gerade nicht angezeigt werden.'],
    [429, 503, 'Diese Seite kann gerade nicht angezeigt werden.'],
    [404, 404, 'Diese Seite gibt es nicht'],
  ])(
    'is a page in a browser if the media service returns %i, and a problem for programs',
    async (given, status, title) => {
      answer = { status: given, data: {} };
      for (const path of ['', '/0/full.webp']) {
        const { response, text } = await get({ accept: 'text/html,*/*;q=0.8', 'accept-language': 'de' }, path);
        expect([response.status, response.headers.get('retry-after')]).toEqual([status, status === 503 ? '2' : null]);
        expect([response.headers.get('content-type'), response.headers.get('content-language')]).toEqual([
          'text/html; charset=utf-8',
          'de',
        ]);
        const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1] ?? '';
        const policy = response.headers.get('content-security-policy');
        expect(policy).toContain(createHash('sha256').update(style).digest('base64'));
        expect(text).toContain(`<h1>${title}`);
        expect(text.includes('>Erneut versuchen</a>')).toBe(status === 503);
      }
      const refusals = [
        await get({ accept: 'application/json' }),
        await get({ accept: 'image/webp,*/*' }, '/0/full.webp'),
      ];
      for (const { response, text } of refusals) {
        expect([response.status, response.headers.get('retry-after')]).toEqual([status, status === 503 ? '2' : null]);
        expect(JSON.parse(text).error).toBe(status === 503 ? 'engine_unavailable' : 'not_found');
      }
    },
  );

  it('is a page for an id that no share can have', async () => {
    const response = await fetch(`${edge.url}/s/short`, { headers: { accept: 'text/html' } });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('no longer shared')]);
  });

  it.runIf(isNightly)(
    'shows answers later that were behind one that takes too long',
    { timeout: 120_000 },
    async () => {
      answer = { status: 200, data: conversation(['before *it*', '*a_ '.repeat(20_000), 'after *it*']) };
      const html = { accept: 'text/html' };
      const first = await get(html);
      expect(first.text).toContain('<p>before <em>it</em></p>');
      expect(first.text).toContain('<p class="text">after *it*</p>');
      clock.nowMs += 50_000;
      expect((await get(html)).response.headers.get('etag')).toBe(first.response.headers.get('etag'));
      clock.nowMs += 10 * 60_000;
      await expect.poll(async () => (await get(html)).text, { timeout: 60_000 }).toContain('<p>after <em>it</em></p>');
      expect((await get(html)).text).toContain('<p>before <em>it</em></p>');
    },
  );

  it('colors code as the studio does, and has a button for the script that copies it', async () => {
    const code = '```ts\nconst a = "<b>" + 1; // &amp;\n```';
    answer = {
      status: 200,
      data: conversation([code, '```unknown-language\nconst\n```', '$$\nx\n$$', '- [x] a\n- [ ] b']),
    };
    const { text } = await get({ accept: 'text/html' });
    // The keyboard scrolls formulas and code.
    expect([text.split('<pre tabindex="0">').length, text.split('math-display" tabindex="0">').length]).toEqual([3, 2]);
    expect(text).toContain('<li><span class="task">☑</span> a</li>\n<li><span class="task">☐</span> b</li>');
    expect(text).toContain(
      '<span class="hljs-keyword">const</span> a = <span class="hljs-string">&quot;&lt;b&gt;&quot;</span>',
    );
    expect(text).toContain('<span class="hljs-comment">// &amp;amp;</span>');
    expect(text).toContain('data-language="unknown-language">const\n</code>');
    expect(text).toContain('<button type="button" class="copy" data-copied="Copied" hidden>Copy</button>');
    expect(scriptsOf(text)).toEqual([viewScript]);
  });
});

describe('shares', () => {
  let place: Place;
  let program: Program;
  let ada: Person;
  let ben: Person;
  let operator: Chatter;
  let edge: string;
  let content: string;

  beforeAll(async () => {
    place = await newLanePlace();
    edge = `http://localhost:${place.portBase + 10}`;
    content = `http://localhost:${place.portBase + 6}`;
    program = run('start', services, { ...place.env, SITEMAP_GALLERY: 'true' });
    await program.waitFor('Atelier is ready', 240_000);
    const signIn = async (email: string): Promise<Person> => {
      const { output } = await runInProcess(token, [email], place.env);
      const accessToken = output.trim().split('\n').at(-1) ?? '';
      const credential = { authorization: `Bearer ${accessToken}` };
      const at = (port: number) =>
        chatter(`http://localhost:${place.portBase + port}`, String(decodeJwt(accessToken).sub), credential);
      return { agent: at(4), media: at(1) };
    };
    ada = await signIn('ada@example.com');
    ben = await signIn('ben@example.com');
    const { INTERNAL_KEY } = JSON.parse(await readFile(join(place.dataDir, 'secrets.json'), 'utf8'));
    operator = chatter(`http://localhost:${place.portBase + 1}`, '', { 'x-internal-key': INTERNAL_KEY });
  });
  afterAll(async () => {
    program.child.kill('SIGTERM');
    await program.ended();
    await place.remove();
  });

  let uploads = 0;
  async function upload({ media }: Person, more: object = {}, scope = { scopeKind: 'library', scopeId: 'l' }) {
    const what = { ...scope, kind: 'image', mime: 'image/png' };
    const { body } = await media.call<{ uploadUrl: string; headers: object; assetId: string }>(
      'POST',
      '/v1/uploads',
      what,
    );
    const put = {
      method: 'PUT',
      headers: { ...body.headers },
      body: new Uint8Array(await makeImage('png', { seed: ++uploads })),
    };
    expect((await fetch(body.uploadUrl, put)).status).toBe(200);
    const registered = await media.call('POST', '/v1/assets', { assetId: body.assetId, ...what, ...more });
    expect([registered.status, registered.body]).toEqual([201, expect.anything()]);
    return body.assetId;
  }
  const share = async (person: Person, body: object) => person.media.call<Share>('POST', '/v1/shares', body);
  const album = async ({ media }: Person, assetIds: readonly string[], title = 'Coast') =>
    (await media.call<Collection>('POST', '/v1/collections', { title, assetIds })).body;
  const read = (id: string, headers: Record<string, string> = {}, path = '') =>
    fetch(`${edge}/s/${id}${path}`, { headers, redirect: 'manual' });
  const readData = async (id: string) =>
    (await (await read(id, { accept: 'application/json' })).json()) as PublicShare & { error?: string };
  const isGone = (id: string) => expect.poll(async () => (await read(id)).status, { timeout: 5000 }).toBe(404);

  describe('an asset', () => {
    it('has a page for people, data for programs, and a card for other sites', async () => {
      const assetId = await upload(ada, { prompt: 'a <b>boat</b> & a lighthouse' });
      const { status, body } = await share(ada, { assetId, showPrompt: true, author: 'Ada <L.>' });
      expect(status).toBe(201);
      expect(body).toMatchObject({ url: `${edge}/s/${body.id}`, assetId, threadId: null, expiresAt: null });
      expect(body.id).toMatch(/^[\w-]{22,}$/);

      const page = await read(body.id, { accept: 'text/html', 'accept-language': 'de' });
      const text = await page.text();
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(page.headers.get('cache-control')).toBe('public, max-age=5');
      expect(page.headers.get('x-robots-tag')).toBe('noindex');
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(text).toContain('<html lang="de">');
      const shown = text.slice(text.indexOf('<main')).replaceAll(/<[^>]*>/g, '');
      expect(shown.split('a &lt;b&gt;boat&lt;/b&gt; &amp; a lighthouse')).toHaveLength(2);
      // The script of the full view, and no other one.
      expect(scriptsOf(text)).toEqual([viewScript]);
      const scriptHash = createHash('sha256').update(viewScript).digest('base64');
      expect(page.headers.get('content-security-policy')).toContain(`; script-src 'sha256-${scriptHash}';`);
      expect(text).toContain(`<meta property="og:image" content="${edge}/s/${body.id}/0/card.jpg">`);
      expect(text).toContain('<p class="text">a &lt;b&gt;boat&lt;/b&gt; &amp; a lighthouse</p>');
      expect(text).toContain('<h1>Bild von Ada &lt;L.&gt;</h1>');
      const home = `http://localhost:${place.portBase}`;
      const links = [...text.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href]) => href?.replaceAll('&amp;', '&'));
      expect(links).toEqual([
        `${home}/`,
        `${home}/`,
        `${edge}/s/${body.id}/0/full.webp`,
        `${home}/create?kind=image&reference=${assetId}&share=${body.id}&prompt=a+%3Cb%3Eboat%3C%2Fb%3E+%26+a+lighthouse`,
        `${edge}/s/${body.id}/0/full.png`,
        `${edge}/s/${body.id}/report`,
      ]);
      const icon = await fetch(String(/<link rel="icon"[^>]*href="([^"]*)"/.exec(text)?.[1]));
      expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);

      const view = await readData(body.id);
      expect(view).toMatchObject({
        id: body.id,
        kind: 'image',
        media: { assetId, prompt: 'a <b>boat</b> & a lighthouse' },
      });
      expect(JSON.stringify(view)).not.toContain(ada.media.userId);
      const download = await fetch(String(view.media?.downloadUrl));
      expect([download.status, download.headers.get('content-type')]).toEqual([200, 'image/png']);
      for (const url of [view.media?.url, view.media?.previewUrl, view.media?.thumbUrl])
        expect((await fetch(String(url))).status).toBe(200);

      const card = await fetch(String(view.media?.cardUrl));
      expect([card.status, card.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
      const { width, height } = await sharp(await card.arrayBuffer()).metadata();
      expect([width, height]).toEqual([1200, 630]);
      const again = await read(body.id, { 'if-none-match': String(page.headers.get('etag')), 'accept-language': 'de' });
      expect(again.status).toBe(304);
    });

    it('is reported by a form without an account, 20 times a day, and a decision ends the page', async () => {
      const { body } = await share(ada, { assetId: await upload(ada) });
      expect(await (await read(body.id)).text()).toContain(`${edge}/s/${body.id}/report`);
      const form = await read(body.id, { 'accept-language': 'ja' }, '/report');
      const text = await form.text();
      expect([form.status, form.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(text).toContain(`action="${edge}/s/${body.id}/report"`);
      expect(text).toContain('<html lang="ja">');
      expect(text).not.toContain('<script');
      expect(text).toContain(`<p class="subject"><img src="${edge}/s/${body.id}/0/thumb.webp" alt="">`);
      const send = async (fields: Record<string, string>) =>
        (await fetch(`${edge}/s/${body.id}/report`, { method: 'POST', body: new URLSearchParams(fields) })).status;
      expect(await send({ note: 'no reason' })).toBe(400);
      const statuses: number[] = [];
      for (let count = 0; count < 21; count++) statuses.push(await send({ reason: 'minor', note: '<b>Help</b>\0' }));
      expect(statuses).toEqual([...Array(20).fill(200), 429]);

      const { incidents } = (await operator.call<IncidentPage>('GET', '/v1/incidents?order=priority')).body;
      const incident = incidents.find(({ shareId }) => shareId === body.id);
      expect(incident).toMatchObject({ origin: 'report', reports: 1, reasons: ['minor'] });
      const decision = { decision: 'remove', statement: 'It endangers a child.' };
      expect((await operator.call('POST', `/v1/incidents/${incident?.id}/decision`, decision)).status).toBe(200);
      await isGone(body.id);
      expect(await send({ reason: 'minor' })).not.toBe(200);
    });

    it('is shared once, keeps its name, and keeps its prompt unless its owner shows it', async () => {
      const assetId = await upload(ada, { prompt: 'a secret garden', name: 'plan of mine.png' });
      const first = await share(ada, { assetId });
      const again = await share(ada, { assetId, expiresIn: 3600 });
      expect([first.status, again.status, again.body.id]).toEqual([201, 200, first.body.id]);
      expect(Date.parse(again.body.expiresAt ?? '')).toBeGreaterThan(Date.now() + 3_500_000);
      expect(await readData(first.body.id)).toMatchObject({ title: null, author: null, media: { prompt: null } });
      expect(await (await read(first.body.id)).text()).toContain('<h1>Image</h1>');
      await share(ada, { assetId, author: 'Ada <L.>' });
      const signed = async () => (await read(first.body.id)).text();
      await expect.poll(signed, { timeout: 5000 }).toContain('<h1>Image by Ada &lt;L.&gt;</h1>');
      expect(await signed()).toContain('<title>Image by Ada &lt;L.&gt; · Atelier</title>');
      expect(await signed()).not.toContain('<span>By Ada');
      expect(await (await read(first.body.id)).text()).not.toMatch(/secret|mine|\/create/);
      await share(ada, { assetId, showPrompt: true });
      const shown = async () => (await read(first.body.id)).text();
      await expect.poll(shown, { timeout: 5000 }).toContain('<p class="text">a secret garden</p>');
      // Only its owner sees the name of the file.
      expect(await shown()).not.toContain('mine');
      const { body } = await ada.media.call<SharePage>('GET', `/v1/shares?assetId=${assetId}`);
      expect(body.shares.map(({ id }) => id)).toEqual([first.body.id]);
      expect((await ben.media.call<SharePage>('GET', '/v1/shares')).body.shares).toEqual([]);
    });

    it('is gone from the page soon after its share, or the asset itself, has gone', async () => {
      const [kept, deleted] = [await upload(ada), await upload(ada)];
      const [ended, orphaned] = [await share(ada, { assetId: kept }), await share(ada, { assetId: deleted })];
      for (const { body } of [ended, orphaned]) expect((await read(body.id)).status).toBe(200);
      expect((await ben.media.call('DELETE', `/v1/shares/${ended.body.id}`)).status).toBe(404);
      expect((await ada.media.call('DELETE', `/v1/shares/${ended.body.id}`)).status).toBe(204);
      expect((await ada.media.call('DELETE', '/v1/assets', { ids: [deleted] })).status).toBe(200);
      await Promise.all([isGone(ended.body.id), isGone(orphaned.body.id)]);
      for (const { body } of [ended, orphaned]) expect((await read(body.id, {}, '/0/preview.webp')).status).toBe(404);
      expect((await readData(ended.body.id)).error).toBe('not_found');
    });

    it.each([
      ['neither id', () => ({}), 400],
      ['an empty collection', async () => ({ collectionId: (await album(ada, [])).collectionId }), 400],
      ['a collection of another user', async () => ({ collectionId: (await album(ben, [])).collectionId }), 404],
      ['a collection and a thread', () => ({ collectionId: randomUUID(), threadId: 't' }), 400],
      ['both ids', async () => ({ assetId: await upload(ada), threadId: 't' }), 400],
      ['an unknown asset', () => ({ assetId: randomUUID() }), 404],
      ['an unknown conversation', () => ({ threadId: randomUUID() }), 404],
      ['an asset of another user', async () => ({ assetId: await upload(ben) }), 403],
      ['a share of less than a minute', async () => ({ assetId: await upload(ada), expiresIn: 59 }), 400],
    ])('is refused with %s', async (_what, body, status) => {
      expect((await share(ada, await body())).status).toBe(status);
    });
  });

  describe('a conversation', () => {
    it('is as it was when it was shared, without what is the owner’s alone', async () => {
      const threadId = randomUUID();
      const attached = await upload(ada);
      const parts = [
        { type: 'text', text: 'Make an image of a lighthouse' },
        { type: 'file', mediaType: 'image/png', url: `asset:${attached}` },
      ];
      const started = await ada.agent.call<{ taskId: string }>('POST', '/task', {
        threadId,
        message: { role: 'user', parts },
      });
      await ada.agent.ended(started.body.taskId);
      expect((await share(ben, { threadId })).status).toBe(403);
      const { status, body } = await share(ada, { threadId });
      expect(status).toBe(201);
      await ada.agent.ended(await ada.agent.ask(threadId, 'A later secret'));
      expect((await share(ada, { threadId })).body.id).toBe(body.id);

      const view = await readData(body.id);
      const media = view.messages.flatMap(({ parts: all }) =>
        all.flatMap((part) => (part.type === 'media' ? [part.media] : [])),
      );
      expect(view).toMatchObject({ kind: 'thread', generated: 'ai' });
      expect(media).toHaveLength(1);
      expect((await fetch(media[0]?.url ?? '')).status).toBe(200);
      const text = await (await read(body.id)).text();
      expect(text).toMatch(/<h2>Prompt<\/h2>\s*<p class="text">Make an image of a lighthouse/);
      for (const secret of ['A later secret', attached, ada.media.userId, threadId]) expect(text).not.toContain(secret);
      const updated = await share(ada, { threadId, update: true });
      const { shownAt } = updated.body;
      expect([updated.status, updated.body]).toEqual([200, { ...body, shownAt, items: 1, newItems: 0 }]);
      expect([body.shownAt, shownAt > body.shownAt]).toEqual([body.createdAt, true]);
      await expect.poll(async () => (await read(body.id)).text(), { timeout: 5000 }).toContain('A later secret');
      expect((await readData(body.id)).messages.length).toBeGreaterThan(view.messages.length);

      expect((await ada.agent.call('DELETE', `/threads/${threadId}`)).status).toBe(204);
      await isGone(body.id);
      expect(await (await read(body.id)).text()).toContain(
        '<p>Ask the person who sent you the link for a new one.</p>',
      );
    });

    it.runIf(isNightly)(
      'shows an answer for which the parser takes minutes as it is, and makes nothing else wait',
      async () => {
        const long = '*a_ '.repeat(20_000);
        const formula = 'It costs $5 or $10, and $\\alpha < 2$.';
        const code = '```ts\na\n```';
        const texts = ['**bold**', '!![a](https://elsewhere.example/a.png)', formula, code, long, 'after *it*'];
        const parts = texts.map((text) => ({ type: 'text' as const, text }));
        let turns = 0;
        const beat = setInterval(() => turns++, 10);
        const answers = await renderAnswers({ messages: [{ role: 'assistant', parts }] });
        clearInterval(beat);
        expect(answers.get('**bold**')?.text).toBe('<p><strong>bold</strong></p>');
        expect([...answers.keys()]).toEqual(texts.slice(0, 4));
        expect(answers.get(formula)?.text).toMatch(/^<p>It costs \$5 or \$10, and .*<math.*<mi>α<\/mi><mo>&lt;<\/mo>/);
        expect(answers.get(code)?.text).toContain('<code class="language-ts" data-language="ts">a\n</code>');
        expect(answers.get(texts[1] ?? '')?.text).not.toContain('<img');
        expect(turns).toBeGreaterThan(10);
      },
    );

    it('shows a video once, which is in the output of its tool and in a part of its own', async () => {
      const threadId = randomUUID();
      await ada.agent.ended(await ada.agent.ask(threadId, 'Make a video of waves'));
      const { body } = await share(ada, { threadId });
      const kinds = (await readData(body.id)).messages.flatMap(({ parts }) =>
        parts.flatMap((part) => (part.type === 'media' ? [part.media.kind] : [])),
      );
      expect(kinds).toEqual(['video']);
    });

    it('shows attachments if its owner wants that', async () => {
      const threadId = randomUUID();
      const attached = await upload(ada);
      const parts = [
        { type: 'text', text: 'hi' },
        { type: 'file', mediaType: 'image/png', url: `asset:${attached}` },
      ];
      const started = await ada.agent.call<{ taskId: string }>('POST', '/task', {
        threadId,
        message: { role: 'user', parts },
      });
      await ada.agent.ended(started.body.taskId);
      const { body } = await share(ada, { threadId, attachments: true });
      expect(JSON.stringify((await readData(body.id)).messages)).toContain(attached);
    });
  });

  describe('an album', () => {
    const idsOf = ({ messages }: PublicShare) =>
      messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'media' ? [part.media.assetId] : [])));

    it('is a grid of what it had when it was shared, and has still', async () => {
      const ids: string[] = [];
      for (const prompt of ['first boat', 'second boat', 'third boat']) ids.unshift(await upload(ada, { prompt }));
      await ada.agent.ended(await ada.agent.ask(randomUUID(), 'Make an image of a boat'));
      const { assets } = (await ada.media.call<AssetPage>('GET', '/v1/assets?limit=1')).body;
      ids.unshift(...assets.map(({ assetId }) => assetId));
      const { collectionId } = await album(ada, ids, 'My <b>coast</b>');
      const { status, body } = await share(ada, { collectionId, author: 'Ada Support' });
      expect([status, body]).toEqual([
        201,
        expect.objectContaining({
          assetId: null,
          threadId: null,
          collectionId,
          title: 'My <b>coast</b>',
          index: false,
        }),
      ]);
      expect((await share(ada, { collectionId, author: 'Ada Support' })).status).toBe(200);
      const view = await readData(body.id);
      expect(view).toMatchObject({ kind: 'album', title: 'My <b>coast</b>', author: 'Ada Support', media: null });
      expect(idsOf(view)).toEqual(ids);
      expect(JSON.stringify(view)).not.toMatch(/boat|album:/);

      const page = await read(body.id);
      const text = await page.text();
      expect([page.status, page.headers.get('x-robots-tag')]).toEqual([200, 'noindex']);
      expect(text).toContain('<h1>My &lt;b&gt;coast&lt;/b&gt;</h1>');
      expect(text).not.toContain('boat');
      expect(scriptsOf(text)).toEqual([viewScript]);
      expect(text).not.toContain(collectionId);
      const [tiles = '', slides = ''] = text.split('<dialog');
      const images = [...tiles.matchAll(/<a class="tile" href="([^"]*)"><img src="([^"]*)"/g)];
      expect(images).toHaveLength(4);
      expect(tiles).toMatch(/<p class="by"><span>By Ada Support<\/span>\s*<span>4 images<\/span>/);
      // Only one of them was generated, so the album does not claim it, and that one does, in its tile and in its slide.
      expect(tiles).not.toMatch(/class="mark"|content="[^"]*Made with AI/);
      expect(tiles.split('<figcaption>Made with AI</figcaption>')).toHaveLength(2);
      expect(slides.split('<span class="mark">Made with AI</span>')).toHaveLength(2);
      // In its own shape, and for download.
      const named = /<img src="[^"]*" alt="Image \d \/ 4" width="\d+" height="\d+"/g;
      expect([tiles.match(named), slides.match(named)]).toEqual(Array(2).fill(expect.objectContaining({ length: 4 })));
      const downloads = [...slides.matchAll(/href="([^"]*)" download="([^"]*)"/g)];
      const files = downloads.map(([, url]) => String(url).replace(/(png|jpg)$/, 'webp'));
      expect(files).toEqual(images.map(([, large]) => large));
      expect(downloads[1]?.[2]).toBe('My &lt;b&gt;coast&lt;/b&gt; 2.png');
      for (const [, large, small] of images)
        for (const url of [large, small]) expect((await fetch(String(url))).status).toBe(200);

      // Other sites show the cover, but not one that the page does not show.
      const later = await upload(ada);
      const coverWith = async (coverAssetId: unknown) => {
        await ada.media.call('PATCH', `/v1/collections/${collectionId}`, { coverAssetId });
        const cardOf = async () =>
          /og:image" content="[^"]*\/(\d)\/card.jpg"/.exec(await (await read(body.id)).text())?.[1];
        return { card: expect.poll(cardOf, { timeout: 5000 }), cover: async () => (await readData(body.id)).cover };
      };
      for (const place of [2, 3]) {
        const { card, cover } = await coverWith(ids[place]);
        await card.toBe(String(place));
        expect(await cover()).toBe(ids[place]);
      }
      const { card, cover } = await coverWith(later);
      await card.toBe('0');
      expect(await cover()).toBe(null);
      await ada.media.call('PATCH', `/v1/collections/${collectionId}`, { remove: [later] });

      const digestOf = async (url = '') =>
        createHash('sha256')
          .update(await (await fetch(url)).bytes())
          .digest('hex');
      const last = images.at(-1)?.[1];
      const before = await digestOf(last);
      // Added later, removed from the album, deleted, and in the trash.
      const change = { add: [later], remove: ids.slice(0, 1) };
      expect((await ada.media.call('PATCH', `/v1/collections/${collectionId}`, change)).status).toBe(200);
      expect((await ada.media.call('DELETE', '/v1/assets', { ids: ids.slice(1, 2) })).status).toBe(200);
      const shown = async () => idsOf(await readData(body.id));
      await expect.poll(shown, { timeout: 5000 }).toEqual(ids.slice(2));
      // A page that is open still leads to the same file.
      expect([(await fetch(String(images[0]?.[1]))).status, await digestOf(last)]).toEqual([404, before]);
      const links = async (query: string) =>
        (await ada.media.call<SharePage>('GET', `/v1/shares?${query}`)).body.shares.map(({ id }) => id);
      expect(await links(`collectionId=${collectionId}`)).toEqual([body.id]);
      expect(await links('copies=false&limit=200')).toContain(body.id);
      // What was added is not shown before an update, which keeps the URL.
      const counts = async () =>
        (await ada.media.call<SharePage>('GET', `/v1/shares?collectionId=${collectionId}`)).body;
      expect((await counts()).shares).toEqual([expect.objectContaining({ items: 2, newItems: 1 })]);
      const options = { collectionId, author: 'Ada Support' };
      expect((await share(ada, options)).body).toMatchObject({ items: 2, newItems: 1 });
      expect(idsOf(await readData(body.id))).toEqual(ids.slice(2));
      const updated = await share(ada, { ...options, update: true });
      const { shownAt } = updated.body;
      expect([updated.status, updated.body]).toEqual([200, { ...body, shownAt, items: 3, newItems: 0 }]);
      await expect.poll(shown, { timeout: 5000 }).toEqual([later, ...ids.slice(2)]);
      expect((await ben.media.call('DELETE', `/v1/shares/${body.id}`)).status).toBe(404);
      const left = { ids: [later, ...ids.slice(2)] };
      expect((await ada.media.call('DELETE', '/v1/assets', left)).status).toBe(200);
      await isGone(body.id);
    });

    it('ends with its share, with the album, and by a decision about it, which keeps it from being shared again', async () => {
      const [one, other, reported] = [await upload(ada), await upload(ada), await upload(ada)];
      const made = [await album(ada, [one]), await album(ada, [other]), await album(ada, [reported])];
      const shares = await Promise.all(made.map(async ({ collectionId }) => (await share(ada, { collectionId })).body));
      for (const { id } of shares) expect((await read(id)).status).toBe(200);
      expect((await ada.media.call('DELETE', `/v1/shares/${shares[0]?.id}`)).status).toBe(204);
      expect((await ada.media.call('DELETE', `/v1/collections/${made[1]?.collectionId}`)).status).toBe(204);
      const report = { shareId: shares[2]?.id, reason: 'violence' };
      expect((await ben.media.call('POST', '/v1/reports', report)).status).toBe(201);
      const { incidents } = (await operator.call<IncidentPage>('GET', '/v1/incidents?order=priority')).body;
      const incident = incidents.find(({ shareId }) => shareId === shares[2]?.id);
      expect(incident?.threadId).toBe(`album:${made[2]?.collectionId}`);
      const decision = { decision: 'remove', statement: 'It shows violence.' };
      expect((await operator.call('POST', `/v1/incidents/${incident?.id}/decision`, decision)).status).toBe(200);
      for (const { id } of shares) await isGone(id);
      const { body } = await ada.media.call<SharePage>('GET', '/v1/shares?limit=200');
      expect(body.shares.filter(({ id }) => shares.some((ended) => ended.id === id))).toEqual([]);
      expect((await share(ada, { collectionId: made[2]?.collectionId })).status).toBe(403);
      expect((await share(ada, { assetId: reported })).status).toBe(404);
    });

    it('whose owner deletes it while it is restricted still gets its images back after a dismissal', async () => {
      const assetId = await upload(ada);
      const { collectionId } = await album(ada, [assetId]);
      const { id: shareId } = (await share(ada, { collectionId })).body;
      expect((await ben.media.call('POST', '/v1/reports', { shareId, reason: 'other' })).status).toBe(201);
      const { incidents } = (await operator.call<IncidentPage>('GET', '/v1/incidents')).body;
      const { id } = incidents.find((one) => one.shareId === shareId) ?? {};
      const decide = async (decision: string) =>
        (await operator.call('POST', `/v1/incidents/${id}/decision`, { decision, statement: 'See below.' })).status;
      expect([await decide('restrict'), (await share(ada, { assetId })).status]).toEqual([200, 403]);
      expect((await ada.media.call('DELETE', `/v1/collections/${collectionId}`)).status).toBe(204);
      expect([await decide('dismiss'), (await share(ada, { assetId })).status]).toEqual([200, 201]);
      await isGone(shareId);
    });
  });

  describe('the gallery', () => {
    const gallery = async (query = '') => (await (await fetch(`${content}/op/gallery${query}`)).json()) as GalleryPage;

    it('lists what was copied into the feed, newest first, page by page, until it is deleted', async () => {
      const made: string[] = [];
      for (const scopeId of ['1', '2', '3']) {
        const fromAssetId = await upload(ada, { prompt: `picture ${scopeId}` });
        const copy = { fromAssetId, toScopeKind: 'feed', toScopeId: scopeId };
        made.unshift((await ada.media.call<{ assetId: string }>('POST', '/v1/copy', copy)).body.assetId);
      }
      const first = await gallery('?limit=2');
      const next = await gallery(`?limit=2&cursor=${first.next_cursor}`);
      const items = [...first.items, ...next.items];
      expect(items.map(({ assetId }) => assetId)).toEqual(made);
      expect(items.map(({ prompt }) => prompt)).toEqual([null, null, null]);
      expect(next.next_cursor).toBeNull();
      for (const { thumbUrl, previewUrl } of items)
        for (const url of [thumbUrl, previewUrl]) expect((await fetch(String(url))).status).toBe(200);
      expect((await gallery('?kind=video')).items).toEqual([]);

      expect(items.map(({ author }) => author)).toEqual([null, null, null]);
      await share(ada, { assetId: made[0], showPrompt: true, index: true, author: ' Ada L. ' });
      await expect
        .poll(async () => (await gallery('?limit=1')).items[0])
        .toMatchObject({
          prompt: 'picture 3',
          author: 'Ada L.',
        });
      const found = async (q: string) =>
        (await gallery(`?${new URLSearchParams({ q })}`)).items.map((item) => item.assetId);
      expect(await found('LOVELACE')).toEqual([]);
      expect(await found('picture ada')).toEqual([made[0]]);
      // Their prompts are not shown.
      expect(await found('picture')).toEqual([made[0]]);
      expect(await found('%')).toEqual([]);
      const links = async (query: string) =>
        (await ada.media.call<SharePage>('GET', `/v1/shares?limit=200${query}`)).body.shares.map((one) => one.assetId);
      expect(await links('')).toContain(made[0]);
      expect(await links('&copies=false')).not.toContain(made[0]);
      expect((await links('&copies=false')).length).toBe((await links('')).length - 1);
      const refused = await ada.media.call('POST', '/v1/shares', { assetId: made[0], author: ' ' });
      expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining('body.author')]);
      const { body: shares } = await ada.media.call<SharePage>('GET', `/v1/shares?assetId=${made[0]}`);
      expect(shares.shares.map(({ title, author }) => [title, author])).toEqual([['picture 3', 'Ada L.']]);
      const sitemap = async () => (await fetch(`${content}/sitemap/shares.xml`)).text();
      expect(await sitemap()).toContain(`<loc>${edge}/s/`);
      expect(await (await fetch(`${content}/sitemap.xml`)).text()).toContain('/sitemap/shares.xml');

      await ada.media.call('DELETE', '/v1/assets', { ids: [made[0]] });
      await expect
        .poll(async () => (await gallery('?limit=3')).items.map(({ assetId }) => assetId))
        .toEqual(made.slice(1));
      expect(await sitemap()).not.toContain('/s/');
    });

    it('refuses a cursor that no page returned', async () => {
      expect((await fetch(`${content}/op/gallery?cursor=x`)).status).toBe(400);
    });
  });
});
